#include "opdrift/replay/replay.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::replay {

namespace {

Status check_array(const Call& call, const Array* array, const char* what, std::size_t index) {
  if (array == nullptr) {
    return Unit{};
  }
  std::uint64_t spanned = 1;
  for (const std::uint64_t extent : array->shape) {
    spanned = saturating_product(spanned, std::max<std::uint64_t>(extent, 1));
  }
  if (array->rank() > kMaxRank || spanned > call.limits.max_elements) {
    return Error{ErrorCode::limit, "operator not modelled: " + call.op.type + " \"" + call.op.name +
                                       "\": " + what + " " + std::to_string(index) + " of shape " +
                                       tensor::to_string(array->shape) + " is too large"};
  }
  if (count_of(array->shape) != array->size()) {
    return call.not_modelled(std::string(what) + " " + std::to_string(index) + ": expected " +
                             std::to_string(count_of(array->shape)) + " values, found " +
                             std::to_string(array->size()));
  }
  return Unit{};
}

Status check_call(const OperatorKind& kind, const Call& call) {
  if (kind.evaluate == nullptr) {
    return call.not_modelled("its result is random");
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    OPDRIFT_CHECK_OK(check_array(call, call.inputs[i], "input", i));
  }
  for (std::size_t i = 0; i < call.deltas.size(); ++i) {
    OPDRIFT_CHECK_OK(check_array(call, call.deltas[i], "delta", i));
  }
  return Unit{};
}

// An allocation that fails ends this operator, not the run.
template <typename Function>
auto guarded(const Call& call, Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "operator not modelled: " + call.op.type + " \"" +
                                               call.op.name + "\": not enough memory"};
  }
}

std::uint64_t product_of(const tensor::Shape& shape, std::size_t first) {
  return first >= shape.size()
             ? 1
             : std::max<std::uint64_t>(
                   1, count_of({shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()}));
}

// Multiply-adds per output element, judged by the family: exact for weighted kinds, the ratio of
// input to output elements for the others.
std::uint64_t reduction_estimate(const OperatorKind& kind,
                                 std::span<const tensor::Shape* const> inputs,
                                 std::uint64_t outputs) {
  const auto shape = [&](std::size_t i) {
    return i < inputs.size() && inputs[i] != nullptr ? *inputs[i] : tensor::Shape{};
  };
  if (kind.evaluate == conv_transpose || kind.evaluate == transposed_by_size) {
    // Every input element meets every output channel of its group under every tap. The size of the
    // result may come first.
    const std::size_t x = shape(0).size() < 3 ? 1 : 0;
    return std::max<std::uint64_t>(
        1, saturating_product(count_of(shape(x)), product_of(shape(x + 1), 1)) /
               std::max<std::uint64_t>(1, outputs));
  }
  if (kind.family == Family::convolution) {
    return product_of(shape(1), 1);
  }
  if (kind.family == Family::recurrent) {
    return product_of(shape(1), 1) + product_of(shape(2), 1);
  }
  if (kind.family == Family::dense) {
    const std::uint64_t left = count_of(shape(0));
    const std::uint64_t right = std::max<std::uint64_t>(1, count_of(shape(1)));
    // left * right / outputs = k^2 for plain matrices; batches only make it larger.
    std::uint64_t k = 1;
    const std::uint64_t square =
        saturating_product(left, right) / std::max<std::uint64_t>(1, outputs);
    while (k < (std::uint64_t{1} << 31) && k * k < square) {
      k *= 2;
    }
    return std::min(k, std::max(left, right));
  }
  if (kind.family == Family::fused && inputs.size() > 1) {
    return product_of(shape(1), 1);
  }
  return std::max<std::uint64_t>(1, count_of(shape(0)) / std::max<std::uint64_t>(1, outputs));
}

}  // namespace

Result<Array> load(const tensor::View& view, const Limits& limits) {
  const tensor::DType dtype = view.tensor.desc.dtype;
  if (!tensor::info(dtype).decodable || tensor::info(dtype).kind == tensor::DTypeKind::complex) {
    return Error{ErrorCode::unsupported_dtype,
                 "expected numbers, found " + std::string(tensor::name_of(dtype))};
  }
  OPDRIFT_TRY(Array array, make_array(view.shape(), limits, dtype));
  tensor::TileReader reader(view);
  for (std::uint64_t tile = 0; tile < reader.tile_count(); ++tile) {
    for (const tensor::Segment& segment : reader.read(tile)) {
      tensor::decode_to_double(dtype, segment.data, 0, segment.count,
                               array.values.data() + segment.first);
    }
  }
  return array;
}

Result<Outputs> evaluate(const OperatorKind& kind, const Call& call) {
  OPDRIFT_CHECK_OK(check_call(kind, call));
  return guarded(call, [&]() -> Result<Outputs> { return kind.evaluate(call); });
}

Result<Sample> evaluate_at(const OperatorKind& kind, const Call& call, const tensor::Shape& output,
                           std::span<const std::uint64_t> positions, bool with_terms) {
  OPDRIFT_CHECK_OK(check_call(kind, call));
  if (!kind.weighted()) {
    return call.not_modelled("it has no weights to sample");
  }
  const std::uint64_t count = count_of(output);
  if (std::any_of(positions.begin(), positions.end(),
                  [count](std::uint64_t position) { return position >= count; })) {
    return Error{ErrorCode::out_of_range,
                 "expected positions below " + std::to_string(count) + ", found one beyond"};
  }
  return guarded(call,
                 [&]() -> Result<Sample> { return kind.evaluate_at(call, positions, with_terms); });
}

Result<Terms> terms(const OperatorKind& kind, const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_CHECK_OK(check_call(kind, call));
  OPDRIFT_CHECK_OK(check_array(call, &y, "output", index));
  if (kind.terms == nullptr) {
    return Terms{};
  }
  OPDRIFT_TRY(Terms found,
              guarded(call, [&]() -> Result<Terms> { return kind.terms(call, index, y); }));
  for (const std::vector<double>* list : {&found.a2, &found.weights, &found.extra}) {
    if (!list->empty() && list->size() != y.size()) {
      return call.not_modelled("output " + std::to_string(index) + " does not fit its terms");
    }
  }
  return found;
}

Result<std::vector<double>> replayed_weight_variance(const OperatorKind& kind, const Call& call,
                                                     std::size_t index, const Array& y) {
  OPDRIFT_CHECK_OK(check_call(kind, call));
  std::vector<const Array*> inputs(call.inputs.begin(), call.inputs.end());
  std::vector<Array> narrowed(inputs.size());
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array* delta = call.delta(i);
    if (delta == nullptr || inputs[i] == nullptr || delta->size() != inputs[i]->size()) {
      continue;
    }
    narrowed[i] = *inputs[i];
    for (std::size_t at = 0; at < delta->size(); ++at) {
      narrowed[i].values[at] += delta->values[at];
    }
    inputs[i] = &narrowed[i];
    any = true;
  }
  std::vector<double> variance;
  if (!any) {
    return variance;
  }
  OPDRIFT_TRY(const Outputs outputs, evaluate(kind, Call{call.op, inputs, {}, call.limits}));
  if (index >= outputs.size() || outputs[index].size() != y.size()) {
    return call.not_modelled("output " + std::to_string(index) + " does not fit");
  }
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double difference = outputs[index].values[at] - y.values[at];
    variance.push_back(difference * difference);
  }
  return variance;
}

Result<std::vector<double>> selected_values(const OperatorKind& kind, const Call& call,
                                            const Array& positions) {
  OPDRIFT_CHECK_OK(check_call(kind, call));
  OPDRIFT_CHECK_OK(check_array(call, &positions, "positions", 0));
  const bool best = kind.evaluate == arg_max || kind.evaluate == arg_min ||
                    kind.evaluate == arg_max_with_value || kind.evaluate == arg_min_with_value;
  if (!best && kind.evaluate != top_k && kind.evaluate != sort) {
    return call.not_modelled("its result is no list of positions along an axis");
  }
  return guarded(call, [&]() -> Result<std::vector<double>> {
    return selected_values(call, best, positions);
  });
}

Cost estimate(const OperatorKind& kind, std::span<const tensor::Shape* const> inputs,
              std::span<const tensor::Shape> outputs) {
  Cost cost;
  std::uint64_t elements = 0;
  for (const tensor::Shape* shape : inputs) {
    elements += shape == nullptr ? 0 : std::min(count_of(*shape), std::uint64_t{1} << 58);
  }
  std::uint64_t results = 0;
  for (const tensor::Shape& shape : outputs) {
    results += std::min(count_of(shape), std::uint64_t{1} << 58);
  }
  const std::uint64_t first = outputs.empty() ? 0 : count_of(outputs.front());
  cost.reduction = reduction_estimate(kind, inputs, first);
  cost.multiply_adds = saturating_product(first, cost.reduction);
  // Inputs and their squares; the output and up to three lists of terms.
  const bool squares = kind.weighted();
  cost.bytes = saturating_product(8, saturating_product(squares ? 2 : 1, elements));
  const std::uint64_t made = saturating_product(8, saturating_product(4, results));
  cost.bytes = made > ~cost.bytes ? ~std::uint64_t{0} : cost.bytes + made;
  return cost;
}

}  // namespace opdrift::replay
