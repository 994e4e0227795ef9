#include "opdrift/base/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "opdrift/base/mapped_file.hpp"

namespace opdrift {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "opdrift-";
constexpr std::size_t kSuffixLength = 6;  // of mkdtemp
constexpr std::string_view kLockName = "/.lock";

std::string parent_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

/// Whether a folder is one of ours whose owner is gone. The lock is put in place when it is held
/// already, so a folder without one is being made at this moment.
bool is_left_behind(const fs::path& folder) {
  const std::string name = folder.filename().string();
  struct stat status {};
  if (name.size() != kPrefix.size() + kSuffixLength || !name.starts_with(kPrefix) ||
      ::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid()) {
    return false;
  }
  const std::string lock_path = folder.string() + std::string(kLockName);
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) {
    return false;
  }
  const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);
  return free;
}

void remove_left_behind(const std::string& parent) {
  std::error_code problem;
  for (fs::directory_iterator it(parent, problem), end; !problem && it != end;
       it.increment(problem)) {
    if (is_left_behind(it->path())) {
      std::error_code ignored;
      fs::remove_all(it->path(), ignored);
    }
  }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  const std::string parent = parent_folder();
  remove_left_behind(parent);
  std::string path = parent + "/" + std::string(kPrefix) + std::string(kSuffixLength, 'X');
  if (::mkdtemp(path.data()) == nullptr) {
    return system_error(errno, "cannot make a temporary folder", parent);
  }
  TemporaryFolder made;
  made.path_ = path;
  const std::string lock_path = path + std::string(kLockName);
  const std::string unlocked_path = lock_path + ".new";
  made.lock_ = ::open(unlocked_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made.lock_ < 0 || ::flock(made.lock_, LOCK_EX | LOCK_NB) != 0 ||
      ::rename(unlocked_path.c_str(), lock_path.c_str()) != 0) {
    return system_error(errno, "cannot lock a temporary folder", path);
  }
  return made;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept {
  swap(other);
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  swap(other);
  return *this;
}

void TemporaryFolder::swap(TemporaryFolder& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

}  // namespace opdrift
