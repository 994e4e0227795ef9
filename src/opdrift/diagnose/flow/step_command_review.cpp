#include <algorithm>

#include "opdrift/diagnose/fixes/precision_modes.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// What the options of the build command say before any tensor is looked at. Findings only.

namespace opdrift::diagnose::flow {

namespace {

struct Review {
  const Facts& facts;

  bool has(std::string_view option) const { return facts.options.get(option).has_value(); }
  std::string value(std::string_view option) const {
    return facts.options.get(option).value_or("");
  }
  const fixes::PrecisionMode* mode() const { return fixes::chosen_precision(facts.options); }
  bool mixed() const { return mode() != nullptr && mode()->mixed; }
  bool quantised() const {
    return has("compression_optimize_conf") ||
           std::any_of(facts.compare.begin(), facts.compare.end(), [](const auto& pair) {
             return std::any_of(pair.second.begin(), pair.second.end(),
                                [](const OperatorFacts& op) { return op.quant; });
           });
  }
};

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

struct Rule {
  bool (*applies)(const Review& review);
  const char* finding;
};

/// Options that are worth a word only when there are any: facts may come without a command.
constexpr Rule kRules[] = {
    {[](const Review& r) {
       return !r.facts.options.values.empty() && !r.has("precision_mode") &&
              !r.has("precision_mode_v2");
     },
     "no precision option: the default is float16 for everything"},
    {[](const Review& r) { return r.has("precision_mode") && r.has("precision_mode_v2"); },
     "precision_mode and precision_mode_v2 are both given: invalid, keep one"},
    {[](const Review& r) { return r.has("keep_dtype") && r.mode() != nullptr && r.mode()->origin; },
     "keep_dtype has no effect with this precision mode: it keeps the original types anyway"},
    {[](const Review& r) { return r.has("keep_dtype") && r.facts.keep.empty(); },
     "the command has a keep_dtype file already: give it with --keep, else the next one replaces "
     "its entries"},
    {[](const Review& r) { return r.has("keep_dtype") && r.has("customize_dtypes"); },
     "customize_dtypes beats keep_dtype for operators that are in both"},
    {[](const Review& r) {
       return r.has("op_precision_mode") &&
              (r.has("op_select_implmode") || r.has("optypelist_for_implmode"));
     },
     "op_precision_mode is given: op_select_implmode and optypelist_for_implmode do not count"},
    {[](const Review& r) { return r.has("modify_mixlist") && !r.mixed(); },
     "modify_mixlist has no effect without a mixed precision mode"},
    {[](const Review& r) { return r.has("input_fp16_nodes"); },
     "input_fp16_nodes: these inputs are rounded to float16, those of a float32 golden are not; "
     "compare accordingly"},
    {[](const Review& r) { return r.has("insert_op_conf"); },
     "insert_op_conf: compare with a model built without AIPP first"},
    {[](const Review& r) { return r.quantised(); },
     "the model is quantised: confirm with the model that is not"},
    {[](const Review& r) {
       return !r.facts.golden_model.empty() && r.has("model") &&
              file_name(r.facts.golden_model) != file_name(r.value("model"));
     },
     "the golden runs another model file than the command names: confirm with the original one"},
    {[](const Review& r) {
       return !r.facts.device_soc.empty() && r.has("soc_version") &&
              r.facts.device_soc != r.value("soc_version");
     },
     "soc_version is not that of the device: nothing is comparable"},
    {[](const Review& r) { return r.has("fusion_switch_file"); },
     "fusion_switch_file: some fusions are switched already"},
    {[](const Review& r) { return r.value("allow_hf32") == "true"; },
     "allow_hf32: float32 products are computed with fewer digits"},
    {[](const Review& r) { return r.value("is_weight_clip") == "0"; },
     "is_weight_clip=0: weights beyond float16 become infinite"},
};

/// Options whose value no version of atc knows.
void check_modes(const Review& review, StepResult& result) {
  constexpr std::pair<const char*, int> kOptions[] = {{"precision_mode", 1},
                                                      {"precision_mode_v2", 2}};
  for (const auto& [option, version] : kOptions) {
    const std::string value = review.value(option);
    if (!value.empty() && fixes::find_precision_mode(value, version) == nullptr) {
      result.checks.push_back({"A", std::string(option) + "=" + value + ": no such mode"});
    }
  }
}

}  // namespace

StepResult review_command(const StepInput& input) {
  const Review review{input.facts};
  StepResult result;
  for (const Rule& rule : kRules) {
    if (rule.applies(review)) {
      result.checks.push_back({"A", rule.finding});
    }
  }
  check_modes(review, result);
  return result;
}

}  // namespace opdrift::diagnose::flow
