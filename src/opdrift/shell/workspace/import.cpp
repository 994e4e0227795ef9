#include "opdrift/shell/workspace/import.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::shell {

namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 12;
constexpr std::string_view kMark = "temp/imported_from.txt";

/// What was found below a result folder.
struct Findings {
  std::vector<fs::path> graphs;
  std::vector<fs::path> goldens;
  std::vector<fs::path> dumps;
  std::vector<fs::path> tables;

  bool any() const { return !graphs.empty() || !dumps.empty() || !goldens.empty(); }
};

void sort_all(Findings& found) {
  for (auto* list : {&found.graphs, &found.goldens, &found.dumps, &found.tables}) {
    std::sort(list->begin(), list->end());
  }
}

/// Takes up one folder; true when there is no need to look into it.
bool take_folder(const fs::path& path, Findings& found) {
  const std::string name = path.filename().string();
  const std::string parent = path.parent_path().filename().string();
  if (parent == "dump_data" && (name == "tf" || name == "onnx")) {
    found.goldens.push_back(path);
    return true;
  }
  if (parent == "npu" && path.parent_path().parent_path().filename() == "dump_data" &&
      is_digits(name)) {
    found.dumps.push_back(path);
    return true;
  }
  return false;
}

void take_file(const fs::path& path, Findings& found) {
  if (path.extension() == ".json" && path.parent_path().filename() == "model") {
    found.graphs.push_back(path);
  } else if (path.extension() == ".csv") {
    found.tables.push_back(path);
  }
}

Findings look_below(const std::string& folder) {
  Findings found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (entry.depth() >= kMaxDepth || entry->path().filename() == "precision_data" ||
          take_folder(entry->path(), found)) {
        entry.disable_recursion_pending();
      }
    } else if (entry->is_regular_file(ignored)) {
      take_file(entry->path(), found);
    }
  }
  sort_all(found);
  return found;
}

std::string real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path.string() : real.string();
}

/// A link to `target`; an older one is replaced.
Status make_link(const fs::path& target, const fs::path& place) {
  std::error_code error;
  const bool free = !fs::exists(fs::symlink_status(place, error));
  if (!free && (fs::is_symlink(place, error) || fs::is_empty(place, error))) {
    fs::remove(place, error);
  }
  fs::create_symlink(real_path(target), place, error);
  if (error) {
    return Error{ErrorCode::write_failed, "cannot make a link: " + error.message(), place.string()};
  }
  return Unit{};
}

Status copy_table(const fs::path& source, const fs::path& target) {
  OPDRIFT_TRY(const Bytes bytes, map_file(source.string()));
  return io::write_file(target.string(), as_text(bytes.span));
}

/// A table whose name is taken gets its number appended: result_1.csv, result_12.csv.
Status import_tables(const Findings& found, const Workspace& workspace) {
  const std::string folder = workspace.path("temp/vector_compare/0");
  OPDRIFT_CHECK_OK(make_folder(folder));
  std::set<std::string> used;
  for (const fs::path& table : found.tables) {
    std::string name = table.filename().string();
    for (std::size_t k = 2; !used.insert(name).second; ++k) {
      name = table.stem().string() + std::to_string(k) + ".csv";
    }
    OPDRIFT_CHECK_OK(copy_table(table, fs::path(folder) / name));
  }
  return Unit{};
}

Status fill(const Findings& found, const Workspace& workspace) {
  for (std::size_t k = 0; k < found.graphs.size(); ++k) {
    const std::string name = "ge_proto_" + std::to_string(k) + "_Build.txt.json";
    OPDRIFT_CHECK_OK(make_link(found.graphs[k], workspace.debug(0, "graph/" + name)));
  }
  for (const fs::path& dump : found.dumps) {
    OPDRIFT_CHECK_OK(make_link(dump, workspace.debug(0, "dump/" + dump.filename().string())));
  }
  if (!found.goldens.empty()) {
    OPDRIFT_CHECK_OK(make_link(found.goldens.front(), workspace.golden()));
  }
  return import_tables(found, workspace);
}

/// The folder an import came from; "" for other workspaces.
std::string imported_from(const std::string& root) {
  const auto bytes = map_file(root + "/" + std::string(kMark));
  return bytes.has_value() ? std::string(trim(as_text(bytes->span))) : std::string();
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

std::string workspace_elsewhere(const std::string& real_folder) {
  const char* temporary = std::getenv("TMPDIR");
  const std::string base = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
  return base + "/opdrift-shell-" + std::to_string(::getuid()) + "/" +
         std::to_string(stable_hash(real_folder)) + "/precision_data";
}

}  // namespace

bool is_quickcmp_folder(const std::string& folder) {
  return look_below(folder).any();
}

Result<OpenedWorkspace> import_quickcmp(const std::string& folder, const std::string& root) {
  std::error_code ignored;
  const std::string source = real_path(folder);
  if (fs::exists(root, ignored) && imported_from(root) != source) {
    return Error{ErrorCode::wrong_kind,
                 "expected no such folder, since the results of " + source +
                     " are to be shown through it; start in another folder",
                 root};
  }
  const Findings found = look_below(source);
  if (!found.any()) {
    return Error{ErrorCode::not_found,
                 "expected model/*.json, dump_data/npu/<number> or dump_data/{tf,onnx}, found none",
                 folder};
  }
  OpenedWorkspace opened{Workspace(root), {}};
  const std::vector<std::string> problems = make_folders(opened.workspace);
  if (!problems.empty()) {
    return Error{ErrorCode::write_failed, problems.front()};
  }
  OPDRIFT_CHECK_OK(fill(found, opened.workspace));
  OPDRIFT_CHECK_OK(io::write_file(opened.workspace.path(kMark), source + "\n"));
  opened.notes.push_back("results of msquickcmp: " + std::to_string(found.graphs.size()) +
                         " graphs, " + std::to_string(found.dumps.size()) + " dumps, " +
                         std::to_string(found.tables.size()) + " tables; work folder " + root);
  if (found.goldens.size() > 1) {
    opened.notes.push_back("several goldens, taking " + found.goldens.front().string());
  }
  return opened;
}

Result<OpenedWorkspace> import_beside(const std::string& folder) {
  std::error_code error;
  const std::string source = real_path(folder);
  const std::string here = real_path(fs::current_path(error));
  const std::string root = here + "/precision_data";
  const bool taken = fs::exists(root, error) && imported_from(root) != source;
  if (taken || is_inside(here, source) || ::access(here.c_str(), W_OK) != 0) {
    return import_quickcmp(folder, workspace_elsewhere(source));
  }
  return import_quickcmp(folder, root);
}

}  // namespace opdrift::shell
