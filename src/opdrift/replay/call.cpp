#include "opdrift/replay/call.hpp"

namespace opdrift::replay {

namespace {

const graph::Attribute* find(const graph::Operator& op, Call::Names names) {
  for (const std::string_view name : names) {
    const auto found = op.attributes.find(std::string(name));
    if (found != op.attributes.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

}  // namespace

int Call::opset() const {
  return op.opset > 0 ? op.opset : kNewestOpset;
}

const Array* Call::input(std::size_t index) const {
  return index < inputs.size() ? inputs[index] : nullptr;
}

const Array* Call::delta(std::size_t index) const {
  return index < deltas.size() ? deltas[index] : nullptr;
}

Result<const Array*> Call::need(std::size_t index, std::string_view name) const {
  const Array* array = input(index);
  if (array == nullptr) {
    return not_modelled("input " + std::to_string(index) + " (" + std::string(name) +
                        ") is missing");
  }
  return array;
}

bool Call::has(Names names) const {
  return find(op, names) != nullptr;
}

std::int64_t Call::integer(Names names, std::int64_t fallback) const {
  const auto list = integers(names);
  return list && !list->empty() ? list->front() : fallback;
}

double Call::real(Names names, double fallback) const {
  const auto list = reals(names);
  return list && !list->empty() ? list->front() : fallback;
}

std::string Call::text(Names names, std::string_view fallback) const {
  const graph::Attribute* found = find(op, names);
  return found != nullptr && !found->texts.empty() ? found->texts.front() : std::string(fallback);
}

std::optional<std::vector<std::int64_t>> Call::integers(Names names) const {
  const graph::Attribute* found = find(op, names);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->integers.empty() && !found->reals.empty()) {
    auto converted = integers_of(vector_array(found->reals));
    return converted ? std::optional(std::move(*converted)) : std::nullopt;
  }
  return found->integers;
}

std::optional<std::vector<double>> Call::reals(Names names) const {
  const graph::Attribute* found = find(op, names);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (!found->reals.empty()) {
    return found->reals;
  }
  std::vector<double> converted;
  for (const std::int64_t value : found->integers) {
    converted.push_back(static_cast<double>(value));
  }
  return converted;
}

std::vector<std::string> Call::texts(Names names) const {
  const graph::Attribute* found = find(op, names);
  return found != nullptr ? found->texts : std::vector<std::string>{};
}

Result<std::optional<std::vector<std::int64_t>>> Call::integers_or_input(Names names,
                                                                         std::size_t index) const {
  if (const Array* array = input(index); array != nullptr) {
    OPDRIFT_TRY(auto list, integers_of(*array));
    return std::optional(std::move(list));
  }
  return integers(names);
}

Result<std::optional<double>> Call::real_or_input(Names names, std::size_t index) const {
  if (const Array* array = input(index); array != nullptr) {
    if (array->size() != 1) {
      return not_modelled("input " + std::to_string(index) + ": expected one element, found " +
                          std::to_string(array->size()));
    }
    return std::optional(array->values.front());
  }
  const auto list = reals(names);
  return list && !list->empty() ? std::optional(list->front()) : std::nullopt;
}

Error Call::not_modelled(const std::string& why) const {
  return Error{ErrorCode::unsupported,
               "operator not modelled: " + op.type + " \"" + op.name + "\": " + why};
}

Result<Array> Call::make(const tensor::Shape& shape, tensor::DType dtype) const {
  return make_array(shape, limits, dtype);
}

Status Call::check_work(std::uint64_t outputs, std::uint64_t reduction) const {
  if (saturating_product(outputs, reduction) > limits.max_multiply_adds) {
    return Error{ErrorCode::limit, "operator not modelled: " + op.type + " \"" + op.name +
                                       "\": " + std::to_string(outputs) + " outputs of " +
                                       std::to_string(reduction) + " terms are too many"};
  }
  return Unit{};
}

}  // namespace opdrift::replay
