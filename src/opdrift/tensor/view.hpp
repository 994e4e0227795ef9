#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::tensor {

/// One axis of a logical tensor laid over stored elements. Index i of the axis lies at
/// `(i / inner) * outer_stride + (i % inner) * inner_stride` elements. Plain axes have
/// inner == 1; a channel axis stored as (C1, ..., C0) has inner == C0.
struct AxisMap {
  std::uint64_t extent = 1;
  std::uint64_t inner = 1;
  std::int64_t outer_stride = 0;
  std::int64_t inner_stride = 0;
};

/// A tensor seen in logical row-major order: element types as stored, positions as index
/// arithmetic. Conversions between layouts, cropping, transposing and Fortran order are all views;
/// nothing is moved until a tile is read.
struct View {
  Tensor tensor;
  std::vector<AxisMap> axes;  ///< outermost first; empty for one element
  std::int64_t offset = 0;    ///< element position of index (0, ..., 0)

  std::uint64_t count() const;  ///< product of the extents
  Shape shape() const;
  /// True when logical order is the stored order without gaps.
  bool contiguous() const;
};

/// The tensor as stored: shape and strides of its description. Fails with `data_mismatch` when the
/// bytes do not cover the shape.
Result<View> stored_view(const Tensor& tensor);

/// The first `count` elements as one flat axis (no shape known or needed).
Result<View> flat_view(const Tensor& tensor, std::uint64_t count);

/// A run of logically consecutive elements, `data` holding `count` elements of the view's dtype.
struct Segment {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const std::byte* data = nullptr;
};

/// Reads a view a cache-sized tile at a time. Every element is delivered exactly once; segments of
/// one tile need not be adjacent (a tile of a blocked layout covers a few rows of several
/// channels). Which elements form a tile depends on the view alone, never on threads.
class TileReader {
 public:
  explicit TileReader(const View& view);
  std::uint64_t tile_count() const { return tile_count_; }
  /// Segments of tile `index`, valid until the next call. Contiguous views point into the tensor's
  /// own bytes; others into scratch memory of at most 256 KiB.
  const std::vector<Segment>& read(std::uint64_t index);

 private:
  const View* view_;
  std::uint64_t tile_count_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::byte> scratch_;
};

/// Copies logical elements [first, first + count) into `out` (dtype as stored, densely packed).
/// `count * element size` bytes must fit. Byte-swaps big-endian data.
void gather(const View& view, std::uint64_t first, std::uint64_t count, std::byte* out);

}  // namespace opdrift::tensor
