#include "opdrift/base/heap.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Sanitizers bring their own allocator, for which a block is memory even while it is unused.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define OPDRIFT_OTHER_ALLOCATOR 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPDRIFT_OTHER_ALLOCATOR 1
#endif
#if defined(__GLIBC__) && !defined(OPDRIFT_OTHER_ALLOCATOR)
#define OPDRIFT_GLIBC_ALLOCATOR 1
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace opdrift {

void expect_allocations(std::size_t bytes) {
#if defined(OPDRIFT_GLIBC_ALLOCATOR)
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  constexpr int kMappingsAllowed = 65536;  // glibc's own choice
  constexpr int kNeverTrim = 0x7fffffff;
  if (bytes < 2 * kHugePage) {
    return;
  }
  ::mallopt(M_MMAP_MAX, 0);  // so that the block extends the heap
  void* const block = std::malloc(bytes);
  ::mallopt(M_MMAP_MAX, kMappingsAllowed);
  if (block == nullptr) {
    return;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first < end) {
    ::madvise(static_cast<std::byte*>(block) + (first - begin), end - first, MADV_HUGEPAGE);
  }
  ::mallopt(M_TRIM_THRESHOLD, kNeverTrim);  // the freed block stays at the top of the heap
  std::free(block);
#else
  (void)bytes;
#endif
}

void reuse_large_blocks() {
#if defined(OPDRIFT_GLIBC_ALLOCATOR)
  constexpr int kNeverTrim = 0x7fffffff;
  constexpr std::size_t kHeapInHugePages = std::size_t{256} << 20;
  expect_allocations(kHeapInHugePages);
  ::mallopt(M_ARENA_MAX, 1);  // the heaps of other arenas are too small for such blocks
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, kNeverTrim);
#endif
}

}  // namespace opdrift
