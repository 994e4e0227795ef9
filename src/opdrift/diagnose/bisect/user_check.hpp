#pragma once

#include <map>
#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/search.hpp"

namespace opdrift::diagnose {

/// Runs a command of the user's that judges a model, as `git bisect run` does: its words are split
/// as a shell would (base/shell_words.hpp), then `{name}` is replaced by the value of that name.
///
///   exit 0  good      1 to 124  bad      125  skip      else  the search ends
///
/// Its output goes to `log`. Fails with not_found (no such program), cancelled, or
/// invalid_argument (ended by 126 or more, or by a signal).
Result<Outcome> run_user_check(const std::string& command,
                               const std::map<std::string, std::string>& values,
                               const std::string& log, const CancelFlag* cancel = nullptr);

}  // namespace opdrift::diagnose
