#include "opdrift/shell/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"
#include "opdrift/shell/commands/commands.hpp"

namespace opdrift::shell {

namespace {

/// Other names for a command.
std::string_view full_name(std::string_view word) {
  if (word == "exit" || word == "q") {
    return "quit";
  }
  if (word == "?") {
    return "help";
  }
  return word == "vector_compare" ? "vc" : word == "compare" ? "cp" : word;
}

bool refuse(Session& session, std::string_view word) {
  std::vector<std::string_view> names;
  for (const ShellCommand& command : shell_commands()) {
    names.push_back(command.name);
  }
  constexpr std::size_t kShown = 60;
  session.screen.warn("unknown command '" + ellipsize_middle(printable(word), kShown) + "'" +
                      (word.size() <= kShown ? did_you_mean(word, names) : "") +
                      "; 'help' lists the commands. Nothing was run.");
  return false;
}

}  // namespace

std::span<const ShellCommand> shell_commands() {
  static const std::array kCommands = {
      ac_command(),  vc_command(),    vcs_command(),  ni_command(),  ls_command(),
      la_command(),  pt_command(),    cp_command(),   dc_command(),  pf_command(),
      run_command(), train_command(), help_command(), quit_command()};
  return kCommands;
}

const ShellCommand* find_shell_command(std::string_view name) {
  const std::string_view wanted = full_name(name);
  const std::span<const ShellCommand> all = shell_commands();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const ShellCommand& command) { return command.name == wanted; });
  return found == all.end() ? nullptr : &*found;
}

std::string help_of(const ShellCommand& command, std::size_t columns) {
  std::string text =
      "usage: " + opdrift::wrapped(usage_of(command.name, command.syntax), columns, 7) + "\n\n" +
      opdrift::wrapped(command.summary, columns, 0) + "\n";
  if (!command.help.empty()) {
    text += "\n" + opdrift::wrapped(command.help, columns, 0) + "\n";
  }
  if (!command.syntax.options.empty()) {
    text += "\noptions:\n" + options_help(command.syntax, columns);
  }
  return text;
}

bool run_words(Session& session, std::span<const std::string> words) {
  const ShellCommand* command = find_shell_command(words.front());
  if (command == nullptr) {
    return refuse(session, words.front());
  }
  const std::span<const std::string> rest = words.subspan(1);
  if (!command->raw && wants_help(rest)) {
    session.screen.print(help_of(*command, session.screen.paper().columns));
    return true;
  }
  const Result<CommandLine> line =
      command->raw ? Result<CommandLine>(CommandLine()) : parse_words(command->syntax, rest);
  if (!line.has_value()) {
    session.screen.warn(line.error().message);
    session.screen.print("usage: " + usage_of(command->name, command->syntax));
    return false;
  }
  const Status status = command->run(session, *line);
  if (!status.has_value() && status.error().code != ErrorCode::cancelled) {
    session.screen.warn(status.error());
  }
  return status.has_value();
}

bool run_line(Session& session, std::string_view line) {
  const std::vector<std::string> words = words_of(line);
  return words.empty() || words.front().starts_with('#') || run_words(session, words);
}

}  // namespace opdrift::shell
