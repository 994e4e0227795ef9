#include <algorithm>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/ascend/scales.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Products of codes as Ascend IR has them.
//   QuantBatchMatmulV3        (x_1 x_2 + bias) scale pertoken_scale; a bias that is no integer is
//                             added at the end. Integers add up exactly.
//   WeightQuantBatchMatmulV2  x ((w + antiquant_offset) antiquant_scale) + bias, scales for all,
//                             per column or per group of rows of a column

namespace opdrift::replay {

namespace {

using std::size_t;

bool is_code(tensor::DType dtype) {
  return dtype == tensor::DType::i8 || dtype == tensor::DType::u8 || dtype == tensor::DType::i4;
}

/// What follows the product of codes.
struct Scaling {
  size_t rows = 1;
  size_t columns = 1;
  std::vector<double> scale;
  const Array* per_row = nullptr;
  const Array* bias = nullptr;
  bool bias_first = false;

  double factor(size_t at) const {
    const double row = per_row == nullptr ? 1.0 : per_row->values[at / columns % rows];
    return row * scale[scale.size() == 1 ? 0 : at % columns];
  }
  double more(size_t at) const { return bias == nullptr ? 0.0 : bias->values[at % columns]; }
};

Result<Scaling> scaling_of(const Call& call, const Array& product) {
  if (call.input(3) != nullptr || call.integer({"group_size"}, 0) != 0 || product.rank() < 2) {
    return call.not_modelled("offsets, or scales of groups");
  }
  OPDRIFT_TRY(const Array* scale, call.need(2, "scale"));
  Scaling scaling;
  scaling.rows = product.shape[product.rank() - 2];
  scaling.columns = product.shape.back();
  OPDRIFT_TRY(scaling.scale, unpacked_scales(call, *scale));
  scaling.bias = call.input(4);
  scaling.per_row = call.input(5);
  scaling.bias_first = scaling.bias != nullptr && is_integral(scaling.bias->dtype);
  if ((scaling.scale.size() != 1 && scaling.scale.size() != scaling.columns) ||
      (scaling.bias != nullptr && scaling.bias->size() != scaling.columns) ||
      (scaling.per_row != nullptr && scaling.per_row->size() != scaling.rows)) {
    return call.not_modelled("scales or biases do not fit the product");
  }
  return scaling;
}

}  // namespace

Result<Outputs> quantised_product(const Call& call) {
  OPDRIFT_TRY(const Array* left, call.need(0, "x1"));
  OPDRIFT_TRY(const Array* right, call.need(1, "x2"));
  // dtype 2: codes come out as well, with an offset of their own.
  if (!is_code(left->dtype) || !is_code(right->dtype) || call.integer({"dtype"}, 1) == 2) {
    return call.not_modelled("operands that are no bytes, or a result of codes");
  }
  Rewritten plain(call, "MatMul");
  plain.take(0).take(1).integer("transA", call.integer({"transpose_x1"}, 0));
  plain.integer("transB", call.integer({"transpose_x2"}, 0));
  OPDRIFT_TRY(Outputs outputs, matmul(plain.call()));
  Array& y = outputs.front();
  OPDRIFT_TRY(const Scaling scaling, scaling_of(call, y));
  y.dtype = tensor::DType::f32;
  for (size_t at = 0; at < y.size(); ++at) {
    const double first = scaling.bias_first ? scaling.more(at) : 0.0;
    const double last = scaling.bias_first ? 0.0 : scaling.more(at);
    y.values[at] = (y.values[at] + first) * scaling.factor(at) + last;
  }
  return outputs;
}

Result<Terms> quantised_product_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Scaling scaling, scaling_of(call, y));
  Terms terms;
  if (scaling.bias != nullptr && !scaling.bias_first) {
    for (size_t at = 0; at < y.size(); ++at) {
      terms.extra.push_back(scaling.more(at) * scaling.more(at));
    }
  }
  return terms;
}

namespace {

// One number per element of a weight (rows, columns), or the other way round when `transposed`.
Result<double> weight_parameter(const Call& call, const Array& parameter, size_t row, size_t column,
                                const tensor::Shape& extents, size_t group, bool transposed) {
  const size_t groups = group == 0 ? 1 : (extents[0] + group - 1) / group;
  if (parameter.size() == 1) {
    return parameter.values.front();
  }
  if (parameter.size() != groups * extents[1]) {
    return call.not_modelled("scales do not fit the weights");
  }
  const size_t own = group == 0 ? 0 : row / group;
  return parameter.values[transposed ? column * groups + own : own * extents[1] + column];
}

Result<Rewritten> rewrite_weight_quantised(const Call& call) {
  OPDRIFT_TRY(const Array* weight, call.need(1, "weight"));
  OPDRIFT_TRY(const Array* scale, call.need(2, "antiquant_scale"));
  const Array* offset = call.input(3);
  const std::int64_t length = call.integer({"antiquant_group_size"}, 0);
  if (call.input(4) != nullptr || call.input(5) != nullptr || !is_code(weight->dtype) ||
      weight->rank() != 2 || is_integral(scale->dtype) || length < 0 || length > 1 << 24) {
    return call.not_modelled("a result of codes, or weights packed otherwise");
  }
  const bool transposed = call.integer({"transpose_weight"}, 0) != 0;
  const auto group = static_cast<size_t>(length);
  tensor::Shape extents = weight->shape;
  if (transposed) {
    std::swap(extents[0], extents[1]);
  }
  Array decoded = *weight;
  decoded.dtype = tensor::DType::f32;
  for (size_t at = 0; at < decoded.size(); ++at) {
    const size_t first = at / weight->shape[1];
    const size_t second = at % weight->shape[1];
    const size_t row = transposed ? second : first;
    const size_t column = transposed ? first : second;
    double shift = 0.0;
    if (offset != nullptr) {
      OPDRIFT_TRY(shift, weight_parameter(call, *offset, row, column, extents, group, transposed));
    }
    OPDRIFT_TRY(const double factor,
                weight_parameter(call, *scale, row, column, extents, group, transposed));
    decoded.values[at] = (decoded.values[at] + shift) * factor;
  }
  Rewritten plain(call, "MatMul");
  plain.take(0).give(std::move(decoded)).take(6);
  plain.integer("transA", call.integer({"transpose_x"}, 0));
  plain.integer("transB", transposed ? 1 : 0);
  return plain;
}

}  // namespace

Result<Outputs> weight_quantised_product(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_weight_quantised(call));
  return matmul(plain.call());
}
Result<Terms> weight_quantised_product_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_weight_quantised(call));
  return matmul_terms(plain.call(), index, y);
}

}  // namespace opdrift::replay
