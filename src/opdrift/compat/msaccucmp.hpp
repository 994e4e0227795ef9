#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opdrift::compat {

/// One command of the msaccucmp front end. `run` gets the arguments behind the command's name.
struct CompatCommand {
  std::string_view name;
  std::string_view summary;
  int (*run)(std::span<const std::string> args);
};

/// All commands, in the order of the help text.
std::span<const CompatCommand> msaccucmp_commands();

/// `msaccucmp COMMAND ...`: runs the command named first and returns its exit status. Without
/// arguments the help text and 6; an unknown command is an argument error (2).
int run_msaccucmp(std::span<const std::string> args);

}  // namespace opdrift::compat
