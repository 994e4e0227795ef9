#include "opdrift/diagnose/repro/repro_verdict.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/diagnose/repro/bundle.hpp"

namespace opdrift::diagnose {

namespace {

void accept_inputs(verdict::RunResult& result) {
  verdict::RunVerdict& run = *result.verdict;
  run.inputs_differ = false;
  std::erase_if(run.findings, [](const verdict::Finding& finding) {
    return finding.kind == verdict::FindingKind::inputs_differ;
  });
  const auto culprit = std::find_if(
      result.tensors.begin(), result.tensors.end(), [](const verdict::TensorResult& row) {
        return row.judgement && row.judgement->label == verdict::Label::culprit;
      });
  if (culprit != result.tensors.end()) {
    run.outcome = verdict::Outcome::fail;
    run.first_divergence = {static_cast<std::size_t>(culprit - result.tensors.begin())};
    run.sentence = "\"" + culprit->operator_name + "\" " + culprit->judgement->sentence;
  } else if (run.missing_outputs == 0) {
    run.outcome = verdict::Outcome::pass;
    run.sentence =
        "the operator stays within what its precision explains; what it was given differs already";
  }
}

}  // namespace

Result<verdict::RunResult> compare_bundle(const std::string& folder,
                                          const pipeline::CompareOptions& options) {
  pipeline::CompareOptions compare = options;
  compare.graphs = {folder + "/" + kBundleModel};
  OPDRIFT_TRY(verdict::RunResult result,
              pipeline::compare_dumps(folder + "/target", folder + "/golden", compare));
  if (result.verdict && result.verdict->inputs_differ) {
    accept_inputs(result);
  }
  return result;
}

}  // namespace opdrift::diagnose
