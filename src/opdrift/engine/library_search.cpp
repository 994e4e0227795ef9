#include "opdrift/engine/library_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "opdrift/base/text.hpp"

namespace opdrift::engine {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The library in a folder: the plain name, else the last versioned one.
std::string library_in(const fs::path& folder) {
  std::string best;
  for (const fs::path& file : children(folder)) {
    const std::string name = file.filename().string();
    if (name == "libonnxruntime.so") {
      return file.string();
    }
    if (name.starts_with("libonnxruntime.so.")) {
      best = file.string();
    }
  }
  return best;
}

/// A wish: a library, or a folder that holds one.
LibraryCandidate wish(const std::string& path, const std::string& origin) {
  std::error_code failed;
  std::string library = path;
  if (fs::is_directory(path, failed)) {
    library = library_in(path);
    if (library.empty()) {
      library = (fs::path(path) / "libonnxruntime.so").string();
    }
  }
  return {library, origin, true};
}

void add_found(std::vector<LibraryCandidate>& out, const fs::path& folder,
               const std::string& origin) {
  const std::string library = library_in(folder);
  if (!library.empty()) {
    out.push_back({library, origin, false});
  }
}

void add_around_executable(std::vector<LibraryCandidate>& out) {
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (failed) {
    return;
  }
  const fs::path folder = executable.parent_path();
  for (const fs::path& place : {folder, folder / "lib", folder.parent_path() / "lib"}) {
    add_found(out, place, "beside the executable");
  }
  for (const fs::path& build : {folder.parent_path(), folder.parent_path().parent_path()}) {
    add_found(out, build / "deps" / "onnxruntime" / "lib", "the set-up");
  }
}

std::vector<fs::path> python_library_folders() {
  std::vector<fs::path> folders;
  for (const char* prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string value = environment(prefix); !value.empty()) {
      folders.push_back(fs::path(value) / "lib");
    }
  }
  if (const std::string home = environment("HOME"); !home.empty()) {
    folders.push_back(fs::path(home) / ".local" / "lib");
  }
  folders.emplace_back("/usr/local/lib");
  folders.emplace_back("/usr/lib");
  return folders;
}

void add_python_packages(std::vector<LibraryCandidate>& out) {
  std::vector<fs::path> packages;
  const std::string search_path = environment("PYTHONPATH");
  for (const std::string_view entry : split(search_path, ':')) {
    if (!entry.empty()) {
      packages.emplace_back(entry);
    }
  }
  for (const fs::path& folder : python_library_folders()) {
    for (const fs::path& python : children(folder)) {
      if (python.filename().string().starts_with("python3")) {
        packages.push_back(python / "site-packages");
        packages.push_back(python / "dist-packages");
      }
    }
  }
  for (const fs::path& package : packages) {
    add_found(out, package / "onnxruntime" / "capi", "the Python package onnxruntime");
  }
}

}  // namespace

std::vector<LibraryCandidate> library_candidates(const std::string& given) {
  if (!given.empty()) {
    return {wish(given, "--onnxruntime")};
  }
  if (const std::string wished = environment("OPDRIFT_ONNXRUNTIME"); !wished.empty()) {
    return {wish(wished, "OPDRIFT_ONNXRUNTIME")};
  }
  std::vector<LibraryCandidate> out;
  add_around_executable(out);
#ifdef OPDRIFT_ONNXRUNTIME_LIBRARY_DIR
  add_found(out, OPDRIFT_ONNXRUNTIME_LIBRARY_DIR, "the set-up");
#endif
  out.push_back({"libonnxruntime.so.1", "the system loader", false});
  out.push_back({"libonnxruntime.so", "the system loader", false});
  add_python_packages(out);
  return out;
}

std::string how_to_get_onnxruntime() {
  return "running models needs the ONNX Runtime library (libonnxruntime.so). Get it by "
         "`tools/setup.sh engine`, by the package libonnxruntime-dev where your system has it, or "
         "by `pip install onnxruntime`; or name one with --onnxruntime PATH or "
         "OPDRIFT_ONNXRUNTIME=PATH";
}

}  // namespace opdrift::engine
