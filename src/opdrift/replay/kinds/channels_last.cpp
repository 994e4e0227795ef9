#include <algorithm>

#include "opdrift/replay/kinds/kinds.hpp"

// Kinds of com.microsoft whose channels come last: what the ordinary kind does, its axes turned.
//   GroupNorm, SkipGroupNorm   a group norm of x (+ skip + bias), and Silu where the attribute says
//   NhwcFusedConv              convolution, addend and activation; weights stay as they are
//   NhwcMaxPool                largest under a window

namespace opdrift::replay {

namespace {

/// An operator of an ordinary kind.
graph::Operator plain_operator(const Call& call, const char* type) {
  graph::Operator op;
  op.type = type;
  op.name = call.op.name;
  op.attributes = call.op.attributes;
  return op;
}

// A list of numbers laid out as `shape`, channels second, turned so that they come last.
void turn(std::vector<double>& values, const tensor::Shape& shape) {
  if (values.size() == count_of(shape)) {
    values = channels_last(Array{shape, std::move(values), tensor::DType::f32}).values;
  }
}

void turn(Terms& terms, const tensor::Shape& shape) {
  turn(terms.a2, shape);
  turn(terms.weights, shape);
  turn(terms.extra, shape);
}

/// A group norm, its input with channels second.
struct GroupNorm {
  Array sum;  ///< what is normalised, as the operator lays it out
  Array x;
  graph::Operator op;
  bool last = true;
  bool silu = false;
};

// skip has all axes, or batch and channel only (then it is the same everywhere).
Status add_skip(const Call& call, const Array& skip, GroupNorm& norm) {
  const std::size_t batches = norm.sum.shape[0];
  const std::size_t channels = norm.last ? norm.sum.shape.back() : norm.sum.shape[1];
  const bool whole = skip.shape == norm.sum.shape;
  if (!whole && skip.size() != batches * channels) {
    return call.not_modelled("the skip does not fit the input");
  }
  const std::size_t batch = norm.sum.size() / std::max<std::size_t>(batches, 1);
  const std::size_t period = norm.last ? 1 : split_at(norm.sum.shape, 1).inner;
  for (std::size_t at = 0; at < norm.sum.size(); ++at) {
    const std::size_t slot = at / batch * channels + at / period % channels;
    norm.sum.values[at] += skip.values[whole ? at : slot];
  }
  return Unit{};
}

Status add_bias(const Call& call, const Array& bias, GroupNorm& norm) {
  const std::size_t channels = norm.last ? norm.sum.shape.back() : norm.sum.shape[1];
  if (bias.size() != channels) {
    return call.not_modelled("the bias does not fit the input");
  }
  const std::size_t period = norm.last ? 1 : split_at(norm.sum.shape, 1).inner;
  for (std::size_t at = 0; at < norm.sum.size(); ++at) {
    norm.sum.values[at] += bias.values[at / period % channels];
  }
  return Unit{};
}

Result<GroupNorm> group_norm_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  if (x->rank() < 3) {
    return call.not_modelled("expected batch, space and channel");
  }
  GroupNorm norm;
  norm.sum = *x;
  norm.last = call.integer({"channels_last"}, 1) != 0;
  const std::int64_t activation = call.integer({"activation"}, 0);
  norm.silu = activation == 1;
  if (activation != 0 && activation != 1) {
    return call.not_modelled("an unknown activation");
  }
  if (const Array* skip = call.input(3); skip != nullptr) {
    OPDRIFT_CHECK_OK(add_skip(call, *skip, norm));
  }
  if (const Array* bias = call.input(4); bias != nullptr) {
    OPDRIFT_CHECK_OK(add_bias(call, *bias, norm));
  }
  norm.x = norm.last ? channels_first(norm.sum) : norm.sum;
  norm.op = plain_operator(call, "GroupNormalization");
  norm.op.attributes.erase("channels_last");
  norm.op.attributes.erase("activation");
  return norm;
}

std::vector<const Array*> norm_inputs(const Call& call, const GroupNorm& norm) {
  return {&norm.x, call.input(1), call.input(2)};
}

/// A convolution with channels second.
struct Conv {
  Array x;
  Array addend;
  graph::Operator op;
  std::vector<const Array*> inputs;
};

Status plan_conv(const Call& call, Conv& plain) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  plain.x = channels_first(*x);
  plain.op = plain_operator(call, "FusedConv");
  plain.inputs = {&plain.x, call.input(1), call.input(2)};
  if (const Array* addend = call.input(3); addend != nullptr) {
    plain.addend = channels_first(*addend);
    plain.inputs.push_back(&plain.addend);
  }
  return Unit{};
}

}  // namespace

Result<Outputs> fused_group_norm(const Call& call) {
  OPDRIFT_TRY(const GroupNorm norm, group_norm_of(call));
  const std::vector<const Array*> inputs = norm_inputs(call, norm);
  OPDRIFT_TRY(Outputs outputs, group_norm(Call{norm.op, inputs, {}, call.limits}));
  Array y = norm.last ? channels_last(outputs.front()) : std::move(outputs.front());
  if (norm.silu) {
    for (double& value : y.values) {
      value *= sigmoid_of(value);
    }
  }
  outputs = one_output(std::move(y));
  outputs.push_back(norm.sum);
  return outputs;
}

Result<Terms> fused_group_norm_terms(const Call& call, std::size_t index, const Array& y) {
  if (index != 0) {
    Terms terms;
    terms.n = 3.0;
    return terms;
  }
  OPDRIFT_TRY(const GroupNorm norm, group_norm_of(call));
  const std::vector<const Array*> inputs = norm_inputs(call, norm);
  OPDRIFT_TRY(Terms terms, group_norm_terms(Call{norm.op, inputs, {}, call.limits}, 0, norm.x));
  if (norm.last) {
    turn(terms, norm.x.shape);
  }
  // Silu is nowhere steeper than 1.1, and within 5 ulp of itself and of 1.
  for (std::size_t at = 0; norm.silu && at < terms.extra.size() && at < y.size(); ++at) {
    terms.extra[at] =
        1.21 * terms.extra[at] + 100.0 / 3.0 * y.values[at] * y.values[at] + 25.0 / 3.0;
  }
  return terms;
}

Result<Outputs> channels_last_conv(const Call& call) {
  Conv plain;
  OPDRIFT_CHECK_OK(plan_conv(call, plain));
  OPDRIFT_TRY(const Outputs outputs, conv(Call{plain.op, plain.inputs, {}, call.limits}));
  return one_output(channels_last(outputs.front()));
}

Result<Terms> channels_last_conv_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  Conv plain;
  OPDRIFT_CHECK_OK(plan_conv(call, plain));
  const Array first = channels_first(y);
  OPDRIFT_TRY(Terms terms,
              conv_terms(Call{plain.op, plain.inputs, call.deltas, call.limits}, 0, first));
  turn(terms, first.shape);
  return terms;
}

Result<Outputs> channels_last_max_pool(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const Array first = channels_first(*x);
  graph::Operator op = plain_operator(call, "MaxPool");
  op.outputs.resize(1);
  const std::vector<const Array*> inputs = {&first};
  OPDRIFT_TRY(const Outputs outputs, max_pool(Call{op, inputs, {}, call.limits}));
  return one_output(channels_last(outputs.front()));
}

}  // namespace opdrift::replay
