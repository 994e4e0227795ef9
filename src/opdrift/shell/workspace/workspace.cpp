#include "opdrift/shell/workspace/workspace.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"
#include "opdrift/shell/workspace/import.hpp"

namespace opdrift::shell {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRootName = "precision_data";

constexpr std::string_view kFolders[] = {
    "npu/debug_0/dump",
    "npu/debug_0/graph",
    "npu/debug_1/dump",
    "npu/debug_1/graph",
    "tf/tf_debug",
    "tf/dump",
    "tf/graph",
    "tf/checkpoints",
    "pt/npu",
    "pt/gpu",
    "overflow/dump",
    "fusion",
    "temp/op_graph",
    "temp/decode/dump_decode",
    "temp/decode/overflow_decode",
    "temp/decode/dump_convert",
    "temp/decode/pt",
    "temp/vector_compare",
};

bool has_digit_first(const std::string& name) {
  return !name.empty() && name.front() >= '0' && name.front() <= '9';
}

}  // namespace

std::string Workspace::path(std::string_view relative) const {
  return root_ + "/" + std::string(relative);
}

std::string Workspace::debug(int id, std::string_view relative) const {
  return path("npu/debug_" + std::to_string(id)) + "/" + std::string(relative);
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      names.push_back(entry->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> newest_folder(const std::string& folder) {
  std::optional<std::string> newest;
  for (const std::string& name : folders_in(folder)) {
    if (has_digit_first(name)) {
      newest = folder + "/" + name;
    }
  }
  return newest;
}

Status make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem || !is_folder(folder)) {
    return Error{ErrorCode::write_failed,
                 "cannot make the folder: " + (problem ? problem.message() : "a file is there"),
                 folder};
  }
  return Unit{};
}

std::string time_stamp() {
  return pipeline::time_stamp(false);
}

bool is_workspace(const std::string& folder) {
  std::error_code ignored;
  const std::string name = fs::weakly_canonical(folder, ignored).filename().string();
  return name == kRootName || is_folder(folder + "/npu/debug_0") ||
         is_folder(folder + "/temp/vector_compare");
}

std::vector<std::string> make_folders(const Workspace& workspace) {
  std::vector<std::string> problems;
  for (const std::string_view folder : kFolders) {
    const Status made = make_folder(workspace.path(folder));
    if (!made) {
      problems.push_back(made.error().to_string());
      break;  // the others would fail for the same reason
    }
  }
  return problems;
}

Result<OpenedWorkspace> open_workspace(const std::string& folder) {
  if (!is_folder(folder)) {
    return Error{is_file(folder) ? ErrorCode::wrong_kind : ErrorCode::not_found,
                 "expected a folder that holds precision_data, or a result folder of msquickcmp",
                 folder};
  }
  std::string root = folder;
  while (root.size() > 1 && root.back() == '/') {
    root.pop_back();
  }
  const std::string inside = (root == "." ? "" : root + "/") + std::string(kRootName);
  if (!is_folder(inside) && !is_workspace(root) && is_quickcmp_folder(root)) {
    return import_beside(root);
  }
  if (is_folder(inside) || !is_workspace(root)) {
    root = inside;
  }
  OpenedWorkspace opened{Workspace(root), {}};
  opened.notes = make_folders(opened.workspace);
  return opened;
}

}  // namespace opdrift::shell
