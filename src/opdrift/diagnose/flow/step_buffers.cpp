#include <algorithm>
#include <array>
#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// Buffer optimisation, then memory reuse: a run with it off that passes is the reference, and the
// operators by which the base run differs from it are to blame.

namespace opdrift::diagnose::flow {

namespace {

struct BufferRun {
  const char* role;
  const char* option;  ///< of a base command that has it off already
  std::array<std::string_view, 2> off;
  Conclusion conclusion;
  const char* what;
  const char* fix;
};

constexpr BufferRun kRuns[] = {
    {"nobuf",
     "buffer_optimize",
     {"off_optimize", "l1_optimize"},
     Conclusion::buffer,
     "buffer optimisation",
     "report the operators; until it is repaired build with --buffer_optimize=off_optimize"},
    {"noreuse",
     "disable_reuse_memory",
     {"1"},
     Conclusion::memory,
     "memory reuse",
     "report the operators; until it is repaired exempt them from reuse with "
     "OP_NO_REUSE_MEM=<names or types>, halving the list to find the one, and keep the "
     "optimisation on otherwise"},
};

bool is_off(const Facts& facts, const BufferRun& run) {
  const auto value = facts.options.get(run.option);
  return value && !value->empty() &&
         std::find(run.off.begin(), run.off.end(), *value) != run.off.end();
}

/// Operators that hold data of others before any run was made: the sign of overwritten memory.
void add_signs(const Facts& facts, StepResult& result) {
  const OperatorList* const golden = comparison(facts, "base", "golden");
  if (golden == nullptr) {
    return;
  }
  for (const OperatorFacts& op : *golden) {
    if (!op.foreign.empty()) {
      result.checks.push_back({"B", op.op + ": " + op.foreign.front() +
                                        "; that is a sign of overwritten memory: try "
                                        "--disable_reuse_memory=1"});
      return;
    }
  }
}

StepResult passes_without(const StepInput& input, const BufferRun& run) {
  const OperatorList* const operators = comparison(input.facts, "base", run.role);
  if (operators == nullptr) {
    return ask_for_dump(
        "base", run.role,
        std::string(run.what) + " is the cause; which operator suffers from it the two dumps tell");
  }
  const double limit = input.options.limits.difference;
  const auto blamed = own_differences(*operators, limit);
  StepResult result;
  result.conclusion = run.conclusion;
  result.confidence = blamed.empty() ? Confidence::suspected : Confidence::proved;
  result.operators = blame_all(blamed, limit);
  result.checks.push_back({"B", std::string("without ") + run.what + " the model passes"});
  for (const OperatorFacts* const op : blamed) {
    for (const auto* const words : {&op->places, &op->foreign}) {
      for (const std::string& one : *words) {
        result.checks.push_back({"B", op->op + ": " + one});
      }
    }
  }
  result.fixes.push_back({"report", run.fix, std::nullopt});
  return result;
}

}  // namespace

StepResult check_buffers(const StepInput& input) {
  StepResult result;
  const BufferRun* missing = nullptr;
  for (const BufferRun& run : kRuns) {
    const Verdict verdict = verdict_of(input, run.role);
    if (verdict == Verdict::pass) {
      StepResult found = passes_without(input, run);
      if (missing != nullptr && !found.next) {
        found.checks.push_back({"B", std::string("not tried: ") + missing->role});
      }
      return found;
    }
    if (verdict == Verdict::fail) {
      result.checks.push_back({"B", std::string("without ") + run.what + " it fails as well"});
    } else if (is_off(input.facts, run)) {
      result.checks.push_back({"B", std::string("the base run has no ") + run.what + " already"});
    } else if (missing == nullptr) {
      missing = &run;
    }
  }
  if (missing != nullptr) {
    add_signs(input.facts, result);
    result.next = Experiment{
        missing->role, std::string("does the model pass without ") + missing->what + "?", {}, {}};
  }
  return result;
}

}  // namespace opdrift::diagnose::flow
