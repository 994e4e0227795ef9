#include <algorithm>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/window.hpp"

// Sums of products that Ascend IR writes in its own way:
//   FullyConnection    y = X W^T + b, X and W with their last axes flattened
//   Conv2DTranspose    the extents of the result are an input (or an attribute, type ...D)

namespace opdrift::replay {

namespace {

using Integers = std::vector<std::int64_t>;

// x, w (outputs, elements; `transpose`: the other way round), b.
Result<Rewritten> rewrite_fully_connected(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "w"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 1), x->rank()));
  if (call.integer({"offset_x"}, 0) != 0 || call.input(3) != nullptr) {
    return call.not_modelled("offsets of codes");
  }
  const bool transposed = call.integer({"transpose"}, 0) != 0;
  const auto edge = x->shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::uint64_t rows = count_of({x->shape.begin(), edge});
  const std::uint64_t length = count_of({edge, x->shape.end()});
  const std::uint64_t elements = count_of(w->shape);
  const std::uint64_t outputs = length == 0 ? 0 : elements / length;
  const bool fits = outputs > 0 && outputs * length == elements && w->rank() > 0 &&
                    (transposed ? w->shape.back() : w->shape.front()) == outputs;
  if (!fits) {
    return call.not_modelled("weights " + tensor::to_string(w->shape) + " do not fit " +
                             tensor::to_string(x->shape));
  }
  Rewritten plain(call, "MatMul");
  plain.reshape(0, {rows, length});
  plain.reshape(1, transposed ? tensor::Shape{length, outputs} : tensor::Shape{outputs, length});
  plain.integer("transB", transposed ? 0 : 1);
  if (const Array* bias = call.input(2); bias != nullptr) {
    if (count_of(bias->shape) != outputs) {
      return call.not_modelled("expected one bias per output");
    }
    plain.reshape(2, {outputs});
  }
  plain.expect({rows, outputs});
  return plain;
}

/// Where the inputs of a transposed convolution are.
struct Places {
  std::size_t x = 0;
  std::size_t filter = 1;
  std::optional<std::size_t> bias;
  std::optional<std::size_t> size;  ///< extents of the result; else an attribute
};

Places places_of(const std::string& type) {
  const bool by_attribute = !type.empty() && type.back() == 'D';
  const std::size_t first = by_attribute ? 0 : 1;
  Places places;
  if (!by_attribute) {
    places.size = 0;
  }
  if (type.find("BackpropInput") != std::string::npos) {
    places.filter = first;
    places.x = first + 1;
    return places;
  }
  places.x = first;
  places.filter = first + 1;
  places.bias = first + 2;
  return places;
}

// What the last positions of the result lie behind the reach of the last input element: the extents
// asked for may be up to a stride longer.
Result<Integers> output_padding_of(const Call& call, const Window& window, const Integers& wanted) {
  Integers extra;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const std::int64_t least = window.stride[axis] * (window.input[axis] - 1) + reach -
                               window.before[axis] - window.after[axis];
    const std::int64_t more = wanted[axis] - least;
    if (more < 0 || more >= std::max(window.stride[axis], window.dilation[axis])) {
      return call.not_modelled("an extent of " + std::to_string(wanted[axis]) +
                               " does not follow from the input");
    }
    extra.push_back(more);
  }
  return extra;
}

Result<Rewritten> rewrite_transposed(const Call& call) {
  const Places places = places_of(call.op.type);
  OPDRIFT_TRY(const Array* x, call.need(places.x, "x"));
  OPDRIFT_TRY(const Array* filter, call.need(places.filter, "filter"));
  OPDRIFT_TRY(const auto asked,
              call.integers_or_input({"input_size"}, places.size.value_or(~std::size_t{0})));
  Rewritten plain(call, "ConvTranspose");
  plain.keep_attributes().drop({"input_size"}).take(places.x).take(places.filter);
  if (places.bias) {
    plain.take(*places.bias);
  }
  const bool named = asked && std::any_of(asked->begin(), asked->end(),
                                          [](std::int64_t extent) { return extent != 0; });
  if (!named) {
    return plain;
  }
  const std::size_t axes = filter->rank() < 3 ? 0 : filter->rank() - 2;
  if (axes == 0 || asked->size() != axes + 2 || x->rank() != axes + 2) {
    return call.not_modelled("the size of the result does not fit");
  }
  Integers kernel(filter->shape.begin() + 2, filter->shape.end());
  OPDRIFT_TRY(const Window window, read_window(call, x->shape, std::move(kernel)));
  OPDRIFT_TRY(Integers extra,
              output_padding_of(call, window, Integers(asked->begin() + 2, asked->end())));
  plain.integers("output_padding", std::move(extra));
  return plain;
}

constexpr Rewriting kRewritings[] = {
    {fully_connected, rewrite_fully_connected, "MatMul"},
    {transposed_by_size, rewrite_transposed, "ConvTranspose"},
};

}  // namespace

const Rewriting* rewriting_of(const OperatorKind& kind) {
  const auto found =
      std::find_if(std::begin(kRewritings), std::end(kRewritings),
                   [&kind](const Rewriting& row) { return row.evaluate == kind.evaluate; });
  return found == std::end(kRewritings) ? nullptr : found;
}

Result<Outputs> fully_connected(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_fully_connected(call));
  return matmul(plain.call());
}
Result<Sample> fully_connected_at(const Call& call, std::span<const std::uint64_t> positions,
                                  bool with_terms) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_fully_connected(call));
  return matmul_at(plain.call(), positions, with_terms);
}
Result<Terms> fully_connected_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_fully_connected(call));
  return matmul_terms(plain.call(), index, y);
}

Result<Outputs> transposed_by_size(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_transposed(call));
  return conv_transpose(plain.call());
}
Result<Sample> transposed_by_size_at(const Call& call, std::span<const std::uint64_t> positions,
                                     bool with_terms) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_transposed(call));
  return conv_transpose_at(plain.call(), positions, with_terms);
}
Result<Terms> transposed_by_size_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_transposed(call));
  return conv_transpose_terms(plain.call(), index, y);
}

}  // namespace opdrift::replay
