#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/diagnose/offline/compare_run.hpp"

/// What the front ends of offline comparisons share. The exit status is 0, the number of a failure
/// (diagnose/offline/failure.hpp), or 14 while device dumps are missing.
namespace opdrift::compat {

/// yes, true, t, y, 1 and no, false, f, n, 0 in any case; the fallback when it is not given. Fails
/// with invalid_argument.
Result<bool> truth(const Arguments& given, std::string_view key, bool fallback);

/// Lines go to `log`, tables to standard output.
void talk_through(diagnose::offline::CompareOptions& options, ReferenceLog& log);

/// "a.npy,b.bin" as a list.
std::vector<std::string> comma_list(const std::string& text);

/// Tells how it ended and gives the exit status.
int finish_offline(const diagnose::offline::Outcome<diagnose::offline::CompareEnd>& end,
                   ReferenceLog& log);

}  // namespace opdrift::compat
