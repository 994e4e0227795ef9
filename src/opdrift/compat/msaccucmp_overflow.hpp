#pragma once

#include <span>
#include <string>

namespace opdrift::compat {

/// `msaccucmp overflow`: arguments, log lines and exit status of the reference, on top of
/// pipeline/overflow.hpp. `args` come without program and command name.
int run_overflow(std::span<const std::string> args);

}  // namespace opdrift::compat
