#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// What the graph compiler makes of neighbours.
//   FusedMulAdd          x_1 x_2 + x_3
//   ConfusionTransposeD  Transpose and Reshape, in the order that transpose_first says
//   ScaledMaskedSoftmax  softmax(scale x, -10000 where the mask is set)

namespace opdrift::replay {

namespace {

constexpr double kMasked = -10000.0;

// ConfusionTranspose has the shape as an input.
Result<Rewritten> rewrite_reshape(const Call& call) {
  OPDRIFT_TRY(const auto shape, call.integers_or_input({"shape"}, 1));
  if (!shape) {
    return call.not_modelled("the shape is not known");
  }
  Rewritten plain(call, "Reshape");
  plain.integers("shape", *shape);
  return plain;
}

Result<Rewritten> rewrite_masked_scores(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  if (call.integer({"fixed_triu_mask"}, 0) != 0) {
    return call.not_modelled("a triangle that is no input");
  }
  const double scale = call.real({"scale"}, 1.0);
  Array scores = *x;
  for (double& value : scores.values) {
    value *= scale;
  }
  Rewritten plain(call, "Softmax");
  plain.integer("axis", -1);
  if (call.input(1) == nullptr) {
    plain.give(std::move(scores));
    return plain;
  }
  Rewritten masked(call, "Where");
  masked.take(1).give(scalar_array(kMasked, x->dtype)).give(std::move(scores));
  OPDRIFT_TRY(Outputs outputs, where(masked.call()));
  if (outputs.front().shape != x->shape) {
    return call.not_modelled("the mask is larger than the scores");
  }
  plain.give(std::move(outputs.front()));
  return plain;
}

}  // namespace

Result<Outputs> multiply_then_add(const Call& call) {
  Rewritten pair(call, "Mul");
  pair.take(0).take(1);
  OPDRIFT_TRY(Outputs products, multiply_elements(pair.call()));
  Rewritten sum(call, "Add");
  sum.give(std::move(products.front())).take(2);
  return add(sum.call());
}

// The product rounds at its own size.
Result<Terms> multiply_then_add_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_CHECK_OK(call.need(2, "x3"));
  Rewritten back(call, "Sub");
  back.give(y).take(2);
  OPDRIFT_TRY(const Outputs products, subtract(back.call()));
  Terms terms;
  if (products.front().size() == y.size()) {
    terms.extra = squared(products.front()).values;
  }
  return terms;
}

Result<Outputs> transpose_and_reshape(const Call& call) {
  OPDRIFT_TRY(Rewritten shaped, rewrite_reshape(call));
  const auto perm = call.integers({"perm"});
  if (!perm) {
    return call.not_modelled("the permutation is not known");
  }
  Rewritten turned(call, "Transpose");
  turned.integers("perm", *perm);
  if (call.integer({"transpose_first"}, 0) != 0) {
    turned.take(0);
    OPDRIFT_TRY(Outputs outputs, transpose(turned.call()));
    shaped.give(std::move(outputs.front()));
    return reshape(shaped.call());
  }
  shaped.take(0);
  OPDRIFT_TRY(Outputs outputs, reshape(shaped.call()));
  turned.give(std::move(outputs.front()));
  return transpose(turned.call());
}

Result<Outputs> scaled_masked_softmax(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_masked_scores(call));
  return softmax(plain.call());
}
Result<Terms> scaled_masked_softmax_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_masked_scores(call));
  return softmax_terms(plain.call(), index, y);
}

}  // namespace opdrift::replay
