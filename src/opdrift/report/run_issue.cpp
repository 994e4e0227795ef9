#include "opdrift/report/run_issue.hpp"

namespace opdrift::report {

std::optional<RunIssue> run_issue(const verdict::RunResult& result) {
  if (result.interrupted) {
    return RunIssue{false, "interrupted: the result is partial"};
  }
  if (result.tensors.empty()) {
    return RunIssue{false, "nothing compared: no tensor of the target has a counterpart"};
  }
  if (!result.verdict || result.failed() > 0 || result.verdict->outcome == verdict::Outcome::pass) {
    return std::nullopt;
  }
  return RunIssue{result.verdict->outcome == verdict::Outcome::fail, result.verdict->sentence};
}

}  // namespace opdrift::report
