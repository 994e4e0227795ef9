#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

namespace opdrift::shell {

/// Compares the dump of debug_0 with the golden, graph by graph, and debug_1 with debug_0 by
/// operator names; then shows the worst operator. Results go to temp/vector_compare/<now>.
///
/// For every sub-graph of every graph file, in order, the first folder without folders below one
/// named like it (or like it with _0 appended) is taken. When no folder is named like any of them
/// and the dump has one folder only, that one belongs to the first graph.
Status compare_everything(Session& session);

/// Compares two folders; `graph` is the JSON of the left one's model, "" to go by names.
Status compare_folders(Session& session, const std::string& left, const std::string& right,
                       const std::string& graph);

/// Folders below `root` (itself included) that hold files and no folders, by path.
std::vector<std::string> leaf_folders(const std::string& root);

/// The first leaf folder below a folder called `name`; "" when there is none.
std::string leaf_below(const std::vector<std::string>& leaves, const std::string& root,
                       const std::string& name);

}  // namespace opdrift::shell
