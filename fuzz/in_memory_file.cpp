#include "in_memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace opdrift::fuzz {

InMemoryFile::InMemoryFile(ByteSpan bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  const bool whole = descriptor_ >= 0 && ::write(descriptor_, bytes.data(), bytes.size()) ==
                                             static_cast<ssize_t>(bytes.size());
  if (!whole && descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

InMemoryFile::~InMemoryFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

std::string InMemoryFile::path() const {
  return descriptor_ < 0 ? "" : "/proc/self/fd/" + std::to_string(descriptor_);
}

}  // namespace opdrift::fuzz
