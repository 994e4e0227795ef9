#include "opdrift/graph/graph.hpp"
