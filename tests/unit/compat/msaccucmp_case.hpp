#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace opdrift::compat {

/// The shared folder with recorded runs of the reference; may be absent.
std::filesystem::path shared_folder();

/// A copy of a folder that may be written to, removed with the object. The process stands in it
/// while the object lives.
class WorkingCopy {
 public:
  explicit WorkingCopy(const std::filesystem::path& source);
  WorkingCopy(const WorkingCopy&) = delete;
  WorkingCopy& operator=(const WorkingCopy&) = delete;
  ~WorkingCopy();

  const std::filesystem::path& path() const { return path_; }
  /// Files that were not in the copy at first, as relative paths; 14 digits read TIMESTAMP.
  std::map<std::string, std::filesystem::path> new_files() const;

 private:
  std::vector<std::string> files() const;

  std::filesystem::path path_;
  std::filesystem::path before_;
  std::vector<std::string> first_files_;
};

/// A cell, or a whole text file, that differs from the recorded run because a defect is mended.
struct Deviation {
  std::string row;     ///< TensorIndex or NPUDump of the row; the file name for whole files
  std::string column;  ///< "" for a whole file; "first row" of a text; "new row" of a table
  std::string value;   ///< "*" for any
};

struct Tolerance {
  double abs = 0.0;
  double rel = 0.0;
};

/// Compares files a command made with those of a recorded run.
class FileComparer {
 public:
  FileComparer(const nlohmann::json& description, std::vector<Deviation> deviations,
               std::string root);

  /// What differs, one line per difference; empty when nothing does.
  std::vector<std::string> compare(const std::string& name, const std::filesystem::path& expected,
                                   const std::filesystem::path& actual) const;

 private:
  using Rows = std::vector<std::vector<std::string>>;

  std::string expected_text(const std::filesystem::path& file) const;
  std::vector<std::string> compare_table(const Rows& expected, const Rows& actual) const;
  std::vector<std::string> compare_plain(const std::string& name, const std::string& expected,
                                         const std::string& actual) const;
  std::string compare_row(const std::vector<std::string>& header,
                          const std::vector<std::string>& expected,
                          const std::vector<std::string>& actual) const;
  std::string better_cell(const std::string& row, const std::string& column) const;
  const Deviation* deviation(const std::string& row, const std::string& column) const;
  bool same_cell(const std::string& column, const std::string& expected,
                 const std::string& actual) const;
  Tolerance tolerance_of(const std::string& column) const;

  nlohmann::json description_;
  std::vector<Deviation> deviations_;
  std::string root_;
};

/// The whole of a file.
std::string read_file(const std::filesystem::path& path);

}  // namespace opdrift::compat
