#include "model_checks.hpp"
#include "targets.hpp"

#include "opdrift/graph/om/inout_info.hpp"
#include "opdrift/graph/om/model_file.hpp"

namespace opdrift::fuzz {

/// Offline models and text graphs, whole and salvaged.
void om(ByteSpan bytes) {
  for (const bool salvage : {false, true}) {
    const auto file = graph::parse_model_file(Bytes{bytes, nullptr}, "fuzz", {.salvage = salvage});
    if (!file) {
      continue;
    }
    both_ways(file->model);
    if (file->chosen) {
      static_cast<void>(graph::parse_inout_info(file->chosen->inout_info, 0));
    }
  }
  static_cast<void>(graph::parse_inout_info(bytes, 0));
}

}  // namespace opdrift::fuzz
