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

/// The first names in a folder, for messages: "rank0, rank1, x.txt ..."; "nothing" when it is
/// empty.
std::string names_in(const std::string& path);

}  // namespace opdrift::pipeline
