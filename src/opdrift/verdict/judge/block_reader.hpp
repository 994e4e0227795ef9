#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::verdict::judging {

/// Reads a view in blocks of double, in logical order. One thread at a time.
class BlockReader {
 public:
  static constexpr std::size_t kMost = 8192;  ///< elements of a block

  /// The view outlives the reader; its dtype must be a number (check_numbers).
  explicit BlockReader(const tensor::View& view) : view_(view) {}

  /// Elements [first, first + count), valid until the next call; count <= kMost.
  std::span<const double> read(std::uint64_t first, std::size_t count);

 private:
  const tensor::View& view_;
  std::vector<std::byte> bytes_;
  std::vector<double> values_;
};

/// Fails with `unsupported_dtype` when elements are no real numbers.
Status check_numbers(const tensor::View& view);

}  // namespace opdrift::verdict::judging
