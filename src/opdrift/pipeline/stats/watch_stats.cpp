#include "opdrift/pipeline/stats/watch_stats.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/pipeline/stats/stats_record.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMaxDepth = 64;

/// What tells one state of a file from another.
struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileState&) const = default;
};

std::optional<FileState> state_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  return FileState{static_cast<std::uint64_t>(info.st_size),
                   std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
                   static_cast<std::uint64_t>(info.st_ino)};
}

/// Results and notes of any kind: never tensors.
bool has_other_kind(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEnds = {".json", ".txt", ".csv",  ".xlsx", ".yaml",
                                                     ".yml",  ".log", ".html", ".tmp"};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

/// ".opdrift-<pid>-<n>.tmp": the half-written record of some process.
std::optional<pid_t> temporary_owner(std::string_view name) {
  constexpr std::string_view kStart = ".opdrift-";
  if (!name.starts_with(kStart) || !name.ends_with(".tmp")) {
    return std::nullopt;
  }
  name.remove_prefix(kStart.size());
  const auto pid = parse_u64(name.substr(0, name.find('-')));
  return pid ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

/// True while a process has the file open for writing, where the system can tell: a read lease is
/// not granted then. Whoever opens the file in the moment of the lease waits for its end; SIGURG,
/// which does nothing, stands in for the signal that would tell of it.
bool is_open_for_writing(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) {
    return false;
  }
  ::fcntl(fd, F_SETSIG, SIGURG);
  const bool granted = ::fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
  const bool busy = !granted && errno == EAGAIN;
  if (granted) {
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
  }
  ::close(fd);
  return busy;
}

/// Forces a file or a folder's entries to the disk.
Status sync_path(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (fd < 0) {
    return system_error(errno, "open", path);
  }
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems cannot sync folders; they order renames themselves.
  if (result != 0 && error != EINVAL && error != EROFS) {
    return system_error(error, "fsync", path);
  }
  return Unit{};
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// inotify on a tree of folders; silent where the system has none.
class TreeNotifier {
 public:
  explicit TreeNotifier(bool wanted)
      : fd_(wanted ? ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1) {}
  TreeNotifier(const TreeNotifier&) = delete;
  TreeNotifier& operator=(const TreeNotifier&) = delete;
  ~TreeNotifier() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  bool works() const { return fd_ >= 0; }

  void add(const std::string& folder) {
    if (fd_ < 0 || !known_.insert(folder).second) {
      return;
    }
    constexpr std::uint32_t kMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;
    const int watch = ::inotify_add_watch(fd_, folder.c_str(), kMask);
    if (watch >= 0) {
      folders_[watch] = folder;
    }
  }

  struct News {
    std::vector<std::string> finished;  ///< files whose writer is done
    bool rescan = false;                ///< new folders, or events were lost
  };

  /// Waits for at most `wait`.
  News listen(std::chrono::milliseconds wait) {
    News news;
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, fd_ >= 0 ? 1 : 0, static_cast<int>(wait.count()));
    if (fd_ < 0) {
      news.rescan = true;
      return news;
    }
    alignas(inotify_event) std::array<char, 65536> buffer{};
    while (true) {
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got <= 0) {
        return news;
      }
      for (ssize_t at = 0; at < got;) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof(event));
        const char* name = buffer.data() + at + sizeof(event);
        take(event, event.len > 0 ? std::string(name) : std::string(), news);
        at += static_cast<ssize_t>(sizeof(event) + event.len);
      }
    }
  }

 private:
  void take(const inotify_event& event, const std::string& name, News& news) {
    if ((event.mask & IN_Q_OVERFLOW) != 0 || (event.mask & IN_ISDIR) != 0) {
      news.rescan = true;
      return;
    }
    const auto folder = folders_.find(event.wd);
    if ((event.mask & IN_IGNORED) != 0 && folder != folders_.end()) {
      known_.erase(folder->second);
      folders_.erase(folder);
      return;
    }
    if (folder != folders_.end() && (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
      news.finished.push_back(folder->second + "/" + name);
    }
  }

  int fd_;
  std::unordered_map<int, std::string> folders_;
  std::set<std::string> known_;
};

class Watcher {
 public:
  explicit Watcher(const WatchOptions& options)
      : options_(options), notifier_(options.follow && options.use_inotify) {}

  Result<WatchOutcome> run() {
    std::error_code error;
    if (!fs::is_directory(options_.folder, error)) {
      return Error{ErrorCode::not_found, "expected a folder", options_.folder};
    }
    last_news_ = Clock::now();
    while (true) {
      scan(options_.folder, 0);
      OPDRIFT_CHECK_OK(handle_settled());
      if (!options_.follow || stopped() || idle()) {
        return outcome_;
      }
      OPDRIFT_CHECK_OK(wait());
    }
  }

 private:
  struct Candidate {
    FileState state;
    Clock::time_point since;
    bool done = false;  // nothing to do until the state changes
    bool failed = false;
  };

  bool stopped() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  bool idle() const {
    return options_.idle_limit.count() > 0 && Clock::now() - last_news_ >= options_.idle_limit &&
           std::all_of(files_.begin(), files_.end(),
                       [](const auto& file) { return file.second.done; });
  }

  /// Listens until it is time to look around again.
  Status wait() {
    constexpr int kRescanEvery = 20;  // events can be lost on network file systems
    const int rounds = notifier_.works() ? kRescanEvery : 1;
    for (int i = 0; i < rounds && !stopped() && !idle(); ++i) {
      const TreeNotifier::News news = notifier_.listen(options_.poll);
      for (const std::string& path : news.finished) {
        if (!stopped()) {
          OPDRIFT_CHECK_OK(handle_finished(path));
        }
      }
      OPDRIFT_CHECK_OK(handle_settled());
      if (news.rescan) {
        break;
      }
    }
    return Unit{};
  }

  /// Notes what is there. Folders are watched before they are listed, so nothing slips between.
  void scan(const std::string& folder, int depth) {
    notifier_.add(folder);
    std::error_code error;
    std::vector<std::string> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      std::error_code ignored;
      const std::string path = folder + "/" + entry.path().filename().string();
      if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) {
        folders.push_back(path);
      } else {
        note(path);
      }
    }
    for (const std::string& path : folders) {
      if (depth < kMaxDepth && path != options_.output_folder) {
        scan(path, depth + 1);
      }
    }
  }

  void note(const std::string& path) {
    const std::string_view name = io::base_name(path);
    if (const auto owner = temporary_owner(name)) {
      if (::kill(*owner, 0) != 0 && errno == ESRCH) {
        ::unlink(path.c_str());  // left behind by a run that was killed
      }
      return;
    }
    const auto state = state_of(path);
    if (!state || name.ends_with(kStatsSuffix)) {
      return;
    }
    const auto [file, is_new] = files_.try_emplace(path, Candidate{*state, Clock::now()});
    if (is_new || file->second.state != *state) {
      last_news_ = Clock::now();
      outcome_.failed -= file->second.failed ? 1U : 0U;
      file->second = Candidate{*state, Clock::now()};
    }
  }

  Status handle_finished(const std::string& path) {
    note(path);
    const auto file = files_.find(path);
    return file == files_.end() || file->second.done ? Status(Unit{}) : handle(path, file->second);
  }

  Status handle_settled() {
    std::vector<std::string> gone;
    for (auto& [path, file] : files_) {
      if (stopped()) {
        return Unit{};
      }
      if (file.done) {
        continue;
      }
      const auto state = state_of(path);
      if (!state) {
        gone.push_back(path);
      } else if (*state != file.state) {
        file = Candidate{*state, Clock::now()};
        last_news_ = Clock::now();
      } else if (!options_.follow || Clock::now() - file.since >= options_.settle) {
        OPDRIFT_CHECK_OK(handle(path, file));
      }
    }
    for (const std::string& path : gone) {
      files_.erase(path);
    }
    return Unit{};
  }

  std::string record_path(const std::string& path) const {
    if (options_.output_folder.empty()) {
      return path + std::string(kStatsSuffix);
    }
    return options_.output_folder + path.substr(options_.folder.size()) + std::string(kStatsSuffix);
  }

  void report(const std::string& path, WatchEvent event, std::string_view reason = {}) const {
    if (options_.report) {
      options_.report(std::string_view(path).substr(options_.folder.size() + 1), event, reason);
    }
  }

  Status handle(const std::string& path, Candidate& file) {
    file.done = true;
    last_news_ = Clock::now();
    if (has_other_kind(io::base_name(path)) || !io::find_reader(path)) {
      ++outcome_.ignored;
      report(path, WatchEvent::ignored, "not a tensor file");
      return Unit{};
    }
    if (is_open_for_writing(path)) {
      file.done = false;
      file.since = Clock::now();
      return Unit{};
    }
    const std::string target = record_path(path);
    if (is_recorded(target, file.state)) {
      ++outcome_.resumed;
      report(path, WatchEvent::resumed);
    } else {
      let_clock_tick(file.state);
      const Result<FileRecord> record = measure_file(path);
      if (!record) {
        file.failed = true;
        ++outcome_.failed;
        report(path, WatchEvent::failed, record.error().to_string());
        return Unit{};
      }
      OPDRIFT_CHECK_OK(write_record(target, *record));
      ++outcome_.recorded;
      report(path, WatchEvent::recorded);
    }
    return options_.delete_source ? remove_source(path, target, file.state) : Status(Unit{});
  }

  /// File times move in steps of some milliseconds: a write in the step of the last one would go
  /// unnoticed, so the step is let pass before the file is read.
  static void let_clock_tick(const FileState& state) {
    constexpr std::int64_t kStepNs = 20'000'000;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t age =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - state.modified_ns;
    if (age >= 0 && age < kStepNs) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(kStepNs - age));
    }
  }

  static bool is_recorded(const std::string& target, const FileState& state) {
    if (!state_of(target)) {
      return false;
    }
    const Result<FileRecord> record = read_stats_record(target);
    return record && record->bytes == state.bytes && record->modified_ns == state.modified_ns;
  }

  static Status write_record(const std::string& target, const FileRecord& record) {
    std::error_code error;
    fs::create_directories(folder_of(target), error);
    if (error) {
      return system_error(error.value(), "mkdir", folder_of(target));
    }
    return io::write_file(target, to_json(record));
  }

  /// Forces the entries of a record's folder to the disk and, the first time, those of the folders
  /// above it, which this run may have made.
  Status sync_folders(const std::string& folder) {
    OPDRIFT_CHECK_OK(sync_path(folder, O_DIRECTORY));
    std::string above = folder;
    while (!options_.output_folder.empty() && durable_folders_.insert(above).second &&
           above.size() >= options_.output_folder.size() && above != "/" && above != ".") {
      above = folder_of(above);
      OPDRIFT_CHECK_OK(sync_path(above, O_DIRECTORY));
    }
    return Unit{};
  }

  /// The record is forced to the disk, with its name, before the source goes.
  Status remove_source(const std::string& path, const std::string& target,
                       const FileState& measured) {
    OPDRIFT_CHECK_OK(sync_path(target, 0));
    OPDRIFT_CHECK_OK(sync_folders(folder_of(target)));
    const auto state = state_of(path);
    if (!state || *state != measured || !is_recorded(target, measured)) {
      files_[path] = Candidate{state.value_or(FileState{}), Clock::now()};
      return Unit{};
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return system_error(errno, "unlink", path);
    }
    ++outcome_.deleted;
    report(path, WatchEvent::deleted);
    return Unit{};
  }

  const WatchOptions& options_;
  TreeNotifier notifier_;
  std::map<std::string, Candidate> files_;
  std::set<std::string> durable_folders_;  // with everything above them
  WatchOutcome outcome_;
  Clock::time_point last_news_;
};

}  // namespace

Result<WatchOutcome> watch_stats(const WatchOptions& options) {
  WatchOptions cleaned = options;
  while (cleaned.folder.size() > 1 && cleaned.folder.ends_with('/')) {
    cleaned.folder.pop_back();
  }
  while (cleaned.output_folder.size() > 1 && cleaned.output_folder.ends_with('/')) {
    cleaned.output_folder.pop_back();
  }
  return Watcher(cleaned).run();
}

}  // namespace opdrift::pipeline
