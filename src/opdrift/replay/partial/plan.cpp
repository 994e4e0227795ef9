#include "opdrift/replay/partial/plan.hpp"

#include <numeric>

#include "opdrift/replay/registry.hpp"

namespace opdrift::replay::partial {

Partial Request::start() const {
  Partial partial;
  partial.op = call.op;
  partial.kind = &kind;
  return partial;
}

Partial Request::start_at_all() const {
  Partial partial = start();
  partial.positions = all();
  partial.random = random.size();
  return partial;
}

std::vector<std::uint64_t> Request::all() const {
  std::vector<std::uint64_t> positions(random.begin(), random.end());
  positions.insert(positions.end(), chosen.begin(), chosen.end());
  return positions;
}

PartialInput gathered(std::size_t source, std::vector<std::uint64_t> positions) {
  PartialInput input;
  input.present = true;
  input.source = source;
  input.shape = {positions.size()};
  input.positions = std::move(positions);
  return input;
}

PartialInput whole(std::size_t source, const tensor::Shape& shape) {
  std::vector<std::uint64_t> positions(count_of(shape));
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  PartialInput input = gathered(source, std::move(positions));
  input.shape = shape;
  return input;
}

std::optional<std::vector<std::uint64_t>> broadcast_positions(Positions positions,
                                                              const tensor::Shape& shape,
                                                              const tensor::Shape& output) {
  if (shape == output) {
    return std::vector<std::uint64_t>(positions.begin(), positions.end());
  }
  const Result<tensor::Shape> wide = broadcast_shape(shape, output);
  if (!wide || *wide != output) {
    return std::nullopt;
  }
  const Strides strides = broadcast_strides(shape, output);
  std::vector<std::uint64_t> places;
  places.reserve(positions.size());
  for (std::uint64_t position : positions) {
    std::uint64_t at = 0;
    for (std::size_t axis = output.size(); axis-- > 0;) {
      at += position % output[axis] * static_cast<std::uint64_t>(strides[axis]);
      position /= output[axis];
    }
    places.push_back(at);
  }
  return places;
}

std::optional<Partial> as_identity(const Request& request, PartialInput input) {
  Partial partial = request.start_at_all();
  partial.kind = find_kind("Identity", Dialect::onnx);
  partial.op.type = "Identity";
  partial.inputs.push_back(std::move(input));
  return partial;
}

void set_axis(graph::Operator& op, const char* name, std::int64_t value, bool list) {
  for (const char* other : {"axis", "axes", "dim", "begin_norm_axis", "normalized_shape"}) {
    op.attributes.erase(other);
  }
  graph::Attribute attribute;
  attribute.kind = list ? graph::Attribute::Kind::integers : graph::Attribute::Kind::integer;
  attribute.integers = {value};
  op.attributes[name] = attribute;
}

}  // namespace opdrift::replay::partial
