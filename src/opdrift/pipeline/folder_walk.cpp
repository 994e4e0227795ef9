#include "opdrift/pipeline/folder_walk.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "opdrift/base/mapped_file.hpp"

namespace opdrift::pipeline {

namespace {

constexpr unsigned kDeepest = 64;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

enum class EntryKind : std::uint8_t { file, folder, other };

class Walker {
 public:
  /// `root`: so that a link below that leads back to it is found to.
  explicit Walker(const struct stat& root) : visited_{{root.st_dev, root.st_ino}} {}

  Status list(const std::string& folder, const std::string& step, unsigned depth) {
    const std::unique_ptr<DIR, CloseFolder> handle(::opendir(folder.c_str()));
    if (!handle) {
      return system_error(errno, "list folder", folder);
    }
    std::vector<std::pair<std::string, unsigned char>> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(handle.get())) {
      const std::string name(static_cast<const char*>(entry->d_name));
      if (name != "." && name != "..") {
        entries.emplace_back(name, entry->d_type);
      }
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [name, type] : entries) {
      add(folder, step, name, type, depth);
    }
    return Unit{};
  }

  Walk take() { return std::move(walk_); }

 private:
  void add(const std::string& folder, const std::string& step, const std::string& name,
           unsigned char type, unsigned depth) {
    const std::string path = folder + "/" + name;
    switch (kind_of(path, type)) {
      case EntryKind::file: walk_.files.push_back({path, step, name}); return;
      case EntryKind::folder:
        descend(path, step.empty() ? name : step + "/" + name, depth + 1);
        return;
      case EntryKind::other:
        walk_.problems.push_back({ErrorCode::wrong_kind, "expected a file or a folder", path});
        return;
    }
  }

  void descend(const std::string& path, const std::string& step, unsigned depth) {
    struct stat info {};
    if (depth > kDeepest) {
      walk_.problems.push_back({ErrorCode::limit, "expected at most 64 levels of folders", path});
      return;
    }
    if (::stat(path.c_str(), &info) == 0 && !visited_.insert({info.st_dev, info.st_ino}).second) {
      walk_.problems.push_back({ErrorCode::wrong_kind, "leads to a folder already read", path});
      return;
    }
    const Status listed = list(path, step, depth);
    if (!listed) {
      walk_.problems.push_back(listed.error());
    }
  }

  static EntryKind kind_of(const std::string& path, unsigned char type) {
    if (type == DT_REG) {
      return EntryKind::file;
    }
    if (type == DT_DIR) {
      return EntryKind::folder;
    }
    struct stat info {};
    if ((type != DT_LNK && type != DT_UNKNOWN) || ::stat(path.c_str(), &info) != 0) {
      return EntryKind::other;
    }
    if (S_ISDIR(info.st_mode)) {
      return EntryKind::folder;
    }
    return S_ISREG(info.st_mode) ? EntryKind::file : EntryKind::other;
  }

  Walk walk_;
  std::set<std::pair<dev_t, ino_t>> visited_;
};

}  // namespace

Result<Walk> walk_folder(const std::string& root) {
  struct stat info {};
  if (::stat(root.c_str(), &info) != 0) {
    return system_error(errno, "open", root);
  }
  if (S_ISREG(info.st_mode)) {
    const std::size_t cut = root.rfind('/');
    Walk walk;
    walk.files.push_back({root, "", cut == std::string::npos ? root : root.substr(cut + 1)});
    return walk;
  }
  if (!S_ISDIR(info.st_mode)) {
    return Error{ErrorCode::wrong_kind, "expected a file or a folder", root};
  }
  std::string folder = root;
  while (folder.size() > 1 && folder.back() == '/') {
    folder.pop_back();
  }
  Walker walker(info);
  OPDRIFT_CHECK_OK(walker.list(folder, "", 0));
  return walker.take();
}

}  // namespace opdrift::pipeline
