#include "opdrift/io/scratch_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

namespace opdrift::io {

namespace {

std::string scratch_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

/// Some file systems have no nameless files; there the name is taken away at once.
int open_named(const std::string& folder) {
  std::string name = folder + "/opdrift-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) {
    ::unlink(name.c_str());
  }
  return fd;
}

Error failed(int error_number, const std::string& what, const std::string& folder) {
  Error error = system_error(error_number, what + " of a temporary file", folder);
  if (error.code == ErrorCode::io) {
    error.code = ErrorCode::write_failed;
  }
  return error;
}

}  // namespace

Result<ScratchFile> ScratchFile::create() {
  ScratchFile file;
  file.folder_ = scratch_folder();
  file.fd_ = ::open(file.folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file.fd_ < 0) {
    file.fd_ = open_named(file.folder_);
  }
  if (file.fd_ < 0) {
    return failed(errno, "creation", file.folder_);
  }
  return file;
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : folder_(std::move(other.folder_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Status ScratchFile::write(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return failed(errno, "writing", folder_);
    }
    size_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Unit{};
}

Result<Bytes> ScratchFile::map() {
  if (size_ == 0) {
    return Bytes{};
  }
  const auto size = static_cast<std::size_t>(size_);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED) {
    return failed(errno, "mapping", folder_);
  }
  std::shared_ptr<const void> owner(
      data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return Bytes{ByteSpan(static_cast<const std::byte*>(data), size), std::move(owner)};
}

}  // namespace opdrift::io
