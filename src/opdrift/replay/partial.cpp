#include "opdrift/replay/partial.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::replay {

namespace {

using Positions = std::span<const std::uint64_t>;

constexpr std::uint64_t kLineElements = 4096;      // random lines hold about so many elements
constexpr std::uint64_t kChosenElements = 8192;    // and chosen ones
constexpr std::uint64_t kReducedElements = 65536;  // read for a reduction, in all

constexpr std::string_view kElementwise[] = {"Identity",
                                             "Relu",
                                             "Relu6",
                                             "Clip",
                                             "Max",
                                             "Min",
                                             "Neg",
                                             "Abs",
                                             "Sign",
                                             "Ceil",
                                             "Floor",
                                             "Round",
                                             "Where",
                                             "ThresholdedRelu",
                                             "Add",
                                             "Sub",
                                             "Sum",
                                             "Mean",
                                             "Eltwise",
                                             "Mul",
                                             "Square",
                                             "SquaredDifference",
                                             "LeakyRelu",
                                             "Shrink",
                                             "Div",
                                             "FloorDiv",
                                             "Mod",
                                             "Reciprocal",
                                             "Pow",
                                             "Sqrt",
                                             "Rsqrt",
                                             "Exp",
                                             "Expm1",
                                             "Log",
                                             "Log1p",
                                             "Sin",
                                             "Cos",
                                             "Tan",
                                             "Asin",
                                             "Acos",
                                             "Atan",
                                             "Atan2",
                                             "Sinh",
                                             "Cosh",
                                             "Asinh",
                                             "Acosh",
                                             "Atanh",
                                             "Sigmoid",
                                             "LogSigmoid",
                                             "HardSigmoid",
                                             "HardSigmoidSixth",
                                             "HardSwish",
                                             "Tanh",
                                             "Erf",
                                             "Gelu",
                                             "GeluTanh",
                                             "QuickGelu",
                                             "Silu",
                                             "Mish",
                                             "Softplus",
                                             "Softsign",
                                             "Elu",
                                             "Celu",
                                             "Selu",
                                             "BiasGelu",
                                             "FastGelu",
                                             "Cast"};

constexpr std::string_view kReshapes[] = {"Reshape",   "Flatten",  "Squeeze",
                                          "Unsqueeze", "Identity", "Dropout"};

constexpr std::string_view kLines[] = {"Softmax", "LogSoftmax", "LayerNormalization",
                                       "RMSNormalization"};

constexpr std::string_view kReductions[] = {"ReduceSum",         "ReduceMean",   "ReduceMax",
                                            "ReduceMin",         "ReduceL1",     "ReduceL2",
                                            "ReduceSumSquare",   "ReduceLogSum", "ReduceLogSumExp",
                                            "GlobalAveragePool", "GlobalMaxPool"};

template <std::size_t N>
bool one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::vector<std::uint64_t> joined(Positions random, Positions chosen) {
  std::vector<std::uint64_t> all(random.begin(), random.end());
  all.insert(all.end(), chosen.begin(), chosen.end());
  return all;
}

/// What every planner starts from.
struct Request {
  const OperatorKind& kind;
  const Call& call;
  const tensor::Shape& output;
  Positions random;
  Positions chosen;

  Partial start() const {
    Partial partial;
    partial.op = call.op;
    partial.kind = &kind;
    return partial;
  }
};

PartialInput gathered(std::size_t source, std::vector<std::uint64_t> positions) {
  PartialInput input;
  input.present = true;
  input.source = source;
  input.shape = {positions.size()};
  input.positions = std::move(positions);
  return input;
}

// All of a small input, as it is.
PartialInput whole(std::size_t source, const tensor::Shape& shape) {
  std::vector<std::uint64_t> positions(count_of(shape));
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  PartialInput input = gathered(source, std::move(positions));
  input.shape = shape;
  return input;
}

// Positions of a broadcast input under positions of the output.
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

std::optional<Partial> plan_elementwise(const Request& request) {
  // Old broadcasting aligns at an axis of the whole tensor.
  if (request.call.op.opset > 0 && request.call.op.opset < 7 && request.call.has({"axis"})) {
    return std::nullopt;
  }
  Partial partial = request.start();
  partial.positions = joined(request.random, request.chosen);
  partial.random = request.random.size();
  for (std::size_t i = 0; i < request.call.inputs.size(); ++i) {
    const Array* array = request.call.inputs[i];
    if (array == nullptr) {
      partial.inputs.emplace_back();
    } else if (count_of(array->shape) == 1) {
      partial.inputs.push_back(whole(i, array->shape.empty() ? tensor::Shape{} : tensor::Shape{1}));
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
  Partial partial = request.start();
  partial.positions = joined(request.random, request.chosen);
  partial.random = request.random.size();
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

void set_axis(graph::Operator& op, const char* name, std::int64_t value, bool list) {
  for (const char* other : {"axis", "axes", "dim", "begin_norm_axis", "normalized_shape"}) {
    op.attributes.erase(other);
  }
  graph::Attribute attribute;
  attribute.kind = list ? graph::Attribute::Kind::integers : graph::Attribute::Kind::integer;
  attribute.integers = {value};
  op.attributes[name] = attribute;
}

// Rows of positions, each once, at most `most` of them.
std::vector<std::uint64_t> rows_of(Positions positions, std::uint64_t length, std::uint64_t most,
                                   const std::vector<std::uint64_t>& without) {
  std::vector<std::uint64_t> rows;
  for (const std::uint64_t position : positions) {
    rows.push_back(position / length);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const auto known = [&](std::uint64_t row) {
    return std::binary_search(without.begin(), without.end(), row);
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), known), rows.end());
  // Evenly spread over what there is, so that no part of the tensor is favoured.
  std::vector<std::uint64_t> kept;
  const std::uint64_t count = std::min<std::uint64_t>(rows.size(), most);
  for (std::uint64_t i = 0; i < count; ++i) {
    kept.push_back(rows[i * rows.size() / count]);
  }
  return kept;
}

// The axis from which on a row is normalised; nothing when rows do not end with the tensor.
std::optional<std::size_t> line_axis(const Request& request, const tensor::Shape& shape) {
  const bool softmax = request.kind.family == Family::softmax;
  const bool flat = softmax && request.call.opset() < 13;
  const Result<std::size_t> axis =
      normal_axis(request.call.integer({"axis", "axes", "dim"}, flat ? 1 : -1), shape.size());
  if (!axis || request.call.has({"begin_norm_axis"}) || request.call.has({"normalized_shape"}) ||
      (softmax && !flat && *axis + 1 != shape.size())) {
    return std::nullopt;
  }
  return *axis;
}

std::optional<Partial> plan_lines(const Request& request) {
  const Array* x = request.call.input(0);
  if (x == nullptr || x->shape != request.output || x->shape.size() < 2) {
    return std::nullopt;
  }
  const std::optional<std::size_t> axis = line_axis(request, x->shape);
  if (!axis || *axis == 0) {
    return std::nullopt;
  }
  const tensor::Shape tail(x->shape.begin() + static_cast<std::ptrdiff_t>(*axis), x->shape.end());
  const std::uint64_t length = std::max<std::uint64_t>(1, count_of(tail));
  const std::uint64_t random_rows = std::max<std::uint64_t>(4, kLineElements / length);
  const std::uint64_t chosen_rows = std::max<std::uint64_t>(4, kChosenElements / length);
  const std::vector<std::uint64_t> drawn = rows_of(request.random, length, random_rows, {});
  std::vector<std::uint64_t> rows = drawn;
  const std::vector<std::uint64_t> more = rows_of(request.chosen, length, chosen_rows, drawn);
  rows.insert(rows.end(), more.begin(), more.end());
  Partial partial = request.start();
  for (const std::uint64_t row : rows) {
    for (std::uint64_t i = 0; i < length; ++i) {
      partial.positions.push_back(row * length + i);
    }
  }
  partial.random = drawn.size() * length;
  PartialInput input = gathered(0, partial.positions);
  input.shape = {rows.size(), length};
  partial.inputs.push_back(std::move(input));
  for (std::size_t i = 1; i < request.call.inputs.size(); ++i) {
    const Array* array = request.call.inputs[i];
    if (array == nullptr) {
      partial.inputs.emplace_back();
    } else if (count_of(array->shape) == length) {
      partial.inputs.push_back(whole(i, {length}));
    } else {
      return std::nullopt;
    }
  }
  set_axis(partial.op, "axis", 1, false);
  return partial;
}

// The axes that a reduction reduces, rising.
std::optional<std::vector<std::size_t>> reduced_axes(const Request& request, const Array& x) {
  const bool pool =
      request.kind.name == "GlobalAveragePool" || request.kind.name == "GlobalMaxPool";
  std::vector<std::size_t> axes(pool ? x.shape.size() - 2 : x.shape.size());
  std::iota(axes.begin(), axes.end(), pool ? std::size_t{2} : std::size_t{0});
  if (pool) {
    return axes;
  }
  const Array* given = request.call.input(1);
  if (given != nullptr && given->size() != count_of(given->shape)) {
    return std::nullopt;  // its values are not at hand
  }
  const auto listed = request.call.integers_or_input({"axes", "axis", "dim"}, 1);
  if (!listed) {
    return std::nullopt;
  }
  if (!*listed || (*listed)->empty()) {
    return request.call.integer({"noop_with_empty_axes"}, 0) != 0 ? std::nullopt
                                                                  : std::optional(axes);
  }
  Result<std::vector<std::size_t>> found = normal_axes(**listed, x.shape.size());
  return found ? std::optional(std::move(found).value()) : std::nullopt;
}

std::optional<Partial> plan_reduction(const Request& request) {
  const Array* x = request.call.input(0);
  if (x == nullptr || x->shape.size() < 2) {
    return std::nullopt;
  }
  const auto axes = reduced_axes(request, *x);
  if (!axes || axes->empty()) {
    return std::nullopt;
  }
  const Strides strides = strides_of(x->shape);
  std::vector<std::uint64_t> offsets = {0};
  tensor::Shape kept = x->shape;
  for (const std::size_t axis : *axes) {
    std::vector<std::uint64_t> wider;
    for (const std::uint64_t offset : offsets) {
      for (std::uint64_t i = 0; i < x->shape[axis]; ++i) {
        wider.push_back(offset + i * static_cast<std::uint64_t>(strides[axis]));
      }
    }
    offsets = std::move(wider);
    kept[axis] = 1;
    if (offsets.size() > kReducedElements) {
      return std::nullopt;
    }
  }
  if (count_of(kept) != count_of(request.output) || offsets.empty()) {
    return std::nullopt;
  }
  const std::size_t most = std::max<std::size_t>(16, kReducedElements / offsets.size());
  Partial partial = request.start();
  const Positions random = request.random.first(std::min(request.random.size(), most));
  const Positions chosen = request.chosen.first(std::min(request.chosen.size(), most));
  partial.positions = joined(random, chosen);
  partial.random = random.size();
  std::vector<std::uint64_t> places;
  for (std::uint64_t position : partial.positions) {
    std::uint64_t start = 0;
    for (std::size_t axis = kept.size(); axis-- > 0;) {
      start += position % kept[axis] * static_cast<std::uint64_t>(strides[axis]);
      position /= kept[axis];
    }
    for (const std::uint64_t offset : offsets) {
      places.push_back(start + offset);
    }
  }
  PartialInput input = gathered(0, std::move(places));
  const bool pool =
      request.kind.name == "GlobalAveragePool" || request.kind.name == "GlobalMaxPool";
  input.shape = pool ? tensor::Shape{1, partial.positions.size(), offsets.size()}
                     : tensor::Shape{partial.positions.size(), offsets.size()};
  partial.inputs.push_back(std::move(input));
  if (!pool) {
    set_axis(partial.op, "axes", 1, true);
  }
  return partial;
}

// Copies of elements: a small Identity.
std::optional<Partial> as_identity(const Request& request, PartialInput input) {
  Partial partial = request.start();
  partial.kind = find_kind("Identity", Dialect::onnx);
  partial.op.type = "Identity";
  partial.positions = joined(request.random, request.chosen);
  partial.random = request.random.size();
  partial.inputs.push_back(std::move(input));
  return partial;
}

std::optional<Partial> plan_transpose(const Request& request) {
  const Array* x = request.call.input(0);
  const auto given = request.call.integers({"perm"});
  if (x == nullptr || (request.call.input(1) != nullptr) ||
      (!given && request.call.has({"perm"}))) {
    return std::nullopt;
  }
  const std::size_t rank = x->shape.size();
  std::vector<std::size_t> order(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    order[axis] =
        given && axis < given->size() ? static_cast<std::size_t>((*given)[axis]) : rank - 1 - axis;
  }
  const Strides own = strides_of(x->shape);
  Strides strides;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (order[axis] >= rank || x->shape[order[axis]] != request.output[axis]) {
      return std::nullopt;
    }
    strides.push_back(own[order[axis]]);
  }
  std::vector<std::uint64_t> places;
  for (std::uint64_t position : joined(request.random, request.chosen)) {
    std::uint64_t at = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      at += position % request.output[axis] * static_cast<std::uint64_t>(strides[axis]);
      position /= request.output[axis];
    }
    places.push_back(at);
  }
  return as_identity(request, gathered(0, std::move(places)));
}

std::optional<Partial> plan_concat(const Request& request) {
  const Result<std::size_t> axis =
      normal_axis(request.call.integer({"axis", "concat_dim", "dim"}, 1), request.output.size());
  if (!axis || request.call.op.type != "Concat" || !request.call.has({"axis"})) {
    return std::nullopt;
  }
  const AxisSplit split = split_at(request.output, *axis);
  std::vector<std::uint64_t> starts = {0};
  for (const Array* array : request.call.inputs) {
    if (array == nullptr || array->shape.size() != request.output.size()) {
      return std::nullopt;
    }
    starts.push_back(starts.back() + array->shape[*axis]);
  }
  if (starts.back() != split.extent) {
    return std::nullopt;
  }
  PartialInput input;
  input.present = true;
  for (const std::uint64_t position : joined(request.random, request.chosen)) {
    const std::uint64_t along = position / split.inner % split.extent;
    const auto after = std::upper_bound(starts.begin(), starts.end(), along);
    const auto source = static_cast<std::size_t>(after - starts.begin() - 1);
    const std::uint64_t extent = starts[source + 1] - starts[source];
    input.sources.push_back(static_cast<std::uint32_t>(source));
    input.positions.push_back(
        (position / split.inner / split.extent * extent + along - starts[source]) * split.inner +
        position % split.inner);
  }
  input.shape = {input.positions.size()};
  return as_identity(request, std::move(input));
}

std::optional<Partial> plan(const Request& request) {
  const std::string_view name = request.kind.name;
  if (one_of(kReshapes, name)) {
    const Array* x = request.call.input(0);
    if (x == nullptr || count_of(x->shape) != count_of(request.output)) {
      return std::nullopt;
    }
    return as_identity(request, gathered(0, joined(request.random, request.chosen)));
  }
  if (one_of(kElementwise, name)) {
    return plan_elementwise(request);
  }
  if (one_of(kLines, name)) {
    return plan_lines(request);
  }
  if (one_of(kReductions, name)) {
    return plan_reduction(request);
  }
  if (name == "BatchNormalization") {
    return plan_batch_norm(request);
  }
  if (name == "Transpose") {
    return plan_transpose(request);
  }
  return name == "Concat" ? plan_concat(request) : std::nullopt;
}

}  // namespace

std::optional<Partial> plan_partial(const OperatorKind& kind, const Call& call,
                                    const tensor::Shape& output,
                                    std::span<const std::uint64_t> random,
                                    std::span<const std::uint64_t> chosen) {
  std::optional<Partial> partial = plan(Request{kind, call, output, random, chosen});
  if (partial && partial->positions.size() * 2 > count_of(output)) {
    return std::nullopt;
  }
  return partial;
}

}  // namespace opdrift::replay
