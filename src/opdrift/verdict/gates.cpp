#include "opdrift/verdict/gates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "opdrift/base/text.hpp"

namespace opdrift::verdict {

namespace {

constexpr double kRoundoffs = 32.0;
constexpr double kSmallestDefault = 1e-3;

std::string exceeds(const char* what, double value, const char* relation, double limit) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%s %.4g %s %.4g", what, value, relation, limit);
  return text.data();
}

const tensor::DTypeInfo& coarser(tensor::DType golden, tensor::DType target) {
  const tensor::DTypeInfo& first = tensor::info(golden);
  const tensor::DTypeInfo& second = tensor::info(target);
  return first.unit_roundoff >= second.unit_roundoff ? first : second;
}

std::string class_reason(const metrics::Measurement& measurement) {
  const auto side = [](const metrics::ClassCounts& classes) {
    return std::to_string(classes.nan) + " NaN, " + std::to_string(classes.positive_inf) +
           " +Inf, " + std::to_string(classes.negative_inf) + " -Inf";
  };
  return std::to_string(measurement.class_mismatches) + " elements differ in class (golden " +
         side(measurement.golden.classes) + "; target " + side(measurement.target.classes) + ")";
}

GateOutcome apply_default(const metrics::Measurement& measurement) {
  const tensor::DType golden = measurement.golden.dtype;
  const tensor::DType target = measurement.target.dtype;
  const double limit = default_relative_l2(golden, target);
  const double value = measurement.relative_l2();
  if (value <= limit) {
    return {};
  }
  return {false, exceeds("relative L2", value, ">", limit) + " (default for " +
                     std::string(coarser(golden, target).name) + ")"};
}

/// "allclose", "allclose=RTOL" or "allclose=RTOL:ATOL"; nothing for other gates.
std::optional<Result<AllClose>> parse_allclose(std::string_view item) {
  constexpr std::string_view kName = "allclose";
  if (item.substr(0, kName.size()) != kName) {
    return std::nullopt;
  }
  const std::string_view rest = item.substr(kName.size());
  if (rest.empty()) {
    return Result<AllClose>(AllClose{});
  }
  const auto parts = split(rest.substr(1), ':');
  AllClose allclose{parse_double(parts[0]), std::nullopt};
  bool well_formed = rest.front() == '=' && parts.size() <= 2 && allclose.rtol.has_value() &&
                     *allclose.rtol >= 0.0;
  if (parts.size() == 2) {
    allclose.atol = parse_double(parts[1]);
    well_formed = well_formed && allclose.atol.has_value() && *allclose.atol >= 0.0;
  }
  if (!well_formed) {
    return Result<AllClose>(Error{ErrorCode::invalid_argument,
                                  "gate '" + std::string(item) +
                                      "': expected allclose, allclose=RTOL or allclose=RTOL:ATOL"});
  }
  return Result<AllClose>(allclose);
}

struct Tolerances {
  double rtol = 0.0;
  double atol = 0.0;
};

Tolerances tolerances_of(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::f16: return {1e-3, 1e-5};
    case tensor::DType::bf16: return {1.6e-2, 1e-5};
    case tensor::DType::f32: return {1.3e-6, 1e-5};
    case tensor::DType::f64: return {1e-7, 1e-7};
    default: return {};
  }
}

/// What the largest errors alone tell.
Decision decide_by_extremes(const metrics::Measurement& measurement, const Tolerances& limits) {
  const metrics::Worst& worst = measurement.max_abs;
  if (worst.value <= limits.atol) {
    return Decision::pass;
  }
  return worst.value > limits.atol + limits.rtol * std::abs(worst.golden) ? Decision::fail
                                                                          : Decision::undecided;
}

Tolerances limits_of(const AllClose& allclose, const metrics::Measurement& measurement) {
  const Tolerances usual =
      tolerances_of(coarser(measurement.golden.dtype, measurement.target.dtype).dtype);
  return {allclose.rtol.value_or(usual.rtol), allclose.atol.value_or(usual.atol)};
}

GateOutcome apply_allclose(const AllClose& allclose, const metrics::Measurement& measurement,
                           const ErrorProfile* profile) {
  const Tolerances limits = limits_of(allclose, measurement);
  const Decision decision = profile != nullptr ? profile->decide(limits.atol, limits.rtol)
                                               : decide_by_extremes(measurement, limits);
  if (decision == Decision::pass) {
    return {};
  }
  std::array<char, 160> text{};
  if (decision == Decision::undecided) {
    std::snprintf(text.data(), text.size(), "allclose(%g, %g) cannot be decided from %s",
                  limits.rtol, limits.atol,
                  profile != nullptr ? "the kept profile: too near to the limit"
                                     : "what was kept: compare with --profile");
  } else if (profile != nullptr) {
    std::snprintf(text.data(), text.size(),
                  "not allclose(rtol %g, atol %g); with this atol rtol %.4g would do", limits.rtol,
                  limits.atol, profile->smallest_rtol(limits.atol).high);
  } else {
    std::snprintf(text.data(), text.size(), "not allclose(rtol %g, atol %g): error %.4g at %.4g",
                  limits.rtol, limits.atol, measurement.max_abs.value, measurement.max_abs.golden);
  }
  return {false, text.data()};
}

/// A gate and the limits that can be met and missed: others decide nothing.
struct NamedGate {
  std::optional<double>* limit = nullptr;
  double least = 0.0;
  double most = HUGE_VAL;
};

NamedGate gate_by_name(Gates& gates, std::string_view name) {
  if (name == "cosine") {
    return {&gates.min_cosine, -1.0, 1.0};
  }
  if (name == "rel_l2" || name == "l2") {
    return {&gates.max_relative_l2};
  }
  if (name == "max_abs" || name == "maxabs") {
    return {&gates.max_abs};
  }
  if (name == "max_rel" || name == "maxrel") {
    return {&gates.max_relative};
  }
  return name == "sqnr" ? NamedGate{&gates.min_sqnr, -HUGE_VAL} : NamedGate{};
}

Error out_of_range(std::string_view item, const NamedGate& gate) {
  const bool cosine = gate.most == 1.0;
  return {ErrorCode::invalid_argument, "gate '" + std::string(item) + "': expected a limit " +
                                           (cosine ? "from -1 to 1" : "of 0 or more")};
}

}  // namespace

bool Gates::only_default() const {
  return default_relative_l2 && !min_cosine && !max_relative_l2 && !max_abs && !max_relative &&
         !min_sqnr && !allclose;
}

Result<Gates> parse_gates(std::string_view text) {
  Gates gates;
  for (const std::string_view item : split(text, ',')) {
    if (const auto allclose = parse_allclose(trim(item))) {
      OPDRIFT_TRY(gates.allclose, *allclose);
      gates.default_relative_l2 = false;
      continue;
    }
    const std::size_t equals = item.find('=');
    const std::string_view name = trim(item.substr(0, equals));
    const auto limit = equals == std::string_view::npos
                           ? std::nullopt
                           : parse_double(trim(item.substr(equals + 1)));
    if (!limit || std::isnan(*limit)) {
      return Error{ErrorCode::invalid_argument,
                   "gate '" + std::string(item) + "': expected NAME=NUMBER"};
    }
    const NamedGate gate = gate_by_name(gates, name);
    if (gate.limit == nullptr) {
      return Error{ErrorCode::invalid_argument,
                   "gate '" + std::string(name) +
                       "': expected one of cosine, rel_l2, max_abs, max_rel, sqnr, "
                       "allclose"};
    }
    if (*limit < gate.least || *limit > gate.most) {
      return out_of_range(item, gate);
    }
    *gate.limit = limit;
    gates.default_relative_l2 = false;
  }
  return gates;
}

std::string describe(const Gates& gates) {
  if (gates.only_default()) {
    return "relative L2 within 32 unit roundoffs of the coarser dtype, at least 1e-3; same "
           "NaN/Inf";
  }
  std::string words = "same NaN/Inf";
  const auto add = [&](const char* name, const std::optional<double>& limit, const char* relation) {
    if (limit) {
      std::array<char, 64> text{};
      std::snprintf(text.data(), text.size(), ", %s %s %g", name, relation, *limit);
      words += text.data();
    }
  };
  add("cosine", gates.min_cosine, ">=");
  add("relative L2", gates.max_relative_l2, "<=");
  add("max abs error", gates.max_abs, "<=");
  add("max relative error", gates.max_relative, "<=");
  add("SQNR in dB", gates.min_sqnr, ">=");
  if (gates.allclose) {
    words += ", allclose";
    add("rtol", gates.allclose->rtol, "=");
    add("atol", gates.allclose->atol, "=");
    words += gates.allclose->rtol ? "" : " (tolerances of the dtype)";
  }
  return words;
}

double default_relative_l2(tensor::DType golden, tensor::DType target) {
  const tensor::DTypeInfo& dtype = coarser(golden, target);
  if (dtype.unit_roundoff == 0.0) {
    return 0.0;
  }
  return std::max(kSmallestDefault, kRoundoffs * dtype.unit_roundoff);
}

bool undecided(const AllClose& allclose, const metrics::Measurement& measurement) {
  return measurement.class_mismatches == 0 &&
         decide_by_extremes(measurement, limits_of(allclose, measurement)) == Decision::undecided;
}

double default_atol(const metrics::Measurement& measurement) {
  return limits_of({}, measurement).atol;
}

std::vector<GateValue> gate_values(const metrics::Measurement& measurement) {
  return {{"cosine", measurement.cosine(), true},
          {"rel_l2", measurement.relative_l2(), false},
          {"max_abs", measurement.max_abs.value, false},
          {"max_rel", measurement.max_relative, false},
          {"sqnr", measurement.sqnr_db(), true}};
}

GateOutcome apply(const Gates& gates, const metrics::Measurement& measurement,
                  const ErrorProfile* profile) {
  if (measurement.class_mismatches > 0) {
    return {false, class_reason(measurement)};
  }
  if (gates.min_cosine && !(measurement.cosine() >= *gates.min_cosine)) {
    return {false, exceeds("cosine", measurement.cosine(), "<", *gates.min_cosine)};
  }
  if (gates.max_relative_l2 && !(measurement.relative_l2() <= *gates.max_relative_l2)) {
    return {false, exceeds("relative L2", measurement.relative_l2(), ">", *gates.max_relative_l2)};
  }
  if (gates.max_abs && !(measurement.max_abs.value <= *gates.max_abs)) {
    return {false, exceeds("max abs error", measurement.max_abs.value, ">", *gates.max_abs)};
  }
  if (gates.max_relative && !(measurement.max_relative <= *gates.max_relative)) {
    return {false,
            exceeds("max relative error", measurement.max_relative, ">", *gates.max_relative)};
  }
  if (gates.max_relative && measurement.sum_golden2 == 0.0 && measurement.max_abs.value > 0.0) {
    return {false, "no relative error: the golden is 0 everywhere, the target is not"};
  }
  if (gates.min_sqnr && !(measurement.sqnr_db() >= *gates.min_sqnr)) {
    return {false, exceeds("SQNR in dB", measurement.sqnr_db(), "<", *gates.min_sqnr)};
  }
  if (gates.allclose) {
    GateOutcome outcome = apply_allclose(*gates.allclose, measurement, profile);
    if (!outcome.passed) {
      return outcome;
    }
  }
  return gates.default_relative_l2 ? apply_default(measurement) : GateOutcome{};
}

}  // namespace opdrift::verdict
