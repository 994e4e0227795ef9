#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// Fusion. With a run that has it off: does that one pass, and which fused operators differ from it?
// Without: the first operator with an error of its own is a fused one.

namespace opdrift::diagnose::flow {

namespace {

std::vector<std::string> passes_of(const std::vector<const OperatorFacts*>& operators) {
  std::vector<std::string> passes;
  for (const OperatorFacts* const op : operators) {
    for (const std::string& pass : op->passes) {
      if (std::find(passes.begin(), passes.end(), pass) == passes.end()) {
        passes.push_back(pass);
      }
    }
  }
  return passes;
}

void add_fusion_fix(const std::vector<std::string>& passes, StepResult& result) {
  if (passes.empty()) {
    result.fixes.push_back(
        {"fusion_switch",
         "the passes are not known: switch all off "
         "(--fusion_switch_file=fusion_switch.cfg) and back on one at a time",
         GeneratedFile{"fusion_switch.cfg", fixes::write_fusion_switch(fixes::all_fusion_off())}});
    return;
  }
  const fixes::FusionSwitch off = fixes::passes_off(passes);
  result.fixes.push_back({"fusion_switch",
                          "switch only these passes off, one at a time, graph fusion before UB "
                          "fusion: --fusion_switch_file=fusion_switch.cfg, or for one build "
                          "--optimization_switch=\"" +
                              fixes::optimization_switch(off) + "\"",
                          GeneratedFile{"fusion_switch.cfg", fixes::write_fusion_switch(off)}});
}

StepResult passes_without_fusion(const StepInput& input) {
  const OperatorList* const operators = comparison(input.facts, "base", "nofuse");
  if (operators == nullptr) {
    return ask_for_dump("base", "nofuse",
                        "fusion is the cause; which operator suffers from it the two dumps tell");
  }
  const double limit = input.options.limits.difference;
  const auto blamed = own_differences(*operators, limit);
  StepResult result;
  result.conclusion = Conclusion::fusion;
  result.confidence = blamed.empty() ? Confidence::suspected : Confidence::proved;
  result.operators = blame_all(blamed, limit);
  result.checks.push_back({"F", "without fusion the model passes"});
  add_fusion_fix(passes_of(blamed), result);
  return result;
}

/// The first operator with an error of its own against the golden, when it is a fused one.
const OperatorFacts* fused_origin(const StepInput& input) {
  const OperatorList* const operators = comparison(input.facts, "base", "golden");
  if (operators == nullptr) {
    return nullptr;
  }
  const auto origins = survey(*operators, input.options.limits.golden).origins;
  if (origins.empty() || (*operators)[origins.front()].original.size() < 2) {
    return nullptr;
  }
  return &(*operators)[origins.front()];
}

StepResult suspect(const StepInput& input, const OperatorFacts& op, Experiment next) {
  StepResult result;
  result.conclusion = Conclusion::fusion;
  result.confidence = Confidence::suspected;
  result.operators.push_back(blame(op, input.options.limits.golden));
  result.checks.push_back({"F", op.op + " is made of " + join(op.original, ", ") +
                                    " and adds an error of its own against the golden"});
  add_fusion_fix(op.passes, result);
  result.next = std::move(next);
  return result;
}

}  // namespace

StepResult check_fusion(const StepInput& input) {
  const Verdict verdict = verdict_of(input, "nofuse");
  if (verdict == Verdict::pass) {
    return passes_without_fusion(input);
  }
  StepResult result;
  if (verdict == Verdict::fail) {
    result.checks.push_back({"F", "without fusion it fails as well"});
    return result;
  }
  Experiment next{"nofuse", "does the model pass without fusion?", {}, {}};
  if (const OperatorFacts* const op = fused_origin(input)) {
    return suspect(input, *op, std::move(next));
  }
  result.next = std::move(next);
  return result;
}

}  // namespace opdrift::diagnose::flow
