#pragma once

#include <cstddef>

namespace opdrift {

/// Tells the allocator that about this many bytes of small objects will be allocated by the calling
/// thread. They then come out of one region in huge pages, where the system gives them on demand
/// (Linux, `madvise`): page by page, a run over many small files spends a third of its time on page
/// faults (measured in a virtual machine). Memory that stays unused costs address space only. Does
/// nothing with other allocators; call it before worker threads start.
void expect_allocations(std::size_t bytes);

}  // namespace opdrift
