#include "opdrift/diagnose/bisect/user_check.hpp"

#include "opdrift/base/process.hpp"
#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

constexpr int kSkip = 125;

}  // namespace

Result<Outcome> run_user_check(const std::string& command,
                               const std::map<std::string, std::string>& values,
                               const std::string& log, const CancelFlag* cancel) {
  ProcessOptions options;
  options.words = shell_words(command);
  for (std::string& word : options.words) {
    for (const auto& [name, value] : values) {
      word = replace_all(word, "{" + name + "}", value);
    }
  }
  options.log = log;
  options.cancel = cancel;
  OPDRIFT_TRY(const ProcessEnd end, run_process(options));
  if (end.cancelled) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  if (end.exit_code == 0) {
    return Outcome::good;
  }
  if (end.exit_code == kSkip) {
    return Outcome::skip;
  }
  if (end.exit_code > 0 && end.exit_code < kSkip) {
    return Outcome::bad;
  }
  return Error{ErrorCode::invalid_argument,
               "the check ended with " + std::to_string(end.exit_code) +
                   "; expected 0 (good), 1 to 124 (bad) or 125 (skip). Its output: " + log};
}

}  // namespace opdrift::diagnose
