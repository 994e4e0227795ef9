#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace opdrift::graph {

/// Keeps texts alive in large blocks: millions of short texts cost no allocation each. Views stay
/// valid as long as the arena lives, also after it was moved. One thread at a time.
class TextArena {
 public:
  /// A copy of `text`.
  std::string_view keep(std::string_view text) { return append(text, {}, {}); }

  /// A copy of the three parts, one behind the other.
  std::string_view append(std::string_view first, std::string_view second, std::string_view third) {
    const std::size_t size = first.size() + second.size() + third.size();
    char* place = reserve(size);
    copy(first, place);
    copy(second, place + first.size());
    copy(third, place + first.size() + second.size());
    return {place, size};
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;

  static void copy(std::string_view text, char* place) {
    if (!text.empty()) {
      std::memcpy(place, text.data(), text.size());
    }
  }

  char* reserve(std::size_t size) {
    if (size > left_) {
      const std::size_t block = size > kBlockBytes / 4 ? size : kBlockBytes;
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
      if (block == size) {
        return blocks_.back().get();  // large texts stand alone; the open block stays open
      }
      next_ = blocks_.back().get();
      left_ = block;
    }
    char* place = next_;
    next_ += size;
    left_ -= size;
    return place;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace opdrift::graph
