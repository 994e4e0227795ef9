#include "opdrift/diagnose/offline/workspace.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStampDigits = 14;
constexpr const char* kMark = "/.waiting";

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Folders named like a time, the latest first.
std::vector<std::string> stamped_folders(const std::string& output) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator entry(output, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == kStampDigits && is_digits(name)) {
      names.push_back(name);
    }
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

}  // namespace

Outcome<Workspace> open_workspace(const std::string& output, std::string_view key) {
  std::error_code problem;
  fs::create_directories(output, problem);
  const std::string base = fs::weakly_canonical(output, problem).string();
  for (const std::string& name : stamped_folders(base)) {
    std::string folder = base;
    folder += "/" + name;
    if (first_line(folder + kMark) == key) {
      return Workspace{folder, true};
    }
  }
  // Two comparisons of one second: the second one takes the next.
  std::string stamp = pipeline::time_stamp(false);
  bool made = false;
  for (int tries = 0; tries < 100 && !made; ++tries) {
    made = fs::create_directory(base + "/" + stamp, problem);
    if (problem) {
      return failed(Number::write_file, "cannot make the folder: " + problem.message(),
                    base + "/" + stamp);
    }
    stamp = made ? stamp : std::to_string(parse_u64(stamp).value_or(0) + 1);
  }
  return Workspace{base + "/" + stamp, false};
}

Done mark_waiting(const Workspace& workspace, std::string_view key) {
  return Done(io::write_file(workspace.folder + kMark, std::string(key) + "\n"));
}

void unmark_waiting(const Workspace& workspace) {
  std::error_code ignored;
  fs::remove(workspace.folder + kMark, ignored);
}

std::string command_key(const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options) {
    text += std::to_string(option.size()) + ":" + option;
  }
  return std::to_string(stable_hash(text));
}

}  // namespace opdrift::diagnose::offline
