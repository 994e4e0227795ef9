#include "targets.hpp"

#include "opdrift/graph/ge_text.hpp"

namespace opdrift::fuzz {

void graph_text(ByteSpan bytes) {
  static_cast<void>(graph::parse_ge_text(as_text(bytes)));
}

}  // namespace opdrift::fuzz
