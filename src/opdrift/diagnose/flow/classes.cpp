#include "opdrift/diagnose/flow/classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::flow {

namespace {

constexpr double kOriginFactor = 3.0;
constexpr double kAmplifierFactor = 10.0;
constexpr double kLargestFloat16 = 65504.0;
// 1 - cosine of a decimal cosine is off by up to 2^-53; ratios of such errors are taken as equal
// when they agree to this.
constexpr double kSlack = 1e-12;

bool below(double cosine, double limit) {
  return cosine < limit;
}

double worst_error(const std::vector<double>& cosines) {
  double worst = std::numeric_limits<double>::quiet_NaN();
  for (const double cosine : cosines) {
    const double error = std::max(1.0 - cosine, 0.0);
    if (!std::isnan(cosine) && !(error <= worst)) {
      worst = error;
    }
  }
  return worst;
}

/// The outputs gave no number because one run left the range of numbers.
bool left_the_range(const OperatorNumbers& numbers) {
  const bool finite_reference = numbers.ref_absmax && std::isfinite(*numbers.ref_absmax);
  if (numbers.nonfinite && *numbers.nonfinite > 0 && finite_reference) {
    return true;
  }
  return finite_reference && (*numbers.ref_absmax > kLargestFloat16 ||
                              (numbers.cand_absmax && !std::isfinite(*numbers.cand_absmax)));
}

struct ClassWord {
  OperatorClass value;
  const char* one;
  const char* many;
};
constexpr ClassWord kWords[] = {
    {OperatorClass::origin, "origin", "origins"},
    {OperatorClass::drifter, "drifter", "drifters"},
    {OperatorClass::amplifier, "amplifier", "amplifiers"},
    {OperatorClass::carrier, "carrier", "carriers"},
    {OperatorClass::healer, "healer", "healers"},
    {OperatorClass::ok, "ok", "ok"},
    {OperatorClass::unknown, "unknown", "unknown"},
};

}  // namespace

std::string_view to_string(OperatorClass c) {
  for (const ClassWord& word : kWords) {
    if (word.value == c) {
      return word.one;
    }
  }
  return "unknown";
}

bool comparable(const OperatorFacts& op) {
  return !std::isnan(output_error(op));
}

double output_error(const OperatorFacts& op) {
  return worst_error(op.cos_out);
}

double input_error(const OperatorFacts& op) {
  return op.cos_in.empty() ? 0.0 : worst_error(op.cos_in);
}

bool is_different(const OperatorFacts& op, double limit) {
  const bool some_nan = std::any_of(op.cos_out.begin(), op.cos_out.end(),
                                    [](double cosine) { return std::isnan(cosine); });
  return std::any_of(op.cos_out.begin(), op.cos_out.end(),
                     [&](double cosine) { return below(cosine, limit); }) ||
         (some_nan && left_the_range(op.numbers));
}

bool has_bad_input(const OperatorFacts& op, double limit) {
  return std::any_of(op.cos_in.begin(), op.cos_in.end(),
                     [&](double cosine) { return below(cosine, limit); });
}

OperatorClass classify(const OperatorFacts& op, double limit) {
  const bool bad_out = is_different(op, limit);
  const double e_in = input_error(op);
  if ((!bad_out && !comparable(op)) || std::isnan(e_in)) {
    return OperatorClass::unknown;
  }
  const bool bad_in = has_bad_input(op, limit);
  if (!bad_out) {
    return bad_in ? OperatorClass::healer : OperatorClass::ok;
  }
  // Without a number the outputs are as different as can be.
  const double e_out = comparable(op) ? output_error(op) : 1.0;
  if (bad_in) {
    return e_out > kAmplifierFactor * e_in ? OperatorClass::amplifier : OperatorClass::carrier;
  }
  return e_out >= kOriginFactor * e_in - kSlack ? OperatorClass::origin : OperatorClass::drifter;
}

Survey survey(const OperatorList& operators, double limit) {
  Survey found;
  found.first_different = operators.size();
  found.largest_amplifier = operators.size();
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorClass c = classify(operators[i], limit);
    found.classes.push_back(c);
    ++found.counts[c];
    if (c == OperatorClass::origin) {
      found.origins.push_back(i);
    }
    if (found.first_different == operators.size() && is_different(operators[i], limit)) {
      found.first_different = i;
    }
    const double factor = output_error(operators[i]) / input_error(operators[i]);
    if (c == OperatorClass::amplifier && factor > found.largest_factor) {
      found.largest_amplifier = i;
      found.largest_factor = factor;
    }
  }
  return found;
}

std::string counts_text(const Survey& found) {
  std::vector<std::string> parts;
  for (const ClassWord& word : kWords) {
    const auto count = found.counts.find(word.value);
    if (count != found.counts.end()) {
      parts.push_back(std::to_string(count->second) + " " +
                      (count->second == 1 ? word.one : word.many));
    }
  }
  return join(parts, ", ");
}

}  // namespace opdrift::diagnose::flow
