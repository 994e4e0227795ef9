#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace opdrift {

/// Large blocks of memory from one stretch of address space, the lowest free one first. Memory that
/// the system has handed out once is used again for blocks of any size, because being given fresh
/// pages costs more than filling them. Any thread.
class Arena {
 public:
  /// Reserves addresses, not memory. `keep`: while no block is in use, no more than this stays.
  Arena(std::size_t bytes, std::size_t keep);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// A block aligned to a page, nullptr when no stretch of free addresses is long enough.
  std::byte* take(std::size_t bytes);
  /// Takes back a block of that size.
  void give_back(std::byte* block, std::size_t bytes);

 private:
  void release_idle();

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t keep_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  ///< bytes by offset; no two touch
  std::size_t used_up_to_ = 0;               ///< offset behind the last block there ever was
};

}  // namespace opdrift
