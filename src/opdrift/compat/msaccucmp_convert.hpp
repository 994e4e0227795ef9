#pragma once

#include <span>
#include <string>

#include "opdrift/pipeline/convert/convert.hpp"

namespace opdrift::compat {

/// `msaccucmp convert`: arguments, log lines and exit status of the reference, on top of
/// pipeline/convert.hpp. `args` come without program and command name.
int run_convert(std::span<const std::string> args);

/// The exit status for one converted file.
int convert_exit_code(const pipeline::FileConversion& conversion);

}  // namespace opdrift::compat
