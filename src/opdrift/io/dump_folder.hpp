#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/ascend/names.hpp"

/// A folder of dump files, sorted by operator. Files directly in the folder count; sub-folders,
/// `mapping.csv` and `convert_failed_file_list.txt` do not. For each file:
///
///   1. a name of digits (with .npy or without) is replaced by its entry in mapping.csv
///   2. the ending chooses the pattern (ascend/names.hpp): .npy, .pb, .quant, else offline
///   3. the operator key is cleaned, unless the FFTS flag is set
///   4. long names carry a task type: sliced or not
namespace opdrift::io {

/// What made the files of a folder.
enum class FolderKind : std::uint8_t {
  offline,   ///< Ascend device
  quant,     ///< quantised original model
  standard,  ///< original model of a framework
};

std::string_view to_string(FolderKind kind);

struct ScanOptions {
  bool ffts = false;             ///< take operator keys as they stand
  bool has_fusion_rule = false;  ///< see clean_op_name
};

struct ScannedFile {
  std::string path;       ///< on disk
  std::string real_name;  ///< after mapping.csv; else the file name
};

/// The files of one operator, oldest first. Of a normal operator the last one counts; sliced ones
/// belong together (see ascend/slices.hpp).
struct FolderEntry {
  std::string op_key;
  SliceMode mode = SliceMode::normal;
  std::vector<ScannedFile> files;
};

struct IgnoredFile {
  std::string name;
  std::string reason;
};

struct DumpFolder {
  std::string path;
  FolderKind kind = FolderKind::offline;
  bool quantised = false;
  std::vector<FolderEntry> entries;   ///< ascending by key
  std::vector<IgnoredFile> ignored;   ///< ascending by name
  std::vector<std::string> warnings;  ///< rows of mapping.csv, odd time stamps

  /// The entry of a key, nullptr when there is none.
  const FolderEntry* find(std::string_view op_key) const;
  /// The entry of an operator given by its model name: "/" and "." read as "_", the output index
  /// appended after a dot (0 for quantised originals when none is given).
  const FolderEntry* find_op(std::string_view op_name,
                             std::optional<std::uint64_t> output_index = std::nullopt) const;
};

/// Lists the folder once and sorts its files. Fails with bad_task_type (task type outside 0 to 4),
/// bad_name (files of different kinds, or no dump file at all), or not_found, permission,
/// wrong_kind, io.
Result<DumpFolder> scan_folder(const std::string& path, const ScanOptions& options = {});

/// Names of the regular files directly in a folder, ascending. Links to files count.
Result<std::vector<std::string>> list_files(const std::string& path);

}  // namespace opdrift::io
