#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// Reads what render_json wrote (docs/result-json.md). Unknown keys are passed over; a key that is
/// missing keeps its default. Fails with `bad_json` for text that is no JSON or no result of a
/// known version, `path` being named in the error.
Result<verdict::RunResult> parse_json(std::string_view text, const std::string& path);

/// What stands in front of the tensors of a result.
struct ResultSummary {
  verdict::RunResult head;  ///< without tensors, network and ledger
  std::uint64_t tensors = 0;
  std::uint64_t failed = 0;
  std::string first_offender;
};

/// Reads the front of what render_json wrote, which takes no time however long the rest is. Other
/// arrangements of the same keys are read whole. Fails as parse_json does.
Result<ResultSummary> parse_json_summary(std::string_view text, const std::string& path);

}  // namespace opdrift::report
