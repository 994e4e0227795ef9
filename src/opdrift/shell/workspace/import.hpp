#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/workspace/workspace.hpp"

/// A result folder of msquickcmp seen as a workspace. Anywhere below DIR:
///
///   model/*.json               -> npu/debug_0/graph/ge_proto_<k>_Build.txt.json (links)
///   dump_data/{tf,onnx}        -> tf/dump (link)
///   dump_data/npu/<digits>     -> npu/debug_0/dump/<digits> (links)
///   *.csv                      -> temp/vector_compare/0/ (copies)
///
/// Nothing is written into DIR.
namespace opdrift::shell {

/// True when something below `folder` looks like such a result.
bool is_quickcmp_folder(const std::string& folder);

/// Fills the workspace `root`, which must not exist or be an earlier import of the same folder.
/// Fails with wrong_kind when it is something else, not_found when DIR holds nothing to import, or
/// write_failed.
Result<OpenedWorkspace> import_quickcmp(const std::string& folder, const std::string& root);

/// The same with a fitting place for the workspace: precision_data in the current folder, or below
/// the folder for temporary files when that one is taken or lies inside DIR.
Result<OpenedWorkspace> import_beside(const std::string& folder);

}  // namespace opdrift::shell
