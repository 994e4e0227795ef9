#include "opdrift/verdict/judgement.hpp"

namespace opdrift::verdict {

std::string_view to_string(Label value) {
  switch (value) {
    case Label::healthy: return "healthy";
    case Label::watch: return "watch";
    case Label::victim: return "victim";
    case Label::drift: return "drift";
    case Label::culprit: return "culprit";
    case Label::unjudged: return "unjudged";
  }
  return "";
}

std::string_view to_string(Tier value) {
  switch (value) {
    case Tier::exact: return "exact";
    case Tier::replay: return "replay";
    case Tier::sampled: return "sampled";
    case Tier::norms: return "norms";
    case Tier::shape: return "shape";
    case Tier::golden_pair: return "golden_pair";
    case Tier::statistics: return "statistics";
    case Tier::gates: return "gates";
    case Tier::none: return "none";
  }
  return "";
}

std::string_view to_string(Cause value) {
  switch (value) {
    case Cause::none: return "none";
    case Cause::own_error: return "own_error";
    case Cause::local_error: return "local_error";
    case Cause::overflow: return "overflow";
    case Cause::nan_made: return "nan_made";
    case Cause::golden_overflow: return "golden_overflow";
    case Cause::saturated: return "saturated";
    case Cause::shape: return "shape";
    case Cause::different: return "different";
    case Cause::tie: return "tie";
    case Cause::inherited_class: return "inherited_class";
    case Cause::inherited_error: return "inherited_error";
    case Cause::wider_inputs: return "wider_inputs";
    case Cause::below_precision: return "below_precision";
    case Cause::above_budget: return "above_budget";
    case Cause::not_modelled: return "not_modelled";
    case Cause::gate: return "gate";
  }
  return "";
}

std::string_view to_string(FindingKind value) {
  switch (value) {
    case FindingKind::truncation: return "truncation";
    case FindingKind::tf32_products: return "tf32_products";
    case FindingKind::bf16_products: return "bf16_products";
    case FindingKind::half_accumulators: return "half_accumulators";
    case FindingKind::flushed_subnormals: return "flushed_subnormals";
    case FindingKind::wider_inputs: return "wider_inputs";
    case FindingKind::step_shift: return "step_shift";
    case FindingKind::steps_missing: return "steps_missing";
    case FindingKind::inputs_differ: return "inputs_differ";
    case FindingKind::order_only: return "order_only";
  }
  return "";
}

std::string_view to_string(Outcome value) {
  switch (value) {
    case Outcome::pass: return "pass";
    case Outcome::fail: return "fail";
    case Outcome::inconclusive: return "inconclusive";
  }
  return "";
}

}  // namespace opdrift::verdict
