#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/graph/atc_json.hpp"

namespace opdrift::fuzz {

/// Keeping the attributes must not change which operators are found.
void graph_json(ByteSpan bytes) {
  const auto lean = graph::parse_atc_json(bytes, "fuzz");
  const auto full = graph::parse_atc_json(bytes, "fuzz", {.attributes = true});
  if (lean && full) {
    OPDRIFT_CHECK(lean->operators.size() == full->operators.size());
  }
  static_cast<void>(graph::parse_input_entry(std::string(as_text(bytes))));
  static_cast<void>(graph::unescape_c(std::string(as_text(bytes))));
}

}  // namespace opdrift::fuzz
