#include <algorithm>
#include <vector>

#include "targets.hpp"

#include "opdrift/io/archive/zip_archive.hpp"

namespace opdrift::fuzz {

/// Opens an archive and unpacks every member, those above 64 KiB through a scratch file.
void zip(ByteSpan bytes) {
  io::ZipLimits limits;
  limits.in_memory_bytes = 1 << 16;
  limits.max_bytes = 1 << 22;
  const auto archive = io::ZipArchive::open(own_bytes({bytes.begin(), bytes.end()}), limits);
  if (!archive) {
    return;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>((*archive)->members().size(), 16); ++i) {
    static_cast<void>((*archive)->head(i, 4096));
    static_cast<void>((*archive)->load(i));
  }
}

}  // namespace opdrift::fuzz
