#include "opdrift/pipeline/judge/api_arguments.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/pipeline/judge/api_signatures.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::pipeline {

namespace {

using graph::Attribute;
using Integers = std::vector<std::int64_t>;

constexpr std::size_t kMostInputs = 4096;
constexpr std::int64_t kWidestKernel = 1 << 12;

Error refusal(const std::string& why) {
  return Error{ErrorCode::unsupported, why};
}

/// One word of a signature, taken apart.
struct Word {
  std::vector<std::string_view> names;
  std::string_view attribute;  ///< empty: an input
  std::string_view fallback;
  std::optional<std::size_t> input;
  bool made = false;      ///< "+": no argument
  bool all = false;       ///< "*"
  bool required = false;  ///< "!"
  bool ignored = false;   ///< ":-"

  bool is_called(std::string_view key) const {
    return std::find(names.begin(), names.end(), key) != names.end();
  }
};

Word parse_word(std::string_view text) {
  Word word;
  word.made = text.starts_with('+');
  text.remove_prefix(word.made ? 1 : 0);
  if (const std::size_t equal = text.find('='); equal != std::string_view::npos) {
    word.fallback = text.substr(equal + 1);
    text = text.substr(0, equal);
  }
  word.all = text.ends_with('*');
  word.required = text.ends_with('!');
  text.remove_suffix(word.all || word.required ? 1 : 0);
  if (word.made) {
    word.attribute = text;
    return word;
  }
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    word.attribute = text.substr(colon + 1);
    word.ignored = word.attribute == "-";
    text = text.substr(0, colon);
  } else if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    word.input = static_cast<std::size_t>(parse_u64(text.substr(at + 1)).value_or(0));
    text = text.substr(0, at);
  }
  word.names = split(text, '|');
  return word;
}

Attribute integers_attribute(Integers values) {
  Attribute attribute;
  attribute.kind = values.size() == 1 ? Attribute::Kind::integer : Attribute::Kind::integers;
  attribute.integers = std::move(values);
  return attribute;
}

Attribute text_attribute(std::string text) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::text;
  attribute.texts.push_back(std::move(text));
  return attribute;
}

Attribute number_attribute(std::string_view text) {
  if (const auto whole = parse_i64(text)) {
    return integers_attribute({*whole});
  }
  Attribute attribute;
  attribute.kind = Attribute::Kind::real;
  attribute.reals.push_back(parse_double(text).value_or(0.0));
  return attribute;
}

/// Values of the leaves, as wide as the widest of them: integers, reals or texts.
Result<Attribute> attribute_of(const std::vector<ApiLeafValue>& leaves) {
  Attribute attribute;
  bool whole = true;
  for (const ApiLeafValue& leaf : leaves) {
    if (!leaf.scalar) {
      return refusal("an argument that the replay needs as a number is a tensor");
    }
    if (!leaf.scalar->real && !leaf.scalar->integer) {
      attribute.texts.push_back(leaf.scalar->text);
      continue;
    }
    whole = whole && leaf.scalar->integer;
    attribute.reals.push_back(leaf.scalar->real
                                  ? *leaf.scalar->real
                                  : static_cast<double>(leaf.scalar->integer.value_or(0)));
    attribute.integers.push_back(leaf.scalar->integer.value_or(0));
  }
  if (!attribute.texts.empty()) {
    attribute.kind = Attribute::Kind::texts;
    attribute.reals.clear();
    attribute.integers.clear();
  } else if (whole) {
    attribute.kind = Attribute::Kind::integers;
    attribute.reals.clear();
  } else {
    attribute.kind = Attribute::Kind::reals;
    attribute.integers.clear();
  }
  return attribute;
}

Integers as_integers(const tensor::Shape& shape) {
  return {shape.begin(), shape.end()};
}

class Binder {
 public:
  explicit Binder(const ApiCallRecord& call) : call_(call) {}

  Result<BoundCall> bind() {
    if (call_.arguments.size() > kMostInputs) {
      return refusal("the call has too many arguments");
    }
    std::string_view function;
    const ApiSignature* row = find_signature(call_.prefix, function);
    if (row == nullptr) {
      return refusal("no replay knows " + std::string(function));
    }
    const std::string_view type = row->kind.empty() ? function : row->kind;
    bound_.kind = replay::find_kind(type, replay::Dialect::aten);
    if (bound_.kind == nullptr) {
      bound_.kind = replay::find_kind(type, replay::Dialect::onnx);
    }
    if (bound_.kind == nullptr) {
      return refusal("no replay knows " + std::string(type));
    }
    bound_.op.name = call_.name;
    bound_.op.type = std::string(type);
    used_.resize(call_.arguments.size());
    OPDRIFT_CHECK_OK(bind_words(split(row->arguments, ' ')));
    return std::move(bound_);
  }

 private:
  Status bind_words(const std::vector<std::string_view>& words) {
    std::size_t position = 0;
    for (const std::string_view text : words) {
      const Word word = parse_word(text);
      if (word.made) {
        OPDRIFT_CHECK_OK(make_attribute(word));
      } else if (word.all) {
        OPDRIFT_CHECK_OK(take_all(word, position));
      } else {
        OPDRIFT_CHECK_OK(take_one(word, position));
      }
      position += word.made ? 0 : 1;
    }
    return Unit{};
  }

  const ApiArgument* argument(const Word& word, std::size_t position) {
    const std::string key = std::to_string(position);
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      const ApiArgument& given = call_.arguments[i];
      if (!used_[i] && (given.key == key || word.is_called(given.key))) {
        used_[i] = true;
        return &given;
      }
    }
    return nullptr;
  }

  Status take_one(const Word& word, std::size_t position) {
    const ApiArgument* given = argument(word, position);
    if (word.ignored) {
      return Unit{};
    }
    if (!word.attribute.empty()) {
      return set_attribute(word, given == nullptr ? std::vector<ApiLeafValue>{} : given->leaves);
    }
    const std::size_t input = word.input.value_or(next_input_++);
    if (given == nullptr) {
      return Unit{};
    }
    if (given->leaves.size() != 1) {
      return refusal("the argument " + std::string(word.names.front()) + " is a list");
    }
    return set_input(input, given->leaves.front());
  }

  /// The list at this position, or everything from here on.
  Status take_all(const Word& word, std::size_t position) {
    std::vector<ApiLeafValue> leaves;
    for (;; ++position) {
      const ApiArgument* given = argument(word, position);
      if (given == nullptr) {
        break;
      }
      leaves.insert(leaves.end(), given->leaves.begin(), given->leaves.end());
      if (given->list) {
        break;
      }
    }
    if (!word.attribute.empty()) {
      return set_attribute(word, leaves);
    }
    for (const ApiLeafValue& leaf : leaves) {
      OPDRIFT_CHECK_OK(set_input(next_input_++, leaf));
    }
    return Unit{};
  }

  Status set_input(std::size_t input, const ApiLeafValue& leaf) {
    if (!leaf.tensor || input >= kMostInputs) {
      return refusal("an argument that the replay needs as a tensor is a text");
    }
    bound_.inputs.resize(std::max(bound_.inputs.size(), input + 1));
    bound_.inputs[input] = leaf.tensor->id;
    return Unit{};
  }

  Status set_attribute(const Word& word, const std::vector<ApiLeafValue>& leaves) {
    if (!leaves.empty()) {
      OPDRIFT_TRY(bound_.op.attributes[std::string(word.attribute)], attribute_of(leaves));
    } else if (word.required) {
      return refusal("the argument " + std::string(word.names.front()) + " was not recorded");
    } else if (!word.fallback.empty()) {
      bound_.op.attributes[std::string(word.attribute)] = number_attribute(word.fallback);
    }
    return Unit{};
  }

  /// The tensor among the arguments of that key or position.
  const ApiTensor* tensor_called(std::string_view key) const {
    for (const ApiArgument& given : call_.arguments) {
      if (given.key == key && given.leaves.size() == 1 && given.leaves.front().tensor) {
        return &*given.leaves.front().tensor;
      }
    }
    return nullptr;
  }

  const ApiTensor* first_input() const {
    const ApiTensor* first = tensor_called("0");
    return first != nullptr ? first : tensor_called("input");
  }

  Status make_attribute(const Word& word) {
    const std::string name(word.attribute);
    const std::string_view source = word.fallback;
    if (source == "extents" || source == "dtype" || source.starts_with("last")) {
      return from_output(name, source);
    }
    if (source == "parts") {
      return from_parts(name);
    }
    if (source == "swapped") {
      return swap_axes(name);
    }
    if (source == "weight") {
      const ApiTensor* weight = tensor_called("weight");
      if (weight != nullptr) {
        bound_.op.attributes[name] = integers_attribute(as_integers(weight->shape));
      }
      return Unit{};
    }
    if (source == "window") {
      return guess_window();
    }
    bound_.op.attributes[name] = number_attribute(source);
    return Unit{};
  }

  Status from_output(const std::string& name, std::string_view source) {
    if (call_.outputs.size() != 1) {
      return refusal("expected one output");
    }
    const ApiTensor& output = call_.outputs.front();
    if (source == "dtype") {
      bound_.op.attributes[name] = text_attribute(std::string(tensor::name_of(output.dtype)));
      return Unit{};
    }
    Integers extents = as_integers(output.shape);
    if (source != "extents") {
      const auto kept = static_cast<std::size_t>(source.back() - '0');
      if (extents.size() < kept) {
        return refusal("the output has too few axes");
      }
      extents.erase(extents.begin(), extents.end() - static_cast<std::ptrdiff_t>(kept));
    }
    Attribute attribute = integers_attribute(std::move(extents));
    attribute.kind = Attribute::Kind::integers;  // also for one axis or none
    bound_.op.attributes[name] = std::move(attribute);
    return Unit{};
  }

  /// Extents of the outputs along the axis of a split.
  Status from_parts(const std::string& name) {
    const auto dim = bound_.op.attributes.find("dim");
    std::int64_t axis = dim == bound_.op.attributes.end() || dim->second.integers.empty()
                            ? 0
                            : dim->second.integers.front();
    Integers parts;
    for (const ApiTensor& output : call_.outputs) {
      const auto rank = static_cast<std::int64_t>(output.shape.size());
      const std::int64_t place = axis < 0 ? axis + rank : axis;
      if (place < 0 || place >= rank) {
        return refusal("the axis does not exist");
      }
      parts.push_back(static_cast<std::int64_t>(output.shape[static_cast<std::size_t>(place)]));
    }
    bound_.op.attributes[name] = integers_attribute(std::move(parts));
    return Unit{};
  }

  /// The permutation that transpose(x, one, other) means.
  Status swap_axes(const std::string& name) {
    const ApiTensor* input = first_input();
    Integers axes;
    for (const ApiArgument& given : call_.arguments) {
      const bool axis = given.key != "0" && given.leaves.size() == 1 &&
                        given.leaves.front().scalar && given.leaves.front().scalar->integer;
      if (axis) {
        axes.push_back(*given.leaves.front().scalar->integer);
      }
    }
    const auto rank = static_cast<std::int64_t>(input == nullptr ? 0 : input->shape.size());
    Integers order;
    for (std::int64_t i = 0; i < rank; ++i) {
      order.push_back(i);
    }
    for (std::int64_t& axis : axes) {
      axis += axis < 0 ? rank : 0;
    }
    if (axes.size() != 2 || std::min(axes[0], axes[1]) < 0 || std::max(axes[0], axes[1]) >= rank) {
      return refusal("expected two axes");
    }
    std::swap(order[static_cast<std::size_t>(axes[0])], order[static_cast<std::size_t>(axes[1])]);
    bound_.op.attributes[name] = integers_attribute(std::move(order));
    return Unit{};
  }

  /// A module does not record its stride, padding and groups. Shapes suggest them; the self check
  /// shows where they are others.
  Status guess_window() {
    const ApiTensor* input = first_input();
    const ApiTensor* weight = tensor_called("weight");
    if (input == nullptr || weight == nullptr || call_.outputs.size() != 1 ||
        input->shape.size() < 3 || weight->shape.size() != input->shape.size() ||
        call_.outputs.front().shape.size() != input->shape.size() || weight->shape[1] == 0) {
      return refusal("shapes do not tell stride and padding");
    }
    Integers strides;
    Integers pads;
    for (std::size_t axis = 2; axis < input->shape.size(); ++axis) {
      const auto in = static_cast<std::int64_t>(input->shape[axis]);
      const auto out = static_cast<std::int64_t>(call_.outputs.front().shape[axis]);
      const auto kernel = static_cast<std::int64_t>(weight->shape[axis]);
      const std::int64_t stride = out > 0 ? std::max<std::int64_t>((in + out / 2) / out, 1) : 1;
      std::int64_t pad = 0;
      if (kernel > kWidestKernel) {
        return refusal("the kernel is too wide to guess its padding");
      }
      while (pad < kernel && (in + 2 * pad - kernel) / stride + 1 < out) {
        ++pad;
      }
      strides.push_back(stride);
      pads.push_back(pad);
    }
    bound_.op.attributes["stride"] = integers_attribute(std::move(strides));
    bound_.op.attributes["padding"] = integers_attribute(std::move(pads));
    bound_.op.attributes["groups"] =
        integers_attribute({static_cast<std::int64_t>(input->shape[1] / weight->shape[1])});
    return Unit{};
  }

  const ApiCallRecord& call_;
  BoundCall bound_;
  std::vector<bool> used_;
  std::size_t next_input_ = 0;
};

}  // namespace

bool is_module_call(std::string_view prefix) {
  return prefix.starts_with("Module.") || prefix.starts_with("Cell.");
}

Result<BoundCall> bind_arguments(const ApiCallRecord& call) {
  return Binder(call).bind();
}

}  // namespace opdrift::pipeline
