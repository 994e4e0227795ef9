#include "opdrift/replay/partial/plan.hpp"

namespace opdrift::replay::partial {

std::optional<Partial> plan_elementwise(const Request& request) {
  // Old broadcasting aligns at an axis of the whole tensor.
  if (request.call.op.opset > 0 && request.call.op.opset < 7 && request.call.has({"axis"})) {
    return std::nullopt;
  }
  Partial partial = request.start_at_all();
  for (std::size_t i = 0; i < request.call.inputs.size(); ++i) {
    const Array* array = request.call.inputs[i];
    if (array == nullptr) {
      partial.inputs.emplace_back();
    } else if (count_of(array->shape) == 1) {
      partial.inputs.push_back(whole(i, array->shape.empty() ? tensor::Shape{} : tensor::Shape{1}));
    } else if (request.call.inputs.size() == 1 &&
               count_of(array->shape) == count_of(request.output)) {
      // Dumps may give the same elements other extents.
      partial.inputs.push_back(gathered(i, partial.positions));
    } else {
      auto places = broadcast_positions(partial.positions, array->shape, request.output);
      if (!places) {
        return std::nullopt;
      }
      partial.inputs.push_back(gathered(i, std::move(*places)));
    }
  }
  return partial;
}

// x as one row of as many channels as there are elements, each with its own parameters.
std::optional<Partial> plan_batch_norm(const Request& request) {
  const tensor::Shape& shape = request.output;
  if (shape.size() < 2 || request.call.inputs.size() < 5 ||
      request.call.integer({"training_mode"}, 0) != 0) {
    return std::nullopt;
  }
  Partial partial = request.start_at_all();
  const AxisSplit split = split_at(shape, 1);
  PartialInput x = gathered(0, partial.positions);
  x.shape = {1, partial.positions.size()};
  partial.inputs.push_back(std::move(x));
  std::vector<std::uint64_t> channels;
  for (const std::uint64_t position : partial.positions) {
    channels.push_back(position / split.inner % split.extent);
  }
  for (std::size_t i = 1; i < 5; ++i) {
    const Array* array = request.call.inputs[i];
    if (array == nullptr || count_of(array->shape) != split.extent) {
      return std::nullopt;
    }
    partial.inputs.push_back(gathered(i, channels));
  }
  return partial;
}

}  // namespace opdrift::replay::partial
