#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Positions as Ascend IR gives them out.
//   NonZero, Where      one row per element that is not 0 (NonZero with `transpose`: one column)
//   ArgMaxWithValue     the position, then the value found there

namespace opdrift::replay {

Result<Outputs> non_zero_rows(const Call& call) {
  OPDRIFT_TRY(Outputs outputs, non_zero(call));
  if (call.integer({"transpose"}, 0) == 0) {
    outputs.front() = transposed(outputs.front(), {1, 0});
  }
  return outputs;
}

namespace {

Result<Outputs> position_and_value(const Call& call, EvaluateFunction* find,
                                   EvaluateFunction* reduce) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"dimension"}, 0), x->rank()));
  Rewritten place(call, "ArgMax");
  place.take(0).integer("axis", static_cast<std::int64_t>(axis));
  place.integer("keepdims", call.integer({"keep_dims"}, 0));
  OPDRIFT_TRY(Outputs outputs, find(place.call()));
  Rewritten value(call, "ReduceMax");
  value.take(0).integers("axes", {static_cast<std::int64_t>(axis)});
  value.integer("keepdims", call.integer({"keep_dims"}, 0));
  OPDRIFT_TRY(Outputs values, reduce(value.call()));
  outputs.front().dtype = tensor::DType::i32;
  outputs.push_back(std::move(values.front()));
  return outputs;
}

}  // namespace

Result<Outputs> arg_max_with_value(const Call& call) {
  return position_and_value(call, arg_max, reduce_max);
}
Result<Outputs> arg_min_with_value(const Call& call) {
  return position_and_value(call, arg_min, reduce_min);
}

}  // namespace opdrift::replay
