#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/graph/atc_options.hpp"

namespace opdrift::diagnose {

/// An option of atc and the value it gets.
using AtcSetting = std::pair<std::string, std::string>;

/// The command that builds the next offline model of an experiment: that of the present one
/// without the path of the program, with `settings` instead of the options of those names, without
/// the options in `remove`, and with `--output=<old output>_<role>`. Options that stay keep their
/// order; new ones follow. Quoted for a POSIX shell. Never run by opdrift itself.
std::string next_atc_command(const graph::AtcOptions& present, std::string_view role,
                             const std::vector<AtcSetting>& settings,
                             const std::vector<std::string>& remove = {});

}  // namespace opdrift::diagnose
