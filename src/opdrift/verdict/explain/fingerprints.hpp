#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/tensor/view.hpp"

// Which tensor do these bytes belong to? Per tensor a 64-bit hash of all its bytes as stored, and
// of up to `blocks` blocks of 32 bytes, spread evenly and starting at multiples of 32: the unit in
// which device memory is handed out and overwritten. Blocks of one repeated 8-byte word say nothing
// and are passed over. A part of another tensor is found when it holds one of that tensor's blocks
// at the same position modulo 32: for certain when it is 1 / blocks of that tensor, or more.

namespace opdrift::verdict {

/// Bytes of one tensor that are those of another.
struct FingerprintMatch {
  std::size_t tensor = 0;   ///< as numbered by add()
  bool whole = false;       ///< every byte, and as many of them
  std::uint64_t first = 0;  ///< byte range of the tensor looked at
  std::uint64_t end = 0;
  std::uint64_t source = 0;  ///< where `first` lies in the other tensor
  std::size_t blocks = 0;    ///< blocks that agree
};

/// An index of the tensors of a run and of steps before it: about 16 bytes per block, 32 blocks and
/// the label per tensor. Tensors are not kept. find() may be called from several threads once
/// nothing is added any more.
class TensorFingerprints {
 public:
  explicit TensorFingerprints(std::size_t blocks = 32) : blocks_(blocks) {}

  /// Adds the bytes behind a view, in stored order. Returns the tensor's number.
  std::size_t add(const tensor::View& view, std::string label);

  std::size_t size() const { return tensors_.size(); }
  const std::string& label(std::size_t tensor) const { return tensors_[tensor].label; }

  /// Tensors equal byte by byte, then those of which a part lies in bytes [first, end) of the
  /// stored bytes, most blocks first. Tensors with one of the labels `without` do not count.
  std::vector<FingerprintMatch> find(const tensor::View& view, std::uint64_t first = 0,
                                     std::uint64_t end = ~std::uint64_t{0},
                                     std::span<const std::string> without = {}) const;

  /// A match whose range is grown to both sides as far as the bytes agree. `source` is the view
  /// that was added as match.tensor.
  static FingerprintMatch grown(const FingerprintMatch& match, const tensor::View& view,
                                const tensor::View& source);

 private:
  struct Entry {
    std::string label;
    std::uint64_t bytes = 0;
  };
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t tensor = 0;
    std::uint32_t block = kFree;
  };
  static constexpr std::uint32_t kFree = 0xffffffffU;
  static constexpr std::uint32_t kWhole = 0xfffffffeU;

  void insert(const Slot& slot);
  void grow();
  template <typename Visitor>
  void visit(std::uint64_t hash, const Visitor& visitor) const;
  bool counts(std::size_t tensor, std::span<const std::string> without) const;

  std::size_t blocks_;
  std::vector<Entry> tensors_;
  std::vector<Slot> table_;  // open addressing, a power of two, half full at most
  std::size_t used_ = 0;
};

/// The bytes of a view's tensor as stored: what its shape needs, or all of them.
ByteSpan stored_bytes(const tensor::View& view);

/// 64 bits that depend on every byte and on their number.
std::uint64_t content_hash(ByteSpan bytes);

}  // namespace opdrift::verdict
