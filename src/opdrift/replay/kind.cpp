#include "opdrift/replay/kind.hpp"

namespace opdrift::replay {

std::string_view to_string(Family family) {
  switch (family) {
    case Family::movement: return "movement";
    case Family::selection: return "selection";
    case Family::add_like: return "add-like";
    case Family::product: return "product";
    case Family::division: return "division";
    case Family::function: return "function";
    case Family::dense: return "dense product";
    case Family::convolution: return "convolution";
    case Family::mean: return "mean";
    case Family::normalisation: return "normalisation";
    case Family::softmax: return "softmax";
    case Family::recurrent: return "recurrent";
    case Family::fused: return "fused";
    case Family::quantised: return "quantised";
    case Family::index: return "index";
    case Family::random: return "random";
  }
  return "unknown";
}

}  // namespace opdrift::replay
