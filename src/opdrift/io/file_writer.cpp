#include "opdrift/io/file_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kBufferBytes = 1 << 18;
constexpr int kNameAttempts = 100;

/// Renaming over a device or a pipe would replace it by a file. /dev/stdout may lead to a plain
/// one; only /dev/shm is a folder like others.
bool written_directly(const std::string& path) {
  struct stat info {};
  return (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) ||
         (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path, const FileWriterOptions& options) {
  FileWriter writer;
  writer.path_ = path;
  if (path.empty()) {
    return Error{ErrorCode::invalid_argument, "expected the name of a file to write, found none"};
  }
  if (is_folder(path)) {
    return Error{ErrorCode::wrong_kind, "expected a file to write, found a folder", path};
  }
  if (written_directly(path)) {
    writer.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (writer.fd_ < 0) {
      return writer.failed(errno, "open");
    }
  } else {
    OPDRIFT_CHECK_OK(writer.open_temporary(options.mode));
  }
  return writer;
}

Status FileWriter::open_temporary(unsigned mode) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    std::string name(folder_of(path_));
    name += ".opdrift-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd_ >= 0) {
      temporary_ = std::move(name);
      return Unit{};
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return failed(errno, "create");
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      flushed_(other.flushed_),
      buffer_(std::move(other.buffer_)) {}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    temporary_ = std::exchange(other.temporary_, {});
    fd_ = std::exchange(other.fd_, -1);
    flushed_ = other.flushed_;
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

FileWriter::~FileWriter() {
  discard();
}

void FileWriter::discard() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

Error FileWriter::failed(int error_number, const std::string& what) {
  discard();
  Error error = system_error(error_number, what, path_);
  if (error.code == ErrorCode::io) {
    error.code = ErrorCode::write_failed;
  }
  return error;
}

Status FileWriter::write(ByteSpan bytes) {
  if (fd_ < 0) {
    return Error{ErrorCode::write_failed, "an earlier write failed", path_};
  }
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    OPDRIFT_CHECK_OK(flush());
  }
  if (bytes.size() >= kBufferBytes) {
    OPDRIFT_CHECK_OK(write_through(bytes));
    flushed_ += bytes.size();
    return Unit{};
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return Unit{};
}

Status FileWriter::flush() {
  OPDRIFT_CHECK_OK(write_through(buffer_));
  flushed_ += buffer_.size();
  buffer_.clear();
  return Unit{};
}

Status FileWriter::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return failed(errno, "write");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Unit{};
}

Status FileWriter::rewrite(std::uint64_t offset, ByteSpan bytes) {
  OPDRIFT_CHECK(offset + bytes.size() <= position());
  if (fd_ < 0) {
    return Error{ErrorCode::write_failed, "an earlier write failed", path_};
  }
  if (offset >= flushed_) {
    const auto place = static_cast<std::ptrdiff_t>(offset - flushed_);
    std::copy(bytes.begin(), bytes.end(), buffer_.begin() + place);
    return Unit{};
  }
  OPDRIFT_CHECK_OK(flush());
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return failed(errno, "write");
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Unit{};
}

Status FileWriter::commit() {
  if (fd_ < 0) {
    return Error{ErrorCode::write_failed, "an earlier write failed", path_};
  }
  OPDRIFT_CHECK_OK(flush());
  // Network file systems report a full disk or quota only here.
  if (::close(std::exchange(fd_, -1)) != 0) {
    return failed(errno, "close");
  }
  if (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return failed(errno, "rename");
  }
  temporary_.clear();
  return Unit{};
}

Status write_file(const std::string& path, std::string_view content,
                  const FileWriterOptions& options) {
  OPDRIFT_TRY(FileWriter writer, FileWriter::create(path, options));
  OPDRIFT_CHECK_OK(writer.write(content));
  return writer.commit();
}

}  // namespace opdrift::io
