#include <algorithm>

#include "opdrift/replay/kinds/affine.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// MatMul, Gemm and Linear: y = activation(alpha * A B + beta * C), C broadcast to y.

namespace opdrift::replay {

namespace {

Status check_addend(const Call& call, const Affine& affine) {
  if (affine.addend == nullptr) {
    return Unit{};
  }
  OPDRIFT_TRY(const tensor::Shape wide,
              broadcast_shape(affine.addend->shape, affine.product.shape));
  if (wide != affine.product.shape) {
    return call.not_modelled("the addend is larger than the product");
  }
  return Unit{};
}

// An operand whose rows stand before its batches, seen with the batches in front.
struct RowsFirst {
  Array outline;  ///< shape only
  Strides strides;
};

RowsFirst rows_first(const Array& array) {
  RowsFirst moved{Array{array.shape, {}, array.dtype}, strides_of(array.shape)};
  const auto turn = [](auto& axes) { std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1); };
  turn(moved.outline.shape);
  turn(moved.strides);
  return moved;
}

// The distances of a planned operand, whose array is the outline, in the array itself.
void lay_out(const Array& array, const RowsFirst& moved, bool transposed, bool left,
             Operand& operand) {
  const std::size_t axes = moved.strides.size() - 2;
  const std::size_t missing = operand.batch.size() - axes;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    operand.batch[axis + missing] = moved.outline.shape[axis] == 1 ? 0 : moved.strides[axis];
  }
  operand.array = &array;
  operand.free = moved.strides[axes + (transposed == left ? 1 : 0)];
  operand.reduced = moved.strides[axes + (transposed == left ? 0 : 1)];
}

// transBatchA and transBatchB of FusedMatMul: the first axis moves behind the batch axes.
Result<Product> plan_rows_first(const Call& call, const Array& left, const Array& right,
                                bool transpose_left, bool transpose_right) {
  if (left.rank() < 3 || right.rank() < 3) {
    return call.not_modelled("transposed batch axes of a matrix");
  }
  const bool turn_left = call.integer({"transBatchA"}, 0) != 0;
  const bool turn_right = call.integer({"transBatchB"}, 0) != 0;
  const RowsFirst a = rows_first(left);
  const RowsFirst b = rows_first(right);
  OPDRIFT_TRY(Product product,
              plan_matmul(call, turn_left ? a.outline : left, turn_right ? b.outline : right,
                          transpose_left, transpose_right));
  if (turn_left) {
    lay_out(left, a, transpose_left, true, product.left);
  }
  if (turn_right) {
    lay_out(right, b, transpose_right, false, product.right);
  }
  return product;
}

}  // namespace

Result<Affine> plan_matmul_kind(const Call& call) {
  OPDRIFT_TRY(const Array* left, call.need(0, "A"));
  OPDRIFT_TRY(const Array* right, call.need(1, "B"));
  const bool transpose_left = call.integer({"transA", "transpose_x1", "adj_x1"}, 0) != 0;
  const bool transpose_right = call.integer({"transB", "transpose_x2", "adj_x2"}, 0) != 0;
  Affine affine;
  if (call.integer({"transBatchA"}, 0) != 0 || call.integer({"transBatchB"}, 0) != 0) {
    OPDRIFT_TRY(affine.product,
                plan_rows_first(call, *left, *right, transpose_left, transpose_right));
  } else {
    OPDRIFT_TRY(affine.product, plan_matmul(call, *left, *right, transpose_left, transpose_right));
  }
  affine.product.scale = call.real({"alpha"}, 1.0);
  affine.addend = call.input(2);
  OPDRIFT_TRY(affine.activation, fused_activation(call));
  OPDRIFT_CHECK_OK(check_addend(call, affine));
  return affine;
}

Result<Affine> plan_gemm_kind(const Call& call) {
  OPDRIFT_TRY(Affine affine, plan_matmul_kind(call));
  if (affine.product.shape.size() != 2 || affine.product.left.array->rank() != 2) {
    return call.not_modelled("expected matrices");
  }
  affine.beta = call.real({"beta"}, 1.0);
  return affine;
}

// x W^T + b, as ATen and Ascend's FullyConnection have it.
Result<Affine> plan_linear_kind(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "weight"));
  Affine affine;
  affine.addend = call.input(2);
  if (w->rank() != 2 || x->rank() == 0) {
    return call.not_modelled("expected a weight matrix");
  }
  OPDRIFT_TRY(affine.product, plan_matmul(call, *x, *w, false, true));
  OPDRIFT_CHECK_OK(check_addend(call, affine));
  return affine;
}

// ATen addmm and baddbmm: beta * input + alpha * A B.
Result<Affine> plan_added_kind(const Call& call) {
  OPDRIFT_TRY(const Array* addend, call.need(0, "input"));
  OPDRIFT_TRY(const Array* left, call.need(1, "mat1"));
  OPDRIFT_TRY(const Array* right, call.need(2, "mat2"));
  Affine affine;
  OPDRIFT_TRY(affine.product, plan_matmul(call, *left, *right, false, false));
  affine.product.scale = call.real({"alpha"}, 1.0);
  affine.beta = call.real({"beta"}, 1.0);
  affine.addend = addend;
  affine.left_index = 1;
  affine.right_index = 2;
  OPDRIFT_CHECK_OK(check_addend(call, affine));
  return affine;
}

namespace {

// beta * C stretched over the whole result.
std::vector<double> stretched_addend(const Affine& affine) {
  std::vector<double> values(count_of(affine.product.shape));
  copy_strided(affine.addend->values.data(), 0, affine.product.shape,
               broadcast_strides(affine.addend->shape, affine.product.shape), values.data());
  for (double& value : values) {
    value *= affine.beta;
  }
  return values;
}

double addend_at(const Affine& affine, std::uint64_t position) {
  const tensor::Shape& shape = affine.product.shape;
  const Strides strides = broadcast_strides(affine.addend->shape, shape);
  std::int64_t at = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at += static_cast<std::int64_t>(position % shape[axis]) * strides[axis];
    position /= shape[axis];
  }
  return affine.beta * affine.addend->values[static_cast<std::size_t>(at)];
}

Result<Outputs> run(const Call& call, const Affine& affine) {
  OPDRIFT_TRY(Array y, run_product(call, affine.product));
  if (affine.addend != nullptr) {
    const std::vector<double> addend = stretched_addend(affine);
    std::transform(y.values.begin(), y.values.end(), addend.begin(), y.values.begin(),
                   [](double value, double more) { return value + more; });
  }
  if (affine.activation.function != nullptr) {
    std::transform(y.values.begin(), y.values.end(), y.values.begin(), affine.activation);
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

Result<Sample> run_at(const Call& call, const Affine& affine,
                      std::span<const std::uint64_t> positions, bool with_terms) {
  OPDRIFT_CHECK_OK(call.check_work(positions.size(), affine.product.k));
  Sample sample;
  sample.values = run_product_at(affine.product, positions);
  if (with_terms) {
    sample.terms = product_terms_at(affine.product, call.delta(affine.left_index),
                                    call.delta(affine.right_index), positions);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double more = affine.addend == nullptr ? 0.0 : addend_at(affine, positions[i]);
    sample.values[i] = affine.activation(sample.values[i] + more);
    if (with_terms && affine.addend != nullptr) {
      sample.terms.extra.push_back(more * more);
    }
  }
  return sample;
}

Result<Terms> terms_of(const Call& call, const Affine& affine) {
  OPDRIFT_TRY(Terms terms, product_terms(call, affine.product, call.delta(affine.left_index),
                                         call.delta(affine.right_index)));
  if (affine.addend != nullptr) {
    terms.extra = stretched_addend(affine);
    for (double& value : terms.extra) {
      value *= value;
    }
  }
  return terms;
}

}  // namespace

Result<Outputs> matmul(const Call& call) {
  OPDRIFT_TRY(const Affine affine, plan_matmul_kind(call));
  return run(call, affine);
}
Result<Sample> matmul_at(const Call& call, std::span<const std::uint64_t> positions,
                         bool with_terms) {
  OPDRIFT_TRY(const Affine affine, plan_matmul_kind(call));
  return run_at(call, affine, positions, with_terms);
}
Result<Terms> matmul_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Affine affine, plan_matmul_kind(call));
  return terms_of(call, affine);
}

Result<Outputs> gemm(const Call& call) {
  OPDRIFT_TRY(const Affine affine, plan_gemm_kind(call));
  return run(call, affine);
}
Result<Sample> gemm_at(const Call& call, std::span<const std::uint64_t> positions,
                       bool with_terms) {
  OPDRIFT_TRY(const Affine affine, plan_gemm_kind(call));
  return run_at(call, affine, positions, with_terms);
}
Result<Terms> gemm_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Affine affine, plan_gemm_kind(call));
  return terms_of(call, affine);
}

Result<Outputs> linear(const Call& call) {
  OPDRIFT_TRY(const Affine affine, plan_linear_kind(call));
  return run(call, affine);
}
Result<Sample> linear_at(const Call& call, std::span<const std::uint64_t> positions,
                         bool with_terms) {
  OPDRIFT_TRY(const Affine affine, plan_linear_kind(call));
  return run_at(call, affine, positions, with_terms);
}
Result<Terms> linear_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Affine affine, plan_linear_kind(call));
  return terms_of(call, affine);
}

Result<Outputs> added_matmul(const Call& call) {
  OPDRIFT_TRY(const Affine affine, plan_added_kind(call));
  return run(call, affine);
}
Result<Sample> added_matmul_at(const Call& call, std::span<const std::uint64_t> positions,
                               bool with_terms) {
  OPDRIFT_TRY(const Affine affine, plan_added_kind(call));
  return run_at(call, affine, positions, with_terms);
}
Result<Terms> added_matmul_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Affine affine, plan_added_kind(call));
  return terms_of(call, affine);
}

}  // namespace opdrift::replay
