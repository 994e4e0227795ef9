#include "opdrift/report/json_parts.hpp"

#include <cmath>

namespace opdrift::report {

Json number(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

namespace {

Json slice_of(const verdict::ErrorPlace::Slice& slice) {
  return {{"first", slice.first}, {"count", slice.count}, {"share", number(slice.share)}};
}

Json range_notes_of(const std::vector<verdict::RangeNote>& notes) {
  Json list = Json::array();
  for (const verdict::RangeNote& note : notes) {
    list.push_back({{"name", note.name},
                    {"value", number(note.value)},
                    {"ratio", number(note.ratio)},
                    {"sentence", note.sentence}});
  }
  return list;
}

}  // namespace

Json explanations_of(const std::vector<verdict::Explanation>& explanations) {
  Json list = Json::array();
  for (const verdict::Explanation& explanation : explanations) {
    list.push_back({{"kind", verdict::to_string(explanation.kind)},
                    {"sentence", explanation.sentence},
                    {"residual", number(explanation.residual)},
                    {"explained", number(explanation.explained)}});
  }
  return list;
}

Json place_of(const verdict::ErrorPlace& place) {
  Json axes = Json::array();
  for (const verdict::ErrorPlace::Axis& axis : place.axes) {
    Json top = Json::array();
    for (const verdict::ErrorPlace::Slice& slice : axis.top) {
      top.push_back(slice_of(slice));
    }
    axes.push_back({{"extent", axis.extent},
                    {"top", std::move(top)},
                    {"block", axis.block.share > 0.0 ? slice_of(axis.block) : Json(nullptr)}});
  }
  const bool bad = place.first_bad != metrics::kNoIndex;
  return {{"sentence", place.sentence},
          {"first_bad", bad ? Json(place.first_bad) : Json(nullptr)},
          {"first_bad_index", place.first_bad_index},
          {"axes", std::move(axes)}};
}

Json overflow_of(const verdict::OverflowSummary& overflow) {
  return {{"sentence", overflow.sentence},
          {"path", overflow.path},
          {"headroom", range_notes_of(overflow.headroom)},
          {"constants", range_notes_of(overflow.constants)}};
}

Json verdict_of(const verdict::RunVerdict& verdict) {
  Json findings = Json::array();
  for (const verdict::Finding& finding : verdict.findings) {
    findings.push_back({{"kind", verdict::to_string(finding.kind)},
                        {"sentence", finding.sentence},
                        {"value", number(finding.value)},
                        {"operators", finding.operators},
                        {"assumed", finding.assumed}});
  }
  return {{"outcome", verdict::to_string(verdict.outcome)},
          {"sentence", verdict.sentence},
          {"findings", std::move(findings)},
          {"first_divergence", verdict.first_divergence},
          {"missing_outputs", verdict.missing_outputs},
          {"unjudged", verdict.unjudged},
          {"inputs_differ", verdict.inputs_differ}};
}

Json totals_of(const verdict::LedgerTotals& totals) {
  return {{"compared", totals.compared},     {"equal", totals.equal},
          {"unmatched", totals.unmatched},   {"unreadable", totals.unreadable},
          {"superseded", totals.superseded}, {"ignored", totals.ignored},
          {"skipped", totals.skipped},       {"all", totals.all()}};
}

}  // namespace opdrift::report
