#pragma once

#include "opdrift/graph/om/model_def.hpp"

namespace opdrift::fuzz {

/// The graph of a model and that of its JSON have the same operators, where both can be read.
void both_ways(const graph::ModelDef& model);

}  // namespace opdrift::fuzz
