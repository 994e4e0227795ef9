#include "opdrift/metrics/algorithms/errors.hpp"

#include <algorithm>
#include <limits>

namespace opdrift::metrics {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Pairs outside the finite ones, by the value of their relative error.
struct RelativeClasses {
  std::uint64_t ones = 0;
  std::uint64_t infinite = 0;
  std::uint64_t nan = 0;
};

bool skipped_by_reference(GoldenClass golden) {
  return golden == GoldenClass::zero || golden == GoldenClass::tiny || golden == GoldenClass::nan;
}

void add_pairs(RelativeClasses& classes, GoldenClass golden, TargetClass target,
               std::uint64_t pairs) {
  const bool golden_inf =
      golden == GoldenClass::positive_inf || golden == GoldenClass::negative_inf;
  if (golden == GoldenClass::nan || target == TargetClass::nan) {
    classes.nan += pairs;
  } else if (golden_inf) {
    (target == TargetClass::finite ? classes.ones : classes.nan) += pairs;
  } else {
    classes.infinite += pairs;
  }
}

RelativeClasses relative_classes(const AlgorithmInput& input) {
  const NonFinitePairs& pairs = input.measurement.nonfinite;
  RelativeClasses classes;
  for (std::size_t g = 0; g < pairs.counts.size(); ++g) {
    for (std::size_t t = 0; t < pairs.counts[g].size(); ++t) {
      const auto golden = static_cast<GoldenClass>(g);
      if (!input.reference || !skipped_by_reference(golden)) {
        add_pairs(classes, golden, static_cast<TargetClass>(t), pairs.counts[g][t]);
      }
    }
  }
  return classes;
}

}  // namespace

double with_nonfinite_differences(const Measurement& measurement, double finite) {
  const NonFinitePairs& pairs = measurement.nonfinite;
  if (pairs.with_nan() + pairs.with_same_infinity() > 0) {
    return kNan;
  }
  if (pairs.with_infinite_gap() > 0) {
    return kInfinity;
  }
  return finite;
}

RelativeErrors relative_errors(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  const RelativeClasses classes = relative_classes(input);
  if (classes.nan > 0) {
    return {kNan, kNan};
  }
  if (classes.infinite > 0) {
    return {kInfinity, kInfinity};
  }
  const double sum = input.reference ? m.sum_relative_above_epsilon : m.sum_relative;
  const double max = input.reference ? m.max_relative_above_epsilon : m.max_relative;
  return {sum + static_cast<double>(classes.ones), std::max(max, classes.ones > 0 ? 1.0 : 0.0)};
}

AlgorithmValue over_finite_pairs(const Measurement& measurement, double value) {
  if (measurement.class_mismatches > 0) {
    return no_value(AlgorithmNote::class_mismatch);
  }
  return measurement.finite_pairs < measurement.count ? with_note(value, AlgorithmNote::left_out)
                                                      : with_note(value, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
