#include <algorithm>
#include <numeric>

#include "opdrift/replay/partial/plan.hpp"

namespace opdrift::replay::partial {

namespace {

constexpr std::uint64_t kLineElements = 4096;      // random lines hold about so many elements
constexpr std::uint64_t kChosenElements = 8192;    // and chosen ones
constexpr std::uint64_t kReducedElements = 65536;  // read for a reduction, in all

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

}  // namespace

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
  partial.positions.assign(random.begin(), random.end());
  partial.positions.insert(partial.positions.end(), chosen.begin(), chosen.end());
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

}  // namespace opdrift::replay::partial
