#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/shell/session.hpp"

/// The interactive shell: reads a line, runs a command, shows what came out, until `quit`, the end
/// of input, or Ctrl-C at an empty prompt.
///
/// A terminal gets a banner, a prompt, editing and pages; anything else is a script and gets the
/// results alone. Blank lines and lines that begin with # are passed over.
namespace opdrift::shell {

/// The terminal a shell runs on.
struct Terminal {
  bool interactive = false;  ///< standard input and output are a terminal
  bool colour = false;
  bool unicode = true;
  std::function<std::size_t()> columns;
  std::function<std::size_t()> rows;
  std::string history_file;
};

struct ShellOptions {
  OpenedWorkspace opened;
  SessionSettings settings;
  Terminal terminal;
  std::string banner;
  std::vector<std::string> words;  ///< one command to run instead of reading lines
};

/// True when every command succeeded and all results could be written; of an interactive shell
/// always.
bool run_shell(ShellOptions options);

}  // namespace opdrift::shell
