#include <algorithm>
#include <cmath>
#include <cstdint>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Functions of two or more elements, with the broadcasting of NumPy.

namespace opdrift::replay {

namespace {

// Opsets below 7 broadcast only on request, aligning the second shape at `axis`; axes of one are
// appended to make that the modern rule.
Result<Array> aligned(const Call& call, const Array& left, const Array& right) {
  Array result = right;
  if (call.opset() >= 7 || call.integer({"broadcast"}, 0) == 0 || !call.has({"axis"})) {
    return result;
  }
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 0), left.rank()));
  while (axis + result.rank() < left.rank()) {
    result.shape.push_back(1);
  }
  return result;
}

template <typename Function>
Result<Array> combine(const Call& call, const Array& left, const Array& right, Function function) {
  OPDRIFT_TRY(const tensor::Shape shape, broadcast_shape(left.shape, right.shape));
  OPDRIFT_TRY(Array y, call.make(shape, left.dtype));
  double* out = y.values.data();
  const std::array<Strides, 2> strides = {broadcast_strides(left.shape, shape),
                                          broadcast_strides(right.shape, shape)};
  walk<2>(shape, strides, [&](const Row<2>& row) {
    const double* a = left.values.data() + row.at[0];
    const double* b = right.values.data() + row.at[1];
    for (std::size_t i = 0; i < row.length; ++i, a += row.step[0], b += row.step[1]) {
      *out++ = function(*a, *b);
    }
  });
  return y;
}

template <typename Function>
Result<Outputs> binary(const Call& call, Function function) {
  OPDRIFT_TRY(const Array* left, call.need(0, "A"));
  OPDRIFT_TRY(const Array* right, call.need(1, "B"));
  OPDRIFT_TRY(const Array second, aligned(call, *left, *right));
  OPDRIFT_TRY(Array y, combine(call, *left, second, function));
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

template <typename Function>
Result<Outputs> compare(const Call& call, Function function) {
  OPDRIFT_TRY(Outputs outputs,
              binary(call, [&](double a, double b) { return function(a, b) ? 1.0 : 0.0; }));
  outputs.front().dtype = tensor::DType::boolean;
  return outputs;
}

template <typename Function>
Result<Outputs> fold(const Call& call, Function function) {
  OPDRIFT_TRY(const Array* first, call.need(0, "data_0"));
  Array y = *first;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    OPDRIFT_TRY(const Array* next, call.need(i, "data"));
    OPDRIFT_TRY(y, combine(call, y, *next, function));
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

bool integral_inputs(const Call& call) {
  const Array* first = call.input(0);
  return first != nullptr && is_integral(first->dtype);
}

// NaN wins in both directions, as IEEE minimum and maximum of the 2019 revision have it.
double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}
double smaller(double a, double b) {
  return std::isnan(a) || a < b ? a : b;
}

std::uint64_t bits_of(double value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}
double from_bits(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits));
}
// Bitwise functions need values that fit 63 bits; others have no bits to speak of.
bool fits_bits(double value) {
  return std::abs(value) < 9.2e18;
}

double python_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

}  // namespace

Result<Outputs> add(const Call& call) {
  const double alpha = call.real({"alpha"}, 1.0);
  if (alpha != 1.0) {
    return binary(call, [alpha](double a, double b) { return a + alpha * b; });
  }
  return binary(call, [](double a, double b) { return a + b; });
}
Result<Outputs> subtract(const Call& call) {
  const double alpha = call.real({"alpha"}, 1.0);
  return binary(call, [alpha](double a, double b) { return a - alpha * b; });
}
Result<Outputs> multiply_elements(const Call& call) {
  return binary(call, [](double a, double b) { return a * b; });
}
Result<Outputs> divide(const Call& call) {
  if (integral_inputs(call)) {
    return binary(call, [](double a, double b) { return std::trunc(a / b); });
  }
  return binary(call, [](double a, double b) { return a / b; });
}
Result<Outputs> floor_divide(const Call& call) {
  return binary(call, [](double a, double b) { return std::floor(a / b); });
}
Result<Outputs> squared_difference(const Call& call) {
  return binary(call, [](double a, double b) { return (a - b) * (a - b); });
}
Result<Outputs> modulo(const Call& call) {
  if (call.integer({"fmod"}, 0) != 0) {
    return binary(call, [](double a, double b) { return std::fmod(a, b); });
  }
  return binary(call, python_mod);
}
Result<Outputs> power(const Call& call) {
  if (integral_inputs(call)) {
    return binary(call, [](double a, double b) { return std::trunc(std::pow(a, b)); });
  }
  return binary(call, [](double a, double b) { return b == 2.0 ? a * a : std::pow(a, b); });
}
Result<Outputs> arc_tangent_of_two(const Call& call) {
  return binary(call, [](double a, double b) { return std::atan2(a, b); });
}
Result<Outputs> prelu(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* slope, call.need(1, "slope"));
  Array second = *slope;
  // One slope per channel is written without the axes that follow the channel.
  if (slope->rank() == 1 && x->rank() > 1 && slope->size() > 1 && x->shape[1] == slope->size() &&
      (x->shape.back() != slope->size() || x->rank() == 2)) {
    second.shape.resize(x->rank() - 1, 1);
  }
  OPDRIFT_TRY(Array y,
              combine(call, *x, second, [](double a, double b) { return a < 0.0 ? a * b : a; }));
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

Result<Outputs> equal(const Call& call) {
  return compare(call, [](double a, double b) { return a == b; });
}
Result<Outputs> not_equal(const Call& call) {
  return compare(call, [](double a, double b) { return a != b; });
}
Result<Outputs> greater(const Call& call) {
  return compare(call, [](double a, double b) { return a > b; });
}
Result<Outputs> greater_or_equal(const Call& call) {
  return compare(call, [](double a, double b) { return a >= b; });
}
Result<Outputs> less(const Call& call) {
  return compare(call, [](double a, double b) { return a < b; });
}
Result<Outputs> less_or_equal(const Call& call) {
  return compare(call, [](double a, double b) { return a <= b; });
}
Result<Outputs> logical_and(const Call& call) {
  return compare(call, [](double a, double b) { return a != 0.0 && b != 0.0; });
}
Result<Outputs> logical_or(const Call& call) {
  return compare(call, [](double a, double b) { return a != 0.0 || b != 0.0; });
}
Result<Outputs> logical_xor(const Call& call) {
  return compare(call, [](double a, double b) { return (a != 0.0) != (b != 0.0); });
}

Result<Outputs> bitwise_and(const Call& call) {
  return binary(call, [](double a, double b) {
    return fits_bits(a) && fits_bits(b) ? from_bits(bits_of(a) & bits_of(b)) : std::nan("");
  });
}
Result<Outputs> bitwise_or(const Call& call) {
  return binary(call, [](double a, double b) {
    return fits_bits(a) && fits_bits(b) ? from_bits(bits_of(a) | bits_of(b)) : std::nan("");
  });
}
Result<Outputs> bitwise_xor(const Call& call) {
  return binary(call, [](double a, double b) {
    return fits_bits(a) && fits_bits(b) ? from_bits(bits_of(a) ^ bits_of(b)) : std::nan("");
  });
}

Result<Outputs> sum_of_all(const Call& call) {
  return fold(call, [](double a, double b) { return a + b; });
}
Result<Outputs> mean_of_all(const Call& call) {
  OPDRIFT_TRY(Outputs outputs, sum_of_all(call));
  for (double& value : outputs.front().values) {
    value /= static_cast<double>(call.inputs.size());
  }
  return outputs;
}
Result<Outputs> largest_of_all(const Call& call) {
  return fold(call, larger);
}
Result<Outputs> smallest_of_all(const Call& call) {
  return fold(call, smaller);
}

// Ascend Eltwise: mode 0 product, 1 sum (weighted by coeff), 2 maximum.
Result<Outputs> eltwise(const Call& call) {
  const std::int64_t mode = call.integer({"mode"}, 1);
  if (mode == 0) {
    return fold(call, [](double a, double b) { return a * b; });
  }
  if (mode == 2) {
    return largest_of_all(call);
  }
  const auto weights = call.reals({"coeff"}).value_or(std::vector<double>{});
  if (mode != 1 || (!weights.empty() && weights.size() != call.inputs.size())) {
    return call.not_modelled("mode " + std::to_string(mode) + " with " +
                             std::to_string(weights.size()) + " weights");
  }
  if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1.0; })) {
    return sum_of_all(call);
  }
  std::vector<Array> scaled(call.inputs.size());
  std::vector<const Array*> inputs;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    OPDRIFT_TRY(const Array* x, call.need(i, "x"));
    scaled[i] = *x;
    for (double& value : scaled[i].values) {
      value *= weights[i];
    }
    inputs.push_back(&scaled[i]);
  }
  return sum_of_all(Call{call.op, inputs, {}, call.limits});
}

// Partial sums of three and more terms may be larger than the result.
Result<Terms> sum_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  Terms terms;
  const bool mean = call.op.type == "Mean";
  const auto count = static_cast<double>(call.inputs.size());
  terms.n = count;
  if (call.inputs.size() < 3) {
    return terms;
  }
  terms.a2.assign(y.size(), 0.0);
  for (const Array* x : call.inputs) {
    if (x == nullptr || x->rank() > y.rank()) {
      return call.not_modelled("an input is missing");
    }
    double* out = terms.a2.data();
    walk<1>(y.shape, {broadcast_strides(x->shape, y.shape)}, [&](const Row<1>& row) {
      const double* a = x->values.data() + row.at[0];
      for (std::size_t i = 0; i < row.length; ++i, a += row.step[0]) {
        *out++ += *a * *a / (mean ? count * count : 1.0);
      }
    });
  }
  return terms;
}

Result<Outputs> where(const Call& call) {
  OPDRIFT_TRY(const Array* condition, call.need(0, "condition"));
  OPDRIFT_TRY(const Array* yes, call.need(1, "X"));
  OPDRIFT_TRY(const Array* no, call.need(2, "Y"));
  OPDRIFT_TRY(const tensor::Shape pair, broadcast_shape(yes->shape, no->shape));
  OPDRIFT_TRY(const tensor::Shape shape, broadcast_shape(condition->shape, pair));
  OPDRIFT_TRY(Array y, call.make(shape, yes->dtype));
  double* out = y.values.data();
  const std::array<Strides, 3> strides = {broadcast_strides(condition->shape, shape),
                                          broadcast_strides(yes->shape, shape),
                                          broadcast_strides(no->shape, shape)};
  walk<3>(shape, strides, [&](const Row<3>& row) {
    for (std::size_t i = 0; i < row.length; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      const bool chosen =
          condition->values[static_cast<std::size_t>(row.at[0] + step * row.step[0])] != 0.0;
      const Array& from = chosen ? *yes : *no;
      const std::size_t side = chosen ? 1 : 2;
      *out++ = from.values[static_cast<std::size_t>(row.at[side] + step * row.step[side])];
    }
  });
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
