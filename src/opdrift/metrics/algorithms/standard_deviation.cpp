#include <cmath>
#include <cstdio>
#include <limits>

#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

namespace {

double mean_of(const SideStats& side) {
  const ClassCounts& classes = side.classes;
  if (classes.nan > 0 || (classes.positive_inf > 0 && classes.negative_inf > 0)) {
    return kNan;
  }
  if (classes.positive_inf + classes.negative_inf > 0) {
    const double infinity = std::numeric_limits<double>::infinity();
    return classes.positive_inf > 0 ? infinity : -infinity;
  }
  return side.mean();
}

double deviation_of(const SideStats& side) {
  const ClassCounts& classes = side.classes;
  const bool finite = classes.nan + classes.positive_inf + classes.negative_inf == 0;
  return finite ? side.standard_deviation() : kNan;
}

std::string rounded(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  char text[400] = {};
  std::snprintf(text, sizeof(text), "%.3f", std::abs(value) < 0.001 ? 0.0 : value);
  return text;
}

std::string side_text(const SideStats& side) {
  return "(" + rounded(mean_of(side)) + ";" + rounded(deviation_of(side)) + ")";
}

}  // namespace

// Text of four numbers; the value is the deviation of the target.
AlgorithmValue standard_deviation(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  const Measurement& m = input.measurement;
  AlgorithmValue result;
  result.value = deviation_of(m.target);
  result.text = side_text(m.target) + "," + side_text(m.golden);
  return result;
}

}  // namespace opdrift::metrics
