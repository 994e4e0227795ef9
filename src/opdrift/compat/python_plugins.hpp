#pragma once

#include <string>

#include "opdrift/base/result.hpp"

namespace opdrift::compat {

/// Looks through the folder of an option `-c`: sub-folders `algorithm` and `format_convert`, files
/// ending in .py or .pyc. opdrift runs no Python; results without a plug-in that somebody counts on
/// would be silently others. Fails with invalid_argument when there is one, with the name of the
/// native way.
Status refuse_python_plugins(const std::string& folder);

}  // namespace opdrift::compat
