#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// Folders of the shell, those of `precision_tool`:
///
///   precision_data/
///     npu/debug_0/{dump/<timestamp>/..., graph/ge_proto_<id>_Build.txt[.json]}    npu/debug_1/...
///     tf/{dump, ...}      golden arrays
///     pt/{npu,gpu}        *.h5
///     overflow/dump/<timestamp>/...
///     fusion/fusion_result.json
///     temp/{op_graph, decode/..., vector_compare/<YYYYmmddHHMMSS>/result_*.csv}
///
/// Of the timestamp folders (names beginning with a digit) the greatest by text order counts.
/// Everything that is written goes below temp/ (and fusion/); folders the user fills are only made.
namespace opdrift::shell {

/// Runs on a device that a workspace can hold: the one looked at, and one to compare it with.
inline constexpr std::array<int, 2> kDebugIds = {0, 1};

class Workspace {
 public:
  explicit Workspace(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  /// "temp/vector_compare" below the root.
  std::string path(std::string_view relative) const;
  std::string debug(int id, std::string_view relative) const;
  std::string golden() const { return path("tf/dump"); }

 private:
  std::string root_;
};

/// A workspace ready for use, and what to tell the user of it.
struct OpenedWorkspace {
  Workspace workspace;
  std::vector<std::string> notes;
};

/// Opens the workspace at `folder`: precision_data itself, its parent, or a result folder of
/// msquickcmp, which is seen through links in a workspace of its own (import.hpp). Missing folders
/// are made. Fails with not_found or wrong_kind.
Result<OpenedWorkspace> open_workspace(const std::string& folder);

/// True when `folder` is precision_data or something laid out like it.
bool is_workspace(const std::string& folder);

/// Makes the folders of a workspace; what could not be made is returned as text.
std::vector<std::string> make_folders(const Workspace& workspace);

/// Folders directly in `folder` by name, links to folders too; none when it cannot be listed.
std::vector<std::string> folders_in(const std::string& folder);

/// Path of the newest timestamp folder in `folder`; nothing when there is none.
std::optional<std::string> newest_folder(const std::string& folder);

/// Makes a folder with its parents. Fails with write_failed or wrong_kind.
Status make_folder(const std::string& folder);

bool is_folder(const std::string& path);
bool is_file(const std::string& path);

/// Local time as 14 digits.
std::string time_stamp();

}  // namespace opdrift::shell
