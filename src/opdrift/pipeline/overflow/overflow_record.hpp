#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/io/ascend/debug.hpp"

namespace opdrift::pipeline {

/// Reads a record back from the JSON of io::to_json. Addresses are not needed and come as 0. Fails
/// with bad_json.
Result<io::DebugRecord> parse_debug_json(std::string_view text);

}  // namespace opdrift::pipeline
