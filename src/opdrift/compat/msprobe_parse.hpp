#pragma once

#include <span>
#include <string>

namespace opdrift::compat {

/// `parse -d PATH [-t npy|pt] [-o FOLDER]`: dumps to arrays, torch files in ./output by default.
///
/// Names ending in .bin (any case) are text-header dumps (io/ascend/atb.hpp), everything else goes
/// to `convert -d PATH -t TYPE -out FOLDER`; of a folder the first file by name decides.
/// Text-header dumps that cannot be read are a warning each. Exit status 1 when PATH is missing, a
/// head is not UTF-8, or convert fails; 2 for argument errors.
int run_parse(std::span<const std::string> args);

}  // namespace opdrift::compat
