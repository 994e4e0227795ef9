#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "opdrift/metrics/block_source.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::metrics {

/// True when every value of the dtype (of its parts, if complex) is a float value.
bool fits_float(tensor::DType dtype);

/// Reads one side of a block. What a call returns is valid until the next call.
class SideReader {
 public:
  SideReader(const tensor::View& view, const Precision& precision);

  /// Reads the reals [first, first + count) into memory when they lie ready in a mapped file, and
  /// are worth it. Only these may be loaded then.
  void bring_in(std::uint64_t first, std::uint64_t count);
  /// Reals [first, first + count) in logical order, count at most kBlock.
  BlockSide load(std::uint64_t first, std::size_t count);
  /// Asks for the memory of these reals, to be loaded soon.
  void fetch(std::uint64_t first, std::uint64_t count) const;
  /// Reals [first, first + count) of densely packed little-endian elements at `data`.
  BlockSide convert(const std::byte* data, std::uint64_t first, std::size_t count);

 private:
  /// Aligned to cache lines for the vector stores.
  struct Converted {
    alignas(64) std::array<float, kernels::kBlock> floats;
    alignas(64) std::array<std::uint16_t, kernels::kBlock> patterns;
  };

  BlockSide convert_to_float(const std::byte* data, std::uint64_t first, std::size_t count);
  void widen16(BlockSide& side, std::size_t count);
  /// Tells the processor which pages will be read soon, when [begin, end) opens a new run of them.
  void announce(std::uint64_t begin, std::uint64_t end);

  const tensor::View* view_;
  Precision precision_;
  tensor::DType component_;
  std::uint64_t parts_ = 1;       // reals per element
  std::size_t real_bytes_ = 0;    // 0 when a real is no whole number of bytes
  ByteSpan ready_;                // bytes of the tensor when the view lies ready in memory
  std::int64_t ready_first_ = 0;  // position in them of the view's first real
  Bytes window_;                  // owns what was brought in
  bool announced_ = false;
  std::vector<std::byte> gathered_;
  std::vector<double> doubles_;
  std::unique_ptr<Converted> converted_;
};

}  // namespace opdrift::metrics
