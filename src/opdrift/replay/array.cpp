#include "opdrift/replay/array.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "opdrift/replay/walk.hpp"

namespace opdrift::replay {

Outputs one_output(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

std::uint64_t saturating_product(std::uint64_t left, std::uint64_t right) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(left, right, &product)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return product;
}

std::uint64_t count_of(const tensor::Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
    return 0;
  }
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    count = saturating_product(count, extent);
  }
  return count;
}

Status check_shape(const tensor::Shape& shape, const Limits& limits) {
  if (shape.size() > kMaxRank) {
    return Error{ErrorCode::limit, "expected at most " + std::to_string(kMaxRank) +
                                       " axes, found " + std::to_string(shape.size())};
  }
  // Empty arrays are held to the same limit by their other axes, so that no loop over those is
  // long.
  std::uint64_t spanned = 1;
  for (const std::uint64_t extent : shape) {
    spanned = saturating_product(spanned, std::max<std::uint64_t>(extent, 1));
  }
  if (spanned > limits.max_elements) {
    return Error{ErrorCode::limit, "expected at most " + std::to_string(limits.max_elements) +
                                       " elements, found shape " + tensor::to_string(shape)};
  }
  return Unit{};
}

Result<Array> make_array(const tensor::Shape& shape, const Limits& limits, tensor::DType dtype) {
  OPDRIFT_CHECK_OK(check_shape(shape, limits));
  return Array{shape, std::vector<double>(count_of(shape), 0.0), dtype};
}

Array vector_array(std::vector<double> values, tensor::DType dtype) {
  Array array;
  array.shape = {values.size()};
  array.values = std::move(values);
  array.dtype = dtype;
  return array;
}

Array scalar_array(double value, tensor::DType dtype) {
  return Array{{}, {value}, dtype};
}

bool is_integral(tensor::DType dtype) {
  const tensor::DTypeKind kind = tensor::info(dtype).kind;
  return kind == tensor::DTypeKind::signed_int || kind == tensor::DTypeKind::unsigned_int ||
         kind == tensor::DTypeKind::boolean;
}

Strides strides_of(const tensor::Shape& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * static_cast<std::int64_t>(shape[axis]);
  }
  return strides;
}

Strides broadcast_strides(const tensor::Shape& shape, const tensor::Shape& wide) {
  const Strides own = strides_of(shape);
  Strides strides(wide.size(), 0);
  const std::size_t missing = wide.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis + missing] = shape[axis] == 1 ? 0 : own[axis];
  }
  return strides;
}

Result<tensor::Shape> broadcast_shape(const tensor::Shape& left, const tensor::Shape& right) {
  const tensor::Shape& longer = left.size() >= right.size() ? left : right;
  const tensor::Shape& shorter = left.size() >= right.size() ? right : left;
  tensor::Shape shape = longer;
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::uint64_t& extent = shape[axis + missing];
    if (extent == 1) {
      extent = shorter[axis];
    } else if (shorter[axis] != 1 && shorter[axis] != extent) {
      return Error{ErrorCode::bad_shape, "expected shapes that broadcast, found " +
                                             tensor::to_string(left) + " and " +
                                             tensor::to_string(right)};
    }
  }
  return shape;
}

Result<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) {
    return Error{ErrorCode::out_of_range,
                 "expected an axis of " + std::to_string(rank) + ", found " + std::to_string(axis)};
  }
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

Result<std::vector<std::size_t>> normal_axes(const std::vector<std::int64_t>& axes,
                                             std::size_t rank) {
  std::vector<std::size_t> normal;
  for (const std::int64_t axis : axes) {
    OPDRIFT_TRY(const std::size_t index, normal_axis(axis, rank));
    normal.push_back(index);
  }
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end()) {
    return Error{ErrorCode::invalid_argument, "expected different axes, found one twice"};
  }
  return normal;
}

AxisSplit split_at(const tensor::Shape& shape, std::size_t axis) {
  AxisSplit split;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::size_t& part = i < axis ? split.outer : i == axis ? split.extent : split.inner;
    part *= shape[i];
  }
  return split;
}

Result<std::vector<std::int64_t>> integers_of(const Array& array) {
  constexpr double kEdge = 9223372036854775808.0;  // 2^63
  std::vector<std::int64_t> integers;
  integers.reserve(array.size());
  for (const double value : array.values) {
    if (std::isnan(value)) {
      return Error{ErrorCode::invalid_argument, "expected integers, found NaN"};
    }
    if (value >= kEdge) {
      integers.push_back(std::numeric_limits<std::int64_t>::max());
    } else if (value < -kEdge) {
      integers.push_back(std::numeric_limits<std::int64_t>::min());
    } else {
      integers.push_back(static_cast<std::int64_t>(value));
    }
  }
  return integers;
}

Array squared(const Array& array) {
  Array result = array;
  for (double& value : result.values) {
    value *= value;
  }
  return result;
}

Array transposed(const Array& source, const std::vector<std::size_t>& permutation) {
  const Strides own = strides_of(source.shape);
  Array result;
  result.dtype = source.dtype;
  Strides strides;
  for (const std::size_t axis : permutation) {
    result.shape.push_back(source.shape[axis]);
    strides.push_back(own[axis]);
  }
  result.values.resize(source.size());
  copy_strided(source.values.data(), 0, result.shape, strides, result.values.data());
  return result;
}

Array channels_first(const Array& source) {
  if (source.rank() < 3) {
    return source;
  }
  std::vector<std::size_t> order(source.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return transposed(source, order);
}

Array channels_last(const Array& source) {
  if (source.rank() < 3) {
    return source;
  }
  std::vector<std::size_t> order(source.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return transposed(source, order);
}

}  // namespace opdrift::replay
