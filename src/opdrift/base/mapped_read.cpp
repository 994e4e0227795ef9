#include "opdrift/base/mapped_read.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "opdrift/base/arena.hpp"

namespace opdrift {

namespace {

/// Address space for copies; what does not fit stays a mapping.
constexpr std::size_t kArenaBytes = std::size_t{2} << 30;
/// Memory kept for the next reader while nobody reads.
constexpr std::size_t kKeptBytes = std::size_t{96} << 20;

Arena& arena() {
  static Arena* const kArena =
      new Arena(kArenaBytes, kKeptBytes);  // outlives every thread that may still hold a block
  return *kArena;
}

/// A block that goes back to the arena.
class Loan {
 public:
  explicit Loan(std::size_t bytes) : data_(arena().take(bytes)), bytes_(bytes) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (data_ != nullptr) {
      arena().give_back(data_, bytes_);
    }
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

bool same_file(int fd, const MappedPlace& place) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_dev) == place.device &&
         static_cast<std::uint64_t>(info.st_ino) == place.inode;
}

bool read_whole(int fd, std::byte* data, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, data + done, bytes - done, static_cast<off_t>(offset + done));
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      return false;
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return true;
}

/// The file of mapped bytes, open; -1 where they cannot be read any more.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : place_(mapped_place(bytes)) {
    if (place_) {
      fd_ = ::open(place_->path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  bool usable() const { return fd_ >= 0 && same_file(fd_, *place_); }
  bool read(std::byte* out, std::size_t bytes) const {
    return read_whole(fd_, out, bytes, place_->offset);
  }

 private:
  std::optional<MappedPlace> place_;
  int fd_ = -1;
};

}  // namespace

std::optional<Bytes> read_mapped(const Bytes& bytes) {
  const Reader reader(bytes.span);
  if (!reader.usable()) {
    return std::nullopt;
  }
  const auto loan = std::make_shared<const Loan>(bytes.size());
  if (loan->data() == nullptr || !reader.read(loan->data(), bytes.size())) {
    return std::nullopt;
  }
  return Bytes{ByteSpan(loan->data(), bytes.size()), loan};
}

void copy_bytes(ByteSpan bytes, std::byte* out) {
  if (bytes.empty()) {
    return;
  }
  const Reader reader(bytes);
  if (!reader.usable() || !reader.read(out, bytes.size())) {
    std::memcpy(out, bytes.data(), bytes.size());
  }
}

}  // namespace opdrift
