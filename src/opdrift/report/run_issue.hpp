#pragma once

#include <optional>
#include <string>

#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// What is wrong with a run as a whole and shows in none of its tensors.
struct RunIssue {
  bool failure = false;  ///< the run fails; else nothing could be concluded
  std::string sentence;
};

/// Nothing for runs whose tensors tell all: those that passed, and those with a tensor that failed.
/// An output that is on one side only, inputs that differ, an interrupted run or one in which
/// nothing was compared is an issue: without it a report of single tensors would look like success.
std::optional<RunIssue> run_issue(const verdict::RunResult& result);

}  // namespace opdrift::report
