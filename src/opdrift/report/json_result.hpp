#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// Reads what render_json wrote (docs/result-json.md). Unknown keys are passed over; a key that is
/// missing keeps its default. Fails with `bad_json` for text that is no JSON or no result of a
/// known version, `path` being named in the error.
Result<verdict::RunResult> parse_json(std::string_view text, const std::string& path);

}  // namespace opdrift::report
