#pragma once

#include <span>
#include <string_view>

#include "opdrift/shell/command_line.hpp"
#include "opdrift/shell/session.hpp"

namespace opdrift::shell {

/// One row per command of the shell.
struct ShellCommand {
  std::string_view name;
  std::string_view summary;
  CommandSyntax syntax;
  Status (*run)(Session& session, const CommandLine& line);
  std::string_view help = {};  ///< what to know beside the options, one paragraph
  bool raw = false;            ///< takes its words as they are (a command line of another program)
};

/// All commands, in the order of the help text.
std::span<const ShellCommand> shell_commands();

/// nullptr when there is none of that name.
const ShellCommand* find_shell_command(std::string_view name);

/// Usage, summary, options.
std::string help_of(const ShellCommand& command, std::size_t columns);

/// Runs one line. False when it failed; the reason was shown. A line that is no command is refused:
/// nothing is ever handed to a shell of the system.
bool run_line(Session& session, std::string_view line);

/// The same for words that were split already.
bool run_words(Session& session, std::span<const std::string> words);

}  // namespace opdrift::shell
