#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

/// Reading of tensors for refits: any view as real numbers in double, in logical row-major order.
namespace opdrift::verdict::refit {

/// Elements read and refitted at a time: three arrays of doubles stay in the second cache.
inline constexpr std::size_t kTile = 4096;

/// A view as doubles. Complex elements are two reals along one more axis. Thread-safe; the view's
/// bytes must outlive it.
class Values {
 public:
  /// Fails with `unsupported_dtype` when the elements are no numbers.
  static Result<Values> of(const tensor::View& view);

  std::uint64_t count() const { return count_; }
  const tensor::View& view() const { return view_; }
  tensor::DType dtype() const { return view_.tensor.desc.dtype; }
  /// True when flat index i lies at element position `first_position() + i`.
  bool contiguous() const { return contiguous_; }
  std::uint64_t first_position() const { return static_cast<std::uint64_t>(view_.offset); }

  void read(std::uint64_t first, std::size_t count, double* out) const;
  double at(std::uint64_t index) const;

 private:
  explicit Values(tensor::View view);
  std::uint64_t position(std::uint64_t index) const;

  tensor::View view_;
  std::uint64_t count_ = 0;
  bool contiguous_ = false;  // and in the byte order of this machine
};

/// Doubles as a view of `shape`; nothing is copied, so `values` must outlive the view. Fails with
/// `data_mismatch` when they do not cover the shape.
Result<tensor::View> view_of(std::span<const double> values, const tensor::Shape& shape);

/// A walk over flat ranges of one shape by runs along its last axis.
class RowWalk {
 public:
  RowWalk(const tensor::Shape& shape, std::uint64_t first);

  /// Coordinates of the current element.
  const std::vector<std::uint64_t>& coordinates() const { return coordinates_; }
  /// Elements from the current one to the end of its row.
  std::uint64_t rest_of_row() const { return shape_.back() - coordinates_.back(); }
  /// Goes on by `count` elements, at most to the start of the next row.
  void advance(std::uint64_t count);

 private:
  tensor::Shape shape_;
  std::vector<std::uint64_t> coordinates_;
};

/// Row-major element distances of a shape.
std::vector<std::uint64_t> row_major_strides(const tensor::Shape& shape);

}  // namespace opdrift::verdict::refit
