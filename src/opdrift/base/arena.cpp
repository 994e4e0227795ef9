#include "opdrift/base/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "opdrift/base/result.hpp"

namespace opdrift {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
}

}  // namespace

Arena::Arena(std::size_t bytes, std::size_t keep) : keep_(keep) {
  void* const all = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(all);
  const std::size_t before = (kHugePage - address % kHugePage) % kHugePage;
  begin_ = static_cast<std::byte*>(all) + before;
  bytes_ = bytes / kPage * kPage;
  if (before > 0) {
    ::munmap(all, before);
  }
  if (before < kHugePage) {
    ::munmap(begin_ + bytes, kHugePage - before);
  }
  ::madvise(begin_, bytes_, MADV_HUGEPAGE);
  free_.emplace(0, bytes_);
}

Arena::~Arena() {
  if (begin_ != nullptr) {
    ::munmap(begin_, bytes_);
  }
}

std::byte* Arena::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [wanted](const auto& gap) { return gap.second >= wanted; });
  if (bytes > bytes_ || found == free_.end()) {
    return nullptr;
  }
  const auto [offset, length] = *found;
  free_.erase(found);
  if (length > wanted) {
    free_.emplace(offset + wanted, length - wanted);
  }
  used_up_to_ = std::max(used_up_to_, offset + wanted);
  return begin_ + offset;
}

void Arena::give_back(std::byte* block, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto offset = static_cast<std::size_t>(block - begin_);
  std::size_t length = rounded(bytes);
  const auto after = free_.lower_bound(offset);
  OPDRIFT_CHECK(offset + length <= bytes_ &&
                (after == free_.end() || offset + length <= after->first));
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    OPDRIFT_CHECK(before->first + before->second <= offset);
    if (before->first + before->second == offset) {
      offset = before->first;
      length += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && after->first == offset + length) {
    length += after->second;
    free_.erase(after);
  }
  free_.emplace(offset, length);
  if (length == bytes_) {
    release_idle();
  }
}

void Arena::release_idle() {
  if (used_up_to_ > keep_) {
    const std::size_t from = keep_ / kHugePage * kHugePage;
    ::madvise(begin_ + from, used_up_to_ - from, MADV_DONTNEED);
    used_up_to_ = from;
  }
}

}  // namespace opdrift
