#pragma once

#include <cstddef>

namespace opdrift {

/// Tells the allocator that about this many bytes of small objects will be allocated by the calling
/// thread. They then come out of one region in huge pages, where the system gives them on demand
/// (Linux, `madvise`): page by page, a run over many small files spends a third of its time on page
/// faults (measured in a virtual machine). Memory that stays unused costs address space only. Does
/// nothing with other allocators; call it before worker threads start.
void expect_allocations(std::size_t bytes);

/// Tells the allocator that large arrays will come and go: they are then cut from one heap that
/// stays mapped, instead of being mapped, cleared by the system and unmapped each time (which was
/// two thirds of the time of judging layers of a few million elements), the first of them in huge
/// pages. The heap shrinks when the process ends. Does nothing with other allocators; call it
/// before worker threads start.
void reuse_large_blocks();

}  // namespace opdrift
