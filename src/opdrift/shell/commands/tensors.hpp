#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"
#include "opdrift/shell/workspace/arrays.hpp"

/// Arrays by the names users give: a path (of an array, or of a device dump, which is decoded), or
/// the beginning of the name of an array that was decoded, converted or made by the golden run.
namespace opdrift::shell {

/// Paths of npy files for a name, nothing else found: not_found. A device dump gives one per
/// tensor.
Result<std::vector<std::string>> find_arrays(Session& session, const std::string& name);

/// The first array of that exact name: a path, a file anywhere below temp, then one of the golden;
/// an unambiguous beginning of a name will do.
Result<std::string> find_array(Session& session, const std::string& name);

/// Writes the values as text (once) and returns the path.
Result<std::string> save_values(Session& session, const ArrayFile& array);

}  // namespace opdrift::shell
