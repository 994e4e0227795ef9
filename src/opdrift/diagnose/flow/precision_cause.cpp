#include "opdrift/diagnose/flow/precision_cause.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/customize_dtypes.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"
#include "opdrift/diagnose/fixes/mix_list.hpp"
#include "opdrift/diagnose/fixes/op_precision.hpp"
#include "opdrift/diagnose/fixes/precision_modes.hpp"

namespace opdrift::diagnose::flow {

namespace {

bool is_constant(const OperatorFacts& op) {
  return op.constant || op.type == "Const" || op.type == "Constant";
}

bool beyond(const std::optional<double>& value, double limit) {
  return value && std::isfinite(*value) && std::abs(*value) > limit;
}

std::vector<std::string> types_of(const std::vector<const OperatorFacts*>& operators) {
  std::vector<std::string> types;
  for (const OperatorFacts* const op : operators) {
    if (!op->type.empty() && std::find(types.begin(), types.end(), op->type) == types.end()) {
      types.push_back(op->type);
    }
  }
  return types;
}

std::string range_text(const OperatorNumbers& numbers) {
  if (numbers.ref_min && numbers.ref_max) {
    return "values from " + number_text(*numbers.ref_min) + " to " + number_text(*numbers.ref_max);
  }
  return numbers.ref_absmax ? "values up to " + number_text(*numbers.ref_absmax) : "";
}

std::string overflow_text(const OperatorNumbers& numbers, const Limits& limits) {
  const bool inputs =
      !beyond(numbers.ref_absmax, limits.float16) && beyond(numbers.ref_in_absmax, limits.float16);
  std::string text =
      (inputs ? "inputs up to " + number_text(*numbers.ref_in_absmax) : range_text(numbers)) +
      " in the reference run";
  if (numbers.over_65504) {
    text += ", " + number_text(*numbers.over_65504) + " elements beyond 65504";
  }
  if (numbers.nonfinite && *numbers.nonfinite > 0) {
    text += "; this run holds " + number_text(*numbers.nonfinite) + " NaN or Inf";
  } else if (numbers.cand_absmax) {
    text += "; this run stops at " + number_text(*numbers.cand_absmax);
  }
  if (numbers.saturated && *numbers.saturated > 0) {
    text += " (" + number_text(100 * *numbers.saturated) + " % of its elements are +-65504)";
  }
  return text;
}

Fix keep_fix(const std::vector<std::string>& keep) {
  return {"keep_dtype",
          "keep these operators in the original precision: --keep_dtype=keep_dtype.cfg "
          "--precision_mode=force_fp16",
          keep_file(keep)};
}

std::vector<Fix> constant_fixes() {
  return {{"model", "change the constant to within +-65504 in the model; -1e4 is enough for a mask",
           std::nullopt},
          {"option", "or keep the weight clip: --is_weight_clip=1, the default", std::nullopt}};
}

Fix op_precision_fix(const std::vector<const OperatorFacts*>& operators) {
  fixes::OpPrecision precision;
  for (const std::string& type : types_of(operators)) {
    precision.by_type.emplace_back(type, "high_precision");
  }
  return {"op_precision_mode",
          "where the operator has a high-precision implementation try that first: "
          "--op_precision_mode=op_precision.ini",
          GeneratedFile{"op_precision.ini", fixes::write_op_precision(precision)}};
}

Fix mix_list_fix(const std::vector<const OperatorFacts*>& operators) {
  fixes::MixList list;
  list.black.to_add = types_of(operators);
  return {"modify_mixlist",
          "the mode is a mixed one: put the type on the black list, "
          "--modify_mixlist=modify_mixlist.json",
          GeneratedFile{"modify_mixlist.json", fixes::write_mix_list(list)}};
}

}  // namespace

Conclusion precision_cause(const OperatorFacts& op, const Limits& limits) {
  const OperatorNumbers& n = op.numbers;
  if (beyond(n.ref_absmax, limits.float16) || beyond(n.ref_min, limits.float16) ||
      beyond(n.ref_max, limits.float16)) {
    return is_constant(op) ? Conclusion::overflow_const : Conclusion::overflow;
  }
  if (beyond(n.ref_in_absmax, limits.float16)) {
    return Conclusion::overflow;
  }
  if (n.flushed_share && *n.flushed_share >= limits.flushed) {
    return Conclusion::underflow;
  }
  return Conclusion::precision;
}

std::string precision_evidence(const OperatorFacts& op, const Limits& limits) {
  std::string text = op.op + ": ";
  text += comparable(op) ? "cosine " + number_text(1.0 - output_error(op)) : "no cosine";
  switch (precision_cause(op, limits)) {
    case Conclusion::overflow:
    case Conclusion::overflow_const: return text + "; " + overflow_text(op.numbers, limits);
    case Conclusion::underflow:
      return text + "; " + number_text(100 * *op.numbers.flushed_share) +
             " % of its elements are too small for float16 and became 0";
    default: return text;
  }
}

GeneratedFile keep_file(const std::vector<std::string>& keep) {
  return {"keep_dtype.cfg", fixes::write_keep_dtype({keep, {}})};
}

GeneratedFile customize_file(const std::vector<const OperatorFacts*>& operators) {
  std::vector<fixes::CustomDtypes> entries;
  for (const OperatorFacts* const op : operators) {
    // Of inputs that nothing is known of not even the number is.
    const std::size_t inputs = std::isnan(input_error(*op)) ? 0 : op->cos_in.size();
    for (const std::string& name : op->original) {
      entries.push_back(fixes::all_float32(name, inputs, op->cos_out.size()));
    }
  }
  return {"customize_dtypes.cfg", fixes::write_customize_dtypes(entries)};
}

std::vector<Fix> precision_fixes(const StepInput& input, Conclusion cause,
                                 const std::vector<const OperatorFacts*>& operators,
                                 const std::vector<std::string>& keep) {
  if (cause == Conclusion::overflow_const) {
    return constant_fixes();
  }
  std::vector<Fix> fixes;
  if (cause == Conclusion::precision && !types_of(operators).empty()) {
    fixes.push_back(op_precision_fix(operators));
  }
  fixes.push_back(keep_fix(keep));
  fixes.push_back({"customize_dtypes",
                   "or float32 for exactly these operators: "
                   "--customize_dtypes=customize_dtypes.cfg",
                   customize_file(operators)});
  const fixes::PrecisionMode* const mode = fixes::chosen_precision(input.facts.options);
  if (mode != nullptr && mode->mixed && !types_of(operators).empty()) {
    fixes.push_back(mix_list_fix(operators));
  }
  fixes.push_back(high_precision_fix(input));
  return fixes;
}

std::string high_precision_mode(const StepInput& input) {
  const fixes::PrecisionMode* const mode = fixes::chosen_precision(input.facts.options);
  const bool stricter = input.options.strict || (mode != nullptr && mode->high);
  return stricter ? "force_fp32" : "allow_fp32_to_fp16";
}

Fix high_precision_fix(const StepInput& input) {
  return {"option",
          "where speed does not matter: --precision_mode=" + high_precision_mode(input) +
              " for the whole model",
          std::nullopt};
}

}  // namespace opdrift::diagnose::flow
