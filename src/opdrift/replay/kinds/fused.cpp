#include <algorithm>

#include "opdrift/replay/kinds/kinds.hpp"

// Operators a runtime fused from several others: compositions of the ordinary kinds.

namespace opdrift::replay {

namespace {

using Inputs = std::vector<const Array*>;

Result<Array> apply(const Call& call, EvaluateFunction* function, const Inputs& inputs) {
  OPDRIFT_TRY(Outputs outputs, function(Call{call.op, inputs, {}, call.limits}));
  return std::move(outputs.front());
}

Result<Outputs> after_bias(const Call& call, EvaluateFunction* function) {
  OPDRIFT_TRY(const Array* x, call.need(0, "A"));
  Array sum = *x;
  if (const Array* bias = call.input(1); bias != nullptr) {
    OPDRIFT_TRY(sum, apply(call, add, {x, bias}));
  }
  return function(Call{call.op, Inputs{&sum}, {}, call.limits});
}

// input + skip (+ bias), the addends checked to be no larger than the input.
Result<Array> skip_sum(const Call& call, std::size_t bias_index) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Array* skip, call.need(1, "skip"));
  OPDRIFT_TRY(Array sum, apply(call, add, {x, skip}));
  if (const Array* bias = call.input(bias_index); bias != nullptr) {
    OPDRIFT_TRY(sum, apply(call, add, {&sum, bias}));
  }
  if (sum.shape != x->shape) {
    return call.not_modelled("skip or bias is larger than the input");
  }
  return sum;
}

Result<Outputs> skip_norm(const Call& call, bool centred) {
  OPDRIFT_TRY(Array sum, skip_sum(call, centred ? 4 : 3));
  const Inputs inputs = {&sum, call.input(2), centred ? call.input(3) : nullptr};
  OPDRIFT_TRY(Outputs outputs,
              (centred ? layer_norm : rms_norm)(Call{call.op, inputs, {}, call.limits}));
  outputs.resize(centred ? 3 : 1);
  outputs.resize(3);
  outputs.push_back(std::move(sum));
  return outputs;
}

Result<Terms> skip_norm_terms_of(const Call& call, std::size_t index, const Array& y,
                                 bool centred) {
  if (index != 0) {
    return Terms{};
  }
  OPDRIFT_TRY(const Array sum, skip_sum(call, centred ? 4 : 3));
  const Inputs inputs = {&sum, call.input(2), centred ? call.input(3) : nullptr};
  return (centred ? layer_norm_terms : rms_norm_terms)(Call{call.op, inputs, {}, call.limits},
                                                       index, y);
}

struct Halves {
  Array first;
  Array second;
};

Result<Halves> halves_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"dim", "axis"}, -1), x->rank()));
  const AxisSplit split = split_at(x->shape, axis);
  if (split.extent % 2 != 0) {
    return call.not_modelled("the axis does not divide into halves");
  }
  Halves halves;
  halves.first.dtype = halves.second.dtype = x->dtype;
  halves.first.shape = x->shape;
  halves.first.shape[axis] = split.extent / 2;
  halves.second.shape = halves.first.shape;
  const std::size_t run = split.extent / 2 * split.inner;
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    const auto from = x->values.begin() + static_cast<std::ptrdiff_t>(2 * outer * run);
    const auto middle = from + static_cast<std::ptrdiff_t>(run);
    halves.first.values.insert(halves.first.values.end(), from, middle);
    halves.second.values.insert(halves.second.values.end(), middle,
                                middle + static_cast<std::ptrdiff_t>(run));
  }
  return halves;
}

}  // namespace

Result<Outputs> bias_gelu(const Call& call) {
  return after_bias(call, gelu);
}
Result<Outputs> fast_gelu(const Call& call) {
  return after_bias(call, gelu_tanh);
}

Result<Outputs> skip_layer_norm(const Call& call) {
  return skip_norm(call, true);
}
Result<Terms> skip_layer_norm_terms(const Call& call, std::size_t index, const Array& y) {
  return skip_norm_terms_of(call, index, y, true);
}
Result<Outputs> skip_rms_norm(const Call& call) {
  return skip_norm(call, false);
}
Result<Terms> skip_rms_norm_terms(const Call& call, std::size_t index, const Array& y) {
  return skip_norm_terms_of(call, index, y, false);
}

namespace {

// Word, position and segment embeddings, added; positions count up when they are not given.
Result<Array> embedded(const Call& call) {
  OPDRIFT_TRY(const Array* ids, call.need(0, "input_ids"));
  OPDRIFT_TRY(const Array* words, call.need(2, "word_embedding"));
  OPDRIFT_TRY(const Array* places, call.need(3, "position_embedding"));
  if (ids->rank() != 2) {
    return call.not_modelled("expected batch and position axes");
  }
  Array counted = *ids;
  for (std::size_t at = 0; at < counted.size(); ++at) {
    counted.values[at] = static_cast<double>(at % ids->shape[1]);
  }
  const Array* positions = call.input(8) != nullptr ? call.input(8) : &counted;
  // The embedding kinds take no axis; the operator's own attributes must not lend them one.
  graph::Operator lookup;
  lookup.type = "Gather";
  lookup.name = call.op.name;
  const auto look_up = [&](const Array* table, const Array* at) {
    return apply(Call{lookup, {}, {}, call.limits}, gather, {table, at});
  };
  OPDRIFT_TRY(Array sum, look_up(words, ids));
  OPDRIFT_TRY(const Array place, look_up(places, positions));
  OPDRIFT_TRY(sum, apply(call, add, {&sum, &place}));
  if (call.input(1) != nullptr && call.input(4) != nullptr) {
    OPDRIFT_TRY(const Array segment, look_up(call.input(4), call.input(1)));
    OPDRIFT_TRY(sum, apply(call, add, {&sum, &segment}));
  }
  return sum;
}

// How many words of every batch the mask keeps; 0 without a mask.
Result<Array> counted_words(const Call& call) {
  OPDRIFT_TRY(const Array* ids, call.need(0, "input_ids"));
  OPDRIFT_TRY(Array counts, call.make({ids->shape[0]}, tensor::DType::i32));
  const Array* mask = call.input(7);
  if (mask == nullptr || mask->shape != ids->shape) {
    return counts;
  }
  for (std::size_t at = 0; at < mask->size(); ++at) {
    counts.values[at / ids->shape[1]] += mask->values[at] == 1.0 ? 1.0 : 0.0;
  }
  return counts;
}

}  // namespace

Result<Outputs> embed_layer_norm(const Call& call) {
  OPDRIFT_TRY(const Array sum, embedded(call));
  const Inputs inputs = {&sum, call.input(5), call.input(6)};
  OPDRIFT_TRY(Outputs outputs, layer_norm(Call{call.op, inputs, {}, call.limits}));
  outputs.resize(1);
  OPDRIFT_TRY(Array counts, counted_words(call));
  outputs.push_back(std::move(counts));
  outputs.push_back(sum);
  return outputs;
}
Result<Terms> embed_layer_norm_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Array sum, embedded(call));
  const Inputs inputs = {&sum, call.input(5), call.input(6)};
  if (index != 0) {
    return Terms{};
  }
  return layer_norm_terms(Call{call.op, inputs, {}, call.limits}, index, y);
}

Result<Outputs> swiglu(const Call& call) {
  OPDRIFT_TRY(const Halves halves, halves_of(call));
  OPDRIFT_TRY(const Array gate, apply(call, swish, {&halves.first}));
  return multiply_elements(Call{call.op, Inputs{&gate, &halves.second}, {}, call.limits});
}

// (x + b) in halves: the first times Gelu of the second.
Result<Outputs> bias_split_gelu(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* bias, call.need(1, "bias"));
  OPDRIFT_TRY(const Array sum, apply(call, add, {x, bias}));
  OPDRIFT_TRY(const Halves halves, halves_of(Call{call.op, Inputs{&sum}, {}, call.limits}));
  OPDRIFT_TRY(const Array gate, apply(call, gelu, {&halves.second}));
  return multiply_elements(Call{call.op, Inputs{&halves.first, &gate}, {}, call.limits});
}

Result<Outputs> glu(const Call& call) {
  OPDRIFT_TRY(const Halves halves, halves_of(call));
  OPDRIFT_TRY(const Array gate, apply(call, sigmoid, {&halves.second}));
  return multiply_elements(Call{call.op, Inputs{&halves.first, &gate}, {}, call.limits});
}

}  // namespace opdrift::replay
