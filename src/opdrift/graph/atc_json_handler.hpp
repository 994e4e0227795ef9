#pragma once

#include "opdrift/graph/atc_json.hpp"

namespace opdrift::graph {

/// The event handler behind parse_atc_json, in the only file that includes the JSON library.
Result<Graph> run_atc_json_handler(ByteSpan text, const AtcJsonOptions& options);

}  // namespace opdrift::graph
