#include "opdrift/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_read.hpp"

namespace opdrift {

namespace {

/// Below this many bytes one read is cheaper than a mapping and its page faults.
constexpr std::uint64_t kReadBelowBytes = std::uint64_t{64} << 10;
/// Of larger files so much is read besides: headers of most formats.
constexpr std::uint64_t kHeadBytes = 1024;
constexpr std::size_t kNoSlot = ~std::size_t{0};

/// Mappings the SIGBUS handler may repair. The handler only reads atomics and calls mmap, both safe
/// in a signal handler.
struct GuardedMapping {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> damaged{false};
};

/// What lies behind a guarded mapping.
struct MappingSource {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

std::array<GuardedMapping, 4096> guarded_mappings;
std::array<MappingSource, guarded_mappings.size()> mapping_sources;  // under guard_mutex
std::mutex guard_mutex;
struct sigaction previous_action {};

extern "C" void repair_mapping(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (GuardedMapping& mapping : guarded_mappings) {
    const std::uintptr_t begin = mapping.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= mapping.end.load(std::memory_order_acquire)) {
      continue;
    }
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    void* start = static_cast<char*>(info->si_addr) - address % page;
    if (::mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
      mapping.damaged.store(true, std::memory_order_release);
      return;
    }
  }
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    previous_action.sa_sigaction(signal_number, info, context);
    return;
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void install_guard_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &repair_mapping;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previous_action);
  });
}

std::size_t guard(const void* data, std::size_t bytes, MappingSource source) {
  install_guard_once();
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::lock_guard<std::mutex> lock(guard_mutex);
  for (std::size_t i = 0; i < guarded_mappings.size(); ++i) {
    if (guarded_mappings[i].begin.load() == 0) {
      guarded_mappings[i].damaged.store(false);
      guarded_mappings[i].end.store(begin + bytes);
      guarded_mappings[i].begin.store(begin);
      mapping_sources[i] = std::move(source);
      return i;
    }
  }
  return kNoSlot;
}

void unguard(std::size_t slot) {
  if (slot != kNoSlot) {
    const std::lock_guard<std::mutex> lock(guard_mutex);
    guarded_mappings[slot].begin.store(0);
    guarded_mappings[slot].end.store(0);
  }
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Fills the buffer; a file that turned shorter meanwhile gives fewer bytes.
Result<std::uint64_t> read_all(int fd, std::byte* buffer, std::uint64_t count,
                               const std::string& path) {
  std::uint64_t done = 0;
  while (done < count) {
    const ssize_t got = ::read(fd, buffer + done, static_cast<std::size_t>(count - done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_error(errno, "read", path);
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::uint64_t>(got);
  }
  return done;
}

}  // namespace

Bytes Bytes::part(std::uint64_t offset, std::uint64_t count) const {
  OPDRIFT_CHECK(offset <= span.size() && count <= span.size() - offset);
  return {span.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count)), owner};
}

Bytes own_bytes(std::vector<std::byte> buffer) {
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(buffer));
  return {ByteSpan(kept->data(), kept->size()), kept};
}

Error system_error(int error_number, const std::string& what, const std::string& path) {
  ErrorCode code = ErrorCode::io;
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: code = ErrorCode::not_found; break;
    case EACCES:
    case EPERM:
    case EROFS: code = ErrorCode::permission; break;
    case EISDIR: code = ErrorCode::wrong_kind; break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: code = ErrorCode::write_failed; break;
    case ENOMEM: code = ErrorCode::out_of_memory; break;
    default: break;
  }
  const char* const failed = what.starts_with("cannot ") ? ": " : " failed: ";
  return Error{code, what + failed + std::strerror(error_number), path};
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    return system_error(errno, "open", path);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error(errno, "stat", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::wrong_kind, "expected a regular file", path};
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->size_ = static_cast<std::uint64_t>(info.st_size);
  file->guard_slot_ = kNoSlot;
  const bool small = file->size_ < kReadBelowBytes;
  const std::uint64_t wanted = small ? file->size_ : kHeadBytes;
  file->buffer_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(wanted) + 1);
  OPDRIFT_TRY(const std::uint64_t got, read_all(fd.get(), file->buffer_.get(), wanted, path));
  file->buffer_bytes_ = static_cast<std::size_t>(got);
  if (small) {
    file->size_ = got;
    file->data_ = file->buffer_.get();
    return std::shared_ptr<const MappedFile>(std::move(file));
  }
  void* data =
      ::mmap(nullptr, static_cast<std::size_t>(file->size_), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    return system_error(errno, "mmap", path);
  }
  file->mapped_bytes_ = static_cast<std::size_t>(file->size_);
  file->data_ = static_cast<const std::byte*>(data);
  file->guard_slot_ = guard(
      data, file->mapped_bytes_,
      {path, static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)});
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (mapped_bytes_ > 0) {
    unguard(guard_slot_);
    ::munmap(const_cast<std::byte*>(data_), mapped_bytes_);
  }
}

bool MappedFile::damaged() const {
  return guard_slot_ != kNoSlot && guarded_mappings[guard_slot_].damaged.load();
}

void MappedFile::advise_sequential() const {
  if (mapped_bytes_ > 0) {
    ::madvise(const_cast<std::byte*>(data_), mapped_bytes_, MADV_SEQUENTIAL);
  }
}

std::optional<MappedPlace> mapped_place(ByteSpan bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::lock_guard<std::mutex> lock(guard_mutex);
  for (std::size_t i = 0; i < guarded_mappings.size(); ++i) {
    const std::uintptr_t start = guarded_mappings[i].begin.load();
    const std::uintptr_t end = guarded_mappings[i].end.load();
    if (start != 0 && begin >= start && begin < end && bytes.size() <= end - begin) {
      const MappingSource& source = mapping_sources[i];
      return MappedPlace{source.path, source.device, source.inode, begin - start};
    }
  }
  return std::nullopt;
}

Result<Bytes> map_file(const std::string& path) {
  OPDRIFT_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const ByteSpan span = file->bytes();
  return Bytes{span, std::move(file)};
}

}  // namespace opdrift
