#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"

// Whole tensors in double, row-major:
//   value at (i0, i1, ...) = values[i0 * s0 + i1 * s1 + ...],  s_last = 1, s_k = s_(k+1) * d_(k+1)
// Integers up to 2^53 are exact. Larger 64-bit integers occur as "to the end" marks of slices only,
// where being rounded does not matter.

namespace opdrift::replay {

/// One tensor in double. `dtype` is the type the values had where they came from; it decides
/// integer division and the range of quantised codes, nothing else.
struct Array {
  tensor::Shape shape;
  std::vector<double> values;
  tensor::DType dtype = tensor::DType::f32;

  std::size_t rank() const { return shape.size(); }
  std::size_t size() const { return values.size(); }
};

/// The outputs of one operator, in order.
using Outputs = std::vector<Array>;

/// The outputs of an operator that has one.
Outputs one_output(Array array);

/// Signed element distances per axis.
using Strides = std::vector<std::int64_t>;

/// Bounds of what one replay may cost. An operator beyond them is an Error, not a long wait.
struct Limits {
  std::uint64_t max_elements = std::uint64_t{1} << 28;  ///< of any one array: 2 GiB of double
  std::uint64_t max_multiply_adds = std::uint64_t{1}
                                    << 39;  ///< of one operator: minutes, not hours
};

/// Axes an array may have; more is an Error.
inline constexpr std::size_t kMaxRank = 16;

/// Product of the extents; the largest 64-bit number when it does not fit.
std::uint64_t count_of(const tensor::Shape& shape);

/// Product that stays at the largest 64-bit number instead of wrapping.
std::uint64_t saturating_product(std::uint64_t left, std::uint64_t right);

/// Fails with limit when an array of that shape would be too large.
Status check_shape(const tensor::Shape& shape, const Limits& limits);

/// A zero-filled array. Fails with `limit` before allocating anything too large.
Result<Array> make_array(const tensor::Shape& shape, const Limits& limits,
                         tensor::DType dtype = tensor::DType::f32);

/// An array of rank 1.
Array vector_array(std::vector<double> values, tensor::DType dtype = tensor::DType::f32);

/// An array of rank 0.
Array scalar_array(double value, tensor::DType dtype = tensor::DType::f32);

/// True when the values are integers or booleans, whose arithmetic differs (division truncates).
bool is_integral(tensor::DType dtype);

/// Row-major element distances.
Strides strides_of(const tensor::Shape& shape);

/// Distances of `shape` when it is stretched to `wide` by the rules of NumPy: 0 along stretched and
/// missing axes. `shape` must be broadcastable to `wide`.
Strides broadcast_strides(const tensor::Shape& shape, const tensor::Shape& wide);

/// The shape both sides are stretched to. Fails with `bad_shape`.
Result<tensor::Shape> broadcast_shape(const tensor::Shape& left, const tensor::Shape& right);

/// An axis that may count from the end, as an index below `rank`. Fails with `out_of_range`.
Result<std::size_t> normal_axis(std::int64_t axis, std::size_t rank);

/// A list of axes, sorted; fails with `out_of_range` or, for a repeated axis, `invalid_argument`.
Result<std::vector<std::size_t>> normal_axes(const std::vector<std::int64_t>& axes,
                                             std::size_t rank);

/// A shape seen from one axis: what lies before it, its extent, what lies after it.
struct AxisSplit {
  std::size_t outer = 1;
  std::size_t extent = 1;
  std::size_t inner = 1;
};
AxisSplit split_at(const tensor::Shape& shape, std::size_t axis);

/// The values as 64-bit integers, clamped to their range. Fails with `invalid_argument` on NaN.
Result<std::vector<std::int64_t>> integers_of(const Array& array);

/// Every value squared, for the sums of squares of a budget.
Array squared(const Array& array);

/// Copies `source` with its axes in the order `permutation` (a valid permutation).
Array transposed(const Array& source, const std::vector<std::size_t>& permutation);

/// (batch, ..., channel) as (batch, channel, ...) and back. Arrays of less than three axes stay.
Array channels_first(const Array& source);
Array channels_last(const Array& source);

}  // namespace opdrift::replay
