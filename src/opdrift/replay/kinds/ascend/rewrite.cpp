#include "opdrift/replay/kinds/ascend/rewrite.hpp"

#include <utility>

namespace opdrift::replay {

Rewritten::Rewritten(const Call& call, std::string_view type)
    : original_(call), limits_(call.limits), exact_codes_(call.exact_codes) {
  op_.name = call.op.name;
  op_.type = type;
  op_.outputs = call.op.outputs;
}

Rewritten& Rewritten::keep_attributes() {
  op_.attributes = original_.op.attributes;
  return *this;
}

Rewritten& Rewritten::drop(Call::Names names) {
  for (const std::string_view name : names) {
    op_.attributes.erase(std::string(name));
  }
  return *this;
}

Rewritten& Rewritten::integer(const std::string& name, std::int64_t value) {
  graph::Attribute attribute;
  attribute.kind = graph::Attribute::Kind::integer;
  attribute.integers = {value};
  op_.attributes[name] = std::move(attribute);
  return *this;
}

Rewritten& Rewritten::integers(const std::string& name, std::vector<std::int64_t> values) {
  graph::Attribute attribute;
  attribute.kind = graph::Attribute::Kind::integers;
  attribute.integers = std::move(values);
  op_.attributes[name] = std::move(attribute);
  return *this;
}

Rewritten& Rewritten::real(const std::string& name, double value) {
  graph::Attribute attribute;
  attribute.kind = graph::Attribute::Kind::real;
  attribute.reals = {value};
  op_.attributes[name] = std::move(attribute);
  return *this;
}

Rewritten& Rewritten::text(const std::string& name, std::string value) {
  graph::Attribute attribute;
  attribute.kind = graph::Attribute::Kind::text;
  attribute.texts = {std::move(value)};
  op_.attributes[name] = std::move(attribute);
  return *this;
}

Rewritten& Rewritten::take(std::size_t origin) {
  add(original_.input(origin), original_.delta(origin), origin);
  return *this;
}

Rewritten& Rewritten::absent() {
  add(nullptr, nullptr, inputs_.size());
  return *this;
}

Rewritten& Rewritten::give(Array array) {
  add(keep(std::move(array)), nullptr, inputs_.size());
  return *this;
}

Rewritten& Rewritten::give(Array array, Array delta) {
  const Array* made = keep(std::move(array));
  add(made, keep(std::move(delta)), inputs_.size());
  return *this;
}

Rewritten& Rewritten::reshape(std::size_t origin, tensor::Shape shape) {
  const Array* array = original_.input(origin);
  if (array == nullptr || array->shape == shape) {
    return take(origin);
  }
  const Array* delta = original_.delta(origin);
  const auto in_shape = [&](const Array& from) {
    Array copy = from;
    copy.shape = shape;
    return keep(std::move(copy));
  };
  add(in_shape(*array),
      delta != nullptr && delta->shape == array->shape ? in_shape(*delta) : nullptr, origin);
  return *this;
}

Rewritten& Rewritten::expect(tensor::Shape shape) {
  expected_ = std::move(shape);
  return *this;
}

std::size_t Rewritten::origin(std::size_t index) const {
  return index < origins_.size() ? origins_[index] : index;
}

const Array* Rewritten::keep(Array array) {
  made_.push_back(std::move(array));
  return &made_.back();
}

void Rewritten::add(const Array* array, const Array* delta, std::size_t origin) {
  inputs_.push_back(array);
  deltas_.push_back(delta);
  origins_.push_back(origin);
}

}  // namespace opdrift::replay
