#include "opdrift/diagnose/flow/step.hpp"

// Inputs and outputs of the online and the offline run on the same original data: what is wrong
// lies before the model, behind it, or in it. Then: is the exported model the original one?

namespace opdrift::diagnose::flow {

namespace {

std::string cosine_text(std::string_view what, double cosine) {
  return std::string(what) + " cosine " + number_text(cosine);
}

StepResult preprocess(const BoundaryFacts& boundary) {
  StepResult result;
  result.conclusion = Conclusion::preprocess;
  result.confidence = Confidence::strong;
  const bool alike = !boundary.input_close.value_or(true);
  result.checks.push_back(
      {"I", cosine_text(alike ? "the network inputs are not close:" : "the network inputs differ:",
                        *boundary.input_cosine)});
  for (const std::string& finding : boundary.findings) {
    result.checks.push_back({"I", finding});
  }
  result.fixes.push_back({"preprocessing",
                          "make the pre-processing of both sides the same (size, order of "
                          "channels, mean, scale, layout, type)",
                          std::nullopt});
  return result;
}

StepResult postprocess(const BoundaryFacts& boundary) {
  StepResult result;
  result.conclusion = Conclusion::postprocess;
  result.confidence = Confidence::strong;
  result.checks.push_back(
      {"I", cosine_text("the network outputs agree:", *boundary.output_cosine)});
  result.fixes.push_back({"postprocessing",
                          "the same numbers give another result: compare what is done with the "
                          "outputs on both sides",
                          std::nullopt});
  return result;
}

}  // namespace

StepResult check_boundary(const StepInput& input) {
  const auto& boundary = input.facts.boundary;
  if (!boundary || !boundary->input_cosine) {
    return {};
  }
  const double limit = input.options.limits.output;
  if (!(*boundary->input_cosine >= limit) || !boundary->input_close.value_or(true)) {
    return preprocess(*boundary);
  }
  if (!boundary->output_cosine) {
    return {};
  }
  const bool metric_passes = verdict_of(input, "base") == Verdict::pass;
  if (*boundary->output_cosine > limit && !metric_passes) {
    return postprocess(*boundary);
  }
  StepResult result;
  result.checks.push_back(
      {"I", cosine_text("same inputs; network outputs:", *boundary->output_cosine)});
  return result;
}

StepResult check_export(const StepInput& input) {
  const Facts& facts = input.facts;
  StepResult result;
  for (const auto* const findings : {&facts.export_findings, &facts.export_faults}) {
    for (const std::string& finding : *findings) {
      result.checks.push_back({"X", finding});
    }
  }
  const auto& cosine = facts.export_cosine;
  if (cosine) {
    result.checks.push_back({"X", cosine_text("exported model against the framework:", *cosine)});
  }
  const bool agrees = cosine && *cosine >= input.options.limits.output;
  if (agrees || (!cosine && facts.export_faults.empty())) {
    return result;
  }
  // Without outputs to compare, whoever has better evidence wins.
  result.tentative = !cosine;
  result.conclusion = Conclusion::exporting;
  result.confidence = cosine ? Confidence::strong : Confidence::suspected;
  result.fixes.push_back({"export",
                          "export again in evaluation mode and check what was exported (random "
                          "operators, weights, inputs that became constants, 64-bit types)",
                          std::nullopt});
  return result;
}

}  // namespace opdrift::diagnose::flow
