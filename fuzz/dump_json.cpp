#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/io/msprobe/api_run_reader.hpp"

namespace opdrift::fuzz {

void dump_json(ByteSpan bytes) {
  for (const bool debug : {false, true}) {
    const auto run = io::parse_api_run(io::json_from(as_text(bytes)), "fuzz", {.debug = debug});
    if (!run) {
      continue;
    }
    for (const graph::ApiLeaf& leaf : run->leaves) {
      OPDRIFT_CHECK(leaf.entry < run->entries.size() && leaf.dtype < run->dtypes.size());
    }
  }
}

}  // namespace opdrift::fuzz
