#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// What is done to data: AIPP in front of the model, and quantisation within.

namespace opdrift::diagnose::flow {

namespace {

std::optional<double> cosine_of_type(const OperatorList& operators, std::string_view type) {
  const auto found = std::find_if(operators.begin(), operators.end(), [&](const auto& op) {
    return op.type == type && comparable(op);
  });
  return found == operators.end() ? std::nullopt : std::optional(1.0 - output_error(*found));
}

/// Cosine of what AIPP makes with the golden's input: as given, else that of the Aipp operator in
/// the golden comparison, else (AIPP folded into it) of the Data operator. A model that fails
/// without AIPP as well has a raw image there.
std::optional<double> aipp_cosine(const StepInput& input) {
  const Facts& facts = input.facts;
  const OperatorList* const golden = comparison(facts, "base", "golden");
  if (facts.aipp_input_cosine || golden == nullptr) {
    return facts.aipp_input_cosine;
  }
  const auto made = cosine_of_type(*golden, "Aipp");
  const bool folded = !made && verdict_of(input, "noaipp") != Verdict::fail;
  return folded ? cosine_of_type(*golden, "Data") : made;
}

bool has_quantisers(const OperatorList& operators) {
  return std::any_of(operators.begin(), operators.end(),
                     [](const OperatorFacts& op) { return op.quant; });
}

bool is_quantised(const Facts& facts) {
  return facts.options.get("compression_optimize_conf").has_value() ||
         std::any_of(facts.compare.begin(), facts.compare.end(), [](const auto& pair) {
           return pair.first.substr(0, 5) == "base." && has_quantisers(pair.second);
         });
}

StepResult aipp(const Facts& facts, Confidence confidence, std::string how) {
  StepResult result;
  result.conclusion = Conclusion::aipp;
  result.confidence = confidence;
  result.checks.push_back({"D", std::move(how)});
  for (const std::string& finding : facts.aipp_findings) {
    result.checks.push_back({"D", finding});
    result.fixes.push_back({"aipp", finding, std::nullopt});
  }
  result.fixes.push_back({"aipp",
                          "check the AIPP file: value = (pixel - mean_chn - min_chn) * var_reci, "
                          "order swap, crop, colour conversion, mean and variance, padding",
                          std::nullopt});
  return result;
}

/// Nothing when AIPP is not to blame.
std::optional<StepResult> check_aipp(const StepInput& input) {
  const Facts& facts = input.facts;
  if (verdict_of(input, "noaipp") == Verdict::pass) {
    return aipp(facts, Confidence::proved, "without AIPP the model passes");
  }
  if (!uses_aipp(facts)) {
    return std::nullopt;
  }
  const std::optional<double> cosine = aipp_cosine(input);
  if (!cosine) {
    if (verdict_of(input, "noaipp") == Verdict::fail) {
      return std::nullopt;
    }
    return ask_for("noaipp", "does the model pass without AIPP, fed with the golden's input?");
  }
  if (*cosine >= input.options.limits.output && facts.aipp_input_close.value_or(true)) {
    return std::nullopt;
  }
  return aipp(facts, Confidence::strong,
              "AIPP makes an input of cosine " + number_text(*cosine) + " with that of the golden" +
                  (facts.aipp_input_close.value_or(true) ? "" : ", and not close to it"));
}

/// The first operator with an error of its own at or behind the first quantiser; null for none,
/// and when one before it differs already.
const OperatorFacts* quantised_origin(const OperatorList& operators, double limit) {
  const auto quantiser = std::find_if(operators.begin(), operators.end(),
                                      [](const OperatorFacts& op) { return op.quant; });
  const auto origins = survey(operators, limit).origins;
  if (quantiser == operators.end() || origins.empty()) {
    return nullptr;
  }
  const auto first = static_cast<std::size_t>(quantiser - operators.begin());
  return origins.front() >= first ? &operators[origins.front()] : nullptr;
}

StepResult quantisation(const std::vector<BlamedOperator>& operators, Confidence confidence,
                        std::string how) {
  StepResult result;
  result.conclusion = Conclusion::quant;
  result.confidence = confidence;
  result.operators = operators;
  result.checks.push_back({"D", std::move(how)});
  result.fixes.push_back({"quantisation",
                          "calibrate again with more and typical data, or leave this operator out "
                          "of the quantisation",
                          std::nullopt});
  result.fixes.push_back(
      {"fusion_switch",
       "results around quantisers can be trusted with --quant_dumpable=1, or with these fusions "
       "off: --fusion_switch_file=fusion_switch_quant.cfg",
       GeneratedFile{"fusion_switch_quant.cfg",
                     fixes::write_fusion_switch(
                         fixes::passes_off(fixes::quantised_passes(fixes::QuantProduct::any)))}});
  return result;
}

std::vector<BlamedOperator> first_of(const OperatorList& operators, double limit) {
  if (const OperatorFacts* const origin = quantised_origin(operators, limit)) {
    return {blame(*origin, limit)};
  }
  const auto own = own_differences(operators, limit);
  return own.empty() ? std::vector<BlamedOperator>{} : std::vector{blame(*own.front(), limit)};
}

StepResult passes_unquantised(const StepInput& input) {
  const std::string how = "without quantisation the model passes";
  const Limits& limits = input.options.limits;
  if (const OperatorList* const runs = comparison(input.facts, "base", "noquant")) {
    return quantisation(first_of(*runs, limits.difference), Confidence::proved, how);
  }
  if (const OperatorList* const golden = comparison(input.facts, "base", "golden")) {
    return quantisation(first_of(*golden, limits.golden), Confidence::proved, how);
  }
  return ask_for_dump("base", "noquant",
                      "quantisation is the cause; which operator suffers from it the two dumps "
                      "tell");
}

std::optional<StepResult> check_quantisation(const StepInput& input) {
  const Verdict verdict = verdict_of(input, "noquant");
  if (verdict == Verdict::pass) {
    return passes_unquantised(input);
  }
  if (verdict == Verdict::fail || !is_quantised(input.facts)) {
    return std::nullopt;
  }
  if (const OperatorList* const golden = comparison(input.facts, "base", "golden")) {
    const double limit = input.options.limits.golden;
    if (const OperatorFacts* const origin = quantised_origin(*golden, limit)) {
      return quantisation({blame(*origin, limit)}, Confidence::strong,
                          origin->op +
                              " is the first operator with an error of its own and lies "
                              "at or behind a quantiser");
    }
    if (has_quantisers(*golden)) {
      return std::nullopt;
    }
  }
  return ask_for("noquant", "does the model pass without quantisation?");
}

}  // namespace

StepResult check_data(const StepInput& input) {
  std::optional<StepResult> missing;
  for (const auto check : {&check_aipp, &check_quantisation}) {
    std::optional<StepResult> result = check(input);
    if (result && (result->conclusion || result->ends)) {
      return std::move(*result);
    }
    if (!missing) {
      missing = std::move(result);
    }
  }
  return missing ? std::move(*missing) : StepResult{};
}

}  // namespace opdrift::diagnose::flow
