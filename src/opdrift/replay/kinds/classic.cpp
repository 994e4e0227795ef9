#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"

// Kinds of ai.onnx.ml over features, the last axis of their input.
//   Scaler                 (x - offset) scale
//   Normalizer             x over the largest, the sum of magnitudes, or the length of a row
//   Binarizer              1 above a threshold, else 0
//   Imputer                another value where one is missing
//   LinearRegressor        x coefficients^T + intercepts
//   ArrayFeatureExtractor  some of the features

namespace opdrift::replay {

namespace {

Result<const Array*> features(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  if (x->rank() == 0 || x->shape.back() == 0) {
    return call.not_modelled("expected features along the last axis");
  }
  return x;
}

/// One number for all features or one for each.
Result<std::vector<double>> per_feature(const Call& call, Call::Names names, std::size_t count,
                                        double fallback) {
  std::vector<double> values = call.reals(names).value_or(std::vector<double>{});
  if (values.size() <= 1) {
    return std::vector<double>(count, values.empty() ? fallback : values.front());
  }
  if (values.size() != count) {
    return call.not_modelled("expected one number for all features or one for each");
  }
  return values;
}

double divisor_of(const double* row, std::size_t count, const std::string& norm) {
  double sum = norm == "MAX" ? -HUGE_VAL : 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum = norm == "MAX"  ? std::max(sum, row[i])
          : norm == "L1" ? sum + std::abs(row[i])
                         : sum + row[i] * row[i];
  }
  return norm == "L2" ? std::sqrt(sum) : sum;
}

/// x coefficients^T, one row of coefficients per target.
struct Linear {
  const Array* x = nullptr;
  Array coefficients;
  std::vector<double> intercepts;
};

Result<Linear> linear_of(const Call& call) {
  Linear linear;
  OPDRIFT_TRY(linear.x, features(call));
  const std::int64_t targets = call.integer({"targets"}, 1);
  const std::size_t count = linear.x->shape.back();
  linear.coefficients.values = call.reals({"coefficients"}).value_or(std::vector<double>{});
  linear.intercepts = call.reals({"intercepts"}).value_or(std::vector<double>{});
  if (targets < 1 || call.text({"post_transform"}, "NONE") != "NONE" ||
      linear.coefficients.size() !=
          saturating_product(static_cast<std::uint64_t>(targets), count)) {
    return call.not_modelled("coefficients do not fit, or a result that is transformed");
  }
  const auto rows = static_cast<std::size_t>(targets);
  linear.coefficients.shape = {rows, count};
  if (linear.intercepts.empty()) {
    linear.intercepts.assign(rows, 0.0);
  }
  if (linear.intercepts.size() != rows) {
    return call.not_modelled("expected one intercept per target");
  }
  return linear;
}

// A single row of features counts as a batch of one.
Result<Array> linear_product(const Call& call, const Array& x, const Array& coefficients) {
  Array rows = x;
  if (rows.rank() == 1) {
    rows.shape.insert(rows.shape.begin(), 1);
  }
  OPDRIFT_TRY(const Product product, plan_matmul(call, rows, coefficients, false, true));
  return run_product(call, product);
}

}  // namespace

Result<Outputs> scaler(const Call& call) {
  OPDRIFT_TRY(const Array* x, features(call));
  const std::size_t count = x->shape.back();
  OPDRIFT_TRY(const std::vector<double> offset, per_feature(call, {"offset"}, count, 0.0));
  OPDRIFT_TRY(const std::vector<double> scale, per_feature(call, {"scale"}, count, 1.0));
  Array y = *x;
  y.dtype = tensor::DType::f32;
  for (std::size_t at = 0; at < y.size(); ++at) {
    y.values[at] = (y.values[at] - offset[at % count]) * scale[at % count];
  }
  return one_output(std::move(y));
}

Result<Outputs> normalizer(const Call& call) {
  OPDRIFT_TRY(const Array* x, features(call));
  const std::string norm = call.text({"norm"}, "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    return call.not_modelled("the norm " + norm);
  }
  const std::size_t count = x->shape.back();
  Array y = *x;
  y.dtype = tensor::DType::f32;
  for (std::size_t first = 0; first < y.size(); first += count) {
    const double divisor = divisor_of(x->values.data() + first, count, norm);
    for (std::size_t at = first; at < first + count && divisor != 0.0; ++at) {
      y.values[at] /= divisor;
    }
  }
  return one_output(std::move(y));
}

Result<Outputs> binarizer(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  const double threshold = call.real({"threshold"}, 0.0);
  Array y = *x;
  for (double& value : y.values) {
    value = value > threshold ? 1.0 : 0.0;
  }
  return one_output(std::move(y));
}

Result<Outputs> imputer(const Call& call) {
  OPDRIFT_TRY(const Array* x, features(call));
  const bool whole = is_integral(x->dtype);
  const std::size_t count = x->shape.back();
  const double missing =
      whole ? call.real({"replaced_value_int64"}, 0.0) : call.real({"replaced_value_float"}, 0.0);
  OPDRIFT_TRY(const std::vector<double> filler,
              whole ? per_feature(call, {"imputed_value_int64s"}, count, 0.0)
                    : per_feature(call, {"imputed_value_floats"}, count, 0.0));
  Array y = *x;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double value = y.values[at];
    const bool absent = std::isnan(missing) ? std::isnan(value) : value == missing;
    y.values[at] = absent ? filler[at % count] : value;
  }
  return one_output(std::move(y));
}

Result<Outputs> linear_regressor(const Call& call) {
  OPDRIFT_TRY(const Linear linear, linear_of(call));
  OPDRIFT_TRY(Array y, linear_product(call, *linear.x, linear.coefficients));
  y.dtype = tensor::DType::f32;
  for (std::size_t at = 0; at < y.size(); ++at) {
    y.values[at] += linear.intercepts[at % linear.intercepts.size()];
  }
  return one_output(std::move(y));
}

Result<Terms> linear_regressor_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Linear linear, linear_of(call));
  OPDRIFT_TRY(Array squares,
              linear_product(call, squared(*linear.x), squared(linear.coefficients)));
  Terms terms;
  terms.n = static_cast<double>(linear.x->shape.back());
  terms.a2 = std::move(squares.values);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double intercept = linear.intercepts[at % linear.intercepts.size()];
    terms.extra.push_back(intercept * intercept);
  }
  return terms;
}

Result<Outputs> feature_extractor(const Call& call) {
  OPDRIFT_TRY(const Array* x, features(call));
  OPDRIFT_TRY(const Array* places, call.need(1, "Y"));
  const std::size_t count = x->shape.back();
  tensor::Shape shape = x->shape;
  shape.back() = places->size();
  if (shape.size() == 1) {
    shape.insert(shape.begin(), 1);
  }
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double place = places->values[at % places->size()];
    if (!(place >= 0.0) || !(place < static_cast<double>(count))) {
      return call.not_modelled("a position is out of range");
    }
    y.values[at] = x->values[at / places->size() * count + static_cast<std::size_t>(place)];
  }
  return one_output(std::move(y));
}

}  // namespace opdrift::replay
