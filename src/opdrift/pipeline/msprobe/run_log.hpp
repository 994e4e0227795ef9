#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace opdrift::pipeline {

enum class RunLogLevel : std::uint8_t { info, warning, error };

/// Where a comparison reports its steps. Any thread may log; an empty function is silent.
using RunLog = std::function<void(RunLogLevel level, std::string_view text)>;

/// Seconds as "20240131123456", in local time or UTC: the part of result names that tells runs
/// apart.
std::string time_stamp(bool utc);

}  // namespace opdrift::pipeline
