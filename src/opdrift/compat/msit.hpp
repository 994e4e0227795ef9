#pragma once

#include <span>
#include <string>
#include <string_view>

/// `msit` as its users type it:
///
///   msit debug COMMAND [OPTION]...
///
/// The words that name a command stand in one table (msit.cpp), so that a command costs one row.
namespace opdrift::compat {

/// One command of the msit front end.
struct MsitCommand {
  std::string_view words;                         ///< "debug surgeon extract"
  std::string_view summary;                       ///< one line for the help text
  int (*run)(std::span<const std::string> args);  ///< gets what stands behind `words`
  bool listed = true;                             ///< false for another spelling of a command
};

/// All commands, in the order of the help text.
std::span<const MsitCommand> msit_commands();

/// Runs the command whose words begin `args` and returns its exit status. No words, or only the
/// first words of a command, print the help text and end with 2; -h and --help end with 0; unknown
/// words are an argument error (2).
int run_msit(std::span<const std::string> args);

}  // namespace opdrift::compat
