#pragma once

#include <span>
#include <string>

namespace opdrift::cli {

/// Verbs of `opdrift bisect`; `arguments` are those behind the verb.
int run_bisect_run(std::span<const std::string> arguments);
int run_bisect_keep(std::span<const std::string> arguments);
int run_bisect_start(std::span<const std::string> arguments);
int run_bisect_next(std::span<const std::string> arguments);
int run_bisect_good(std::span<const std::string> arguments);
int run_bisect_bad(std::span<const std::string> arguments);
int run_bisect_skip(std::span<const std::string> arguments);
int run_bisect_judge(std::span<const std::string> arguments);
int run_bisect_log(std::span<const std::string> arguments);
int run_bisect_reset(std::span<const std::string> arguments);

}  // namespace opdrift::cli
