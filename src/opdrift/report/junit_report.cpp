#include <array>
#include <cstdio>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/run_issue.hpp"
#include "opdrift/report/xml_text.hpp"

// JUnit's XML as CI servers read it:
//
//   <testsuites> <testsuite name tests failures errors skipped time>
//     <testcase classname name> [<failure type message> | <error message> | <skipped message>]
//
// One test case per tensor, its class name being the operator type; one per file or tensor of the
// ledger that could not be read or has no counterpart (skipped); one for what is wrong with the run
// as a whole, where no tensor shows it.

namespace opdrift::report {

namespace {

struct Counts {
  std::uint64_t tests = 0;
  std::uint64_t failures = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped = 0;
};

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml_text(value) + "\"";
}

std::string failure_type(const verdict::TensorResult& tensor) {
  return tensor.judgement ? std::string(verdict::to_string(tensor.judgement->cause)) : "gate";
}

std::string details_of(const verdict::TensorResult& tensor) {
  std::string text = tensor.reason;
  for (const verdict::Explanation& explanation : tensor.explanations) {
    text += "\n" + explanation.sentence;
  }
  if (tensor.place && !tensor.place->sentence.empty()) {
    text += "\n" + tensor.place->sentence;
  }
  return text + "\ngolden: " + tensor.golden_path + "\ntarget: " + tensor.target_path;
}

std::string case_of(const verdict::TensorResult& tensor, Counts& counts) {
  ++counts.tests;
  std::string text =
      "  <testcase" +
      attribute("classname", tensor.operator_type.empty() ? "tensor" : tensor.operator_type) +
      attribute("name", tensor.step.empty() ? tensor.label() : tensor.step + "/" + tensor.label());
  const bool unjudged =
      tensor.judgement && tensor.judgement->label == verdict::Label::unjudged && tensor.passed;
  if (!tensor.measurement) {
    ++counts.errors;
    return text + ">\n   <error" + attribute("message", tensor.reason) + "/>\n  </testcase>\n";
  }
  if (!tensor.passed) {
    ++counts.failures;
    return text + ">\n   <failure" + attribute("type", failure_type(tensor)) +
           attribute("message", tensor.reason) + ">" + xml_text(details_of(tensor)) +
           "</failure>\n  </testcase>\n";
  }
  if (unjudged) {
    ++counts.skipped;
    const std::string& why = tensor.reason.empty() ? tensor.judgement->sentence : tensor.reason;
    return text + ">\n   <skipped" + attribute("message", why) + "/>\n  </testcase>\n";
  }
  return text + "/>\n";
}

std::string case_of(const verdict::LedgerEntry& entry, Counts& counts) {
  const bool unreadable = entry.state == verdict::LedgerState::unreadable;
  ++counts.tests;
  ++(unreadable ? counts.errors : counts.skipped);
  const std::string name = entry.path + (entry.tensor.empty() ? "" : " " + entry.tensor);
  return "  <testcase" + attribute("classname", verdict::to_string(entry.state)) +
         attribute("name", name) + ">\n   <" + (unreadable ? "error" : "skipped") +
         attribute("message", entry.reason) + "/>\n  </testcase>\n";
}

std::string case_of(const RunIssue& issue, Counts& counts) {
  ++counts.tests;
  ++(issue.failure ? counts.failures : counts.errors);
  return "  <testcase" + attribute("classname", "run") + attribute("name", "verdict") + ">\n   <" +
         (issue.failure ? "failure" : "error") + attribute("message", issue.sentence) +
         "/>\n  </testcase>\n";
}

/// Unreadable tensors that have a row of their own stand there already.
bool wants_case(const verdict::LedgerEntry& entry) {
  return (entry.state == verdict::LedgerState::unreadable && entry.tensor.empty()) ||
         entry.state == verdict::LedgerState::unmatched;
}

}  // namespace

std::string render_junit(const verdict::RunResult& result) {
  Counts counts;
  std::string cases;
  if (const std::optional<RunIssue> issue = run_issue(result)) {
    cases += case_of(*issue, counts);
  }
  for (const verdict::TensorResult& tensor : result.tensors) {
    cases += case_of(tensor, counts);
  }
  for (const verdict::LedgerEntry& entry : result.ledger) {
    cases += wants_case(entry) ? case_of(entry, counts) : std::string();
  }
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.3f", result.elapsed_s);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite" +
         attribute("name", "opdrift " + result.target_path + " against " + result.golden_path) +
         attribute("tests", std::to_string(counts.tests)) +
         attribute("failures", std::to_string(counts.failures)) +
         attribute("errors", std::to_string(counts.errors)) +
         attribute("skipped", std::to_string(counts.skipped)) + attribute("time", seconds.data()) +
         ">\n" + cases + " </testsuite>\n</testsuites>\n";
}

}  // namespace opdrift::report
