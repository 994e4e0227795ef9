#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The tensor as stored: shape and strides of its description. No dims: one element. Fails with
/// `data_mismatch` when the bytes do not cover the shape, `bad_shape` for more than 2^62 elements
/// or strides of another rank, `unsupported_dtype` when the element size is unknown.
Result<View> stored_view(const Tensor& tensor);

/// The bytes in row-major order under another shape; strides of the description are not looked at.
/// Surplus bytes are left out. Fails with `data_mismatch` when the bytes do not cover the shape.
Result<View> shaped_view(const Tensor& tensor, const Shape& shape);

/// The first `count` elements as one flat axis (no shape known or needed).
Result<View> flat_view(const Tensor& tensor, std::uint64_t count);

/// True when the view is column-major without gaps and not also row-major: NumPy's F_CONTIGUOUS
/// without C_CONTIGUOUS.
bool column_major(const View& view);

/// A run of logically consecutive elements, `data` holding `count` elements of the view's dtype,
/// little-endian, densely packed and not necessarily aligned. Packed types (less than one byte)
/// start at the first bit of `data`.
struct Segment {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const std::byte* data = nullptr;
};

struct TilePlan;

/// Reads a view a cache-sized tile at a time. Every element is delivered exactly once; segments of
/// one tile need not be adjacent (a tile of a blocked layout covers a few rows of several
/// channels). Which elements form a tile depends on the axes of the view alone, never on threads
/// or dtype width.
///
/// A tile is a box of at most 16,384 elements. For contiguous views it is one segment of exactly
/// that many. Else its sides are chosen so that both the stored and the logical order come in runs:
/// 512 columns of one channel block for NC1HWC0 seen as NCHW, 32 rows or more of a FRACTAL_NZ
/// panel; tiles follow each other in stored order.
///
/// A copy shares the plan and has its own scratch memory; one thread at a time per copy.
class TileReader {
 public:
  /// The view's bytes must outlive the reader. Its dtype must have a known element size.
  explicit TileReader(const View& view);
  std::uint64_t tile_count() const { return tile_count_; }
  /// Segments of tile `index`, valid until the next call. Contiguous views point into the tensor's
  /// own bytes; others into scratch memory of at most 256 KiB.
  const std::vector<Segment>& read(std::uint64_t index);

 private:
  void read_in_place(std::uint64_t index);
  void read_packed(std::uint64_t index);
  void read_box(std::uint64_t index);

  std::shared_ptr<const TilePlan> plan_;
  std::uint64_t tile_count_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::byte> scratch_;
};

/// Copies logical elements [first, first + count) into `out` (dtype as stored, densely packed).
/// `count * element size` bytes must fit. Byte-swaps big-endian data. Unused bits behind the last
/// element of a packed type are zero.
void gather(const View& view, std::uint64_t first, std::uint64_t count, std::byte* out);

/// The view as a contiguous tensor of its own, in row-major order, shape and format of the
/// description replaced. Fails with `limit` beyond 16 GiB.
Result<Tensor> materialise(const View& view, Format format);

}  // namespace opdrift::tensor
