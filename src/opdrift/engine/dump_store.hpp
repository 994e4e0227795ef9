#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/dump_names.hpp"
#include "opdrift/engine/manifest.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/precision.hpp"

namespace opdrift::engine {

/// The folder a dump goes to.
class DumpStore {
 public:
  /// Makes the folder. Fails with invalid_argument when it holds a dump already and `overwrite` is
  /// not set, and with what making a folder or removing files may fail with.
  static Result<DumpStore> open(const std::string& folder, bool overwrite, std::uint64_t time_us);

  /// Writes one value and describes it. A value that no file can hold comes back as skipped; a
  /// failed write is an error.
  Result<DumpedValue> write(const std::string& stem, std::size_t index, const std::string& tensor,
                            const RunValue& value, Precision precision);

  /// Writes mapping.csv when it is needed.
  Status finish() const;

  DumpNames& names() { return names_; }
  const std::string& folder() const { return folder_; }
  std::size_t files() const { return files_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  DumpStore(std::string folder, std::uint64_t time_us)
      : folder_(std::move(folder)), names_(time_us) {}

  std::string folder_;
  DumpNames names_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A folder for files that are needed only while a dump is made, removed with the object.
class WorkFolder {
 public:
  /// Makes `parent`/.opdrift-work-<pid>.
  static Result<WorkFolder> create(const std::string& parent);
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~WorkFolder();

  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Bytes that can still be written below a folder.
std::uint64_t free_space(const std::string& folder);

}  // namespace opdrift::engine
