#include "opdrift/base/mapped_read.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

namespace opdrift {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Buffers kept for the next reader; more are given back to the system.
constexpr std::size_t kKeptBytes = std::size_t{96} << 20;

/// Anonymous memory, in huge pages where the system has them.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_((bytes + kHugePage - 1) / kHugePage * kHugePage) {
    void* const all = ::mmap(nullptr, bytes_ + kHugePage, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
      return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(all);
    const std::size_t before = (kHugePage - address % kHugePage) % kHugePage;
    data_ = static_cast<std::byte*>(all) + before;
    if (before > 0) {
      ::munmap(all, before);
    }
    if (before < kHugePage) {
      ::munmap(data_ + bytes_, kHugePage - before);
    }
    ::madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) {
      ::munmap(data_, bytes_);
    }
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return data_ == nullptr ? 0 : bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Buffers between two uses.
class Pool {
 public:
  /// The smallest kept buffer that is large enough, or a new one.
  Buffer take(std::size_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      auto best = kept_.end();
      for (auto one = kept_.begin(); one != kept_.end(); ++one) {
        if (one->bytes() >= bytes && (best == kept_.end() || one->bytes() < best->bytes())) {
          best = one;
        }
      }
      if (best != kept_.end()) {
        Buffer found = std::move(*best);
        kept_bytes_ -= found.bytes();
        kept_.erase(best);
        return found;
      }
    }
    return Buffer(bytes);
  }

  void give_back(Buffer buffer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_bytes_ + buffer.bytes() <= kKeptBytes) {
      kept_bytes_ += buffer.bytes();
      kept_.push_back(std::move(buffer));
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Buffer> kept_;
  std::size_t kept_bytes_ = 0;
};

Pool& pool() {
  static Pool* const kPool = new Pool;  // outlives every thread that may still hold a buffer
  return *kPool;
}

/// A buffer that goes back to the pool.
class Loan {
 public:
  explicit Loan(std::size_t bytes) : buffer_(pool().take(bytes)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (buffer_.data() != nullptr) {
      pool().give_back(std::move(buffer_));
    }
  }
  std::byte* data() const { return buffer_.data(); }

 private:
  Buffer buffer_;
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

}  // namespace

std::optional<Bytes> read_mapped(const Bytes& bytes) {
  const std::optional<MappedPlace> place = mapped_place(bytes.span);
  if (!place) {
    return std::nullopt;
  }
  const int fd = ::open(place->path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return std::nullopt;
  }
  std::optional<Bytes> result;
  if (same_file(fd, *place)) {
    const auto loan = std::make_shared<const Loan>(bytes.size());
    if (loan->data() != nullptr && read_whole(fd, loan->data(), bytes.size(), place->offset)) {
      result = Bytes{ByteSpan(loan->data(), bytes.size()), loan};
    }
  }
  ::close(fd);
  return result;
}

}  // namespace opdrift
