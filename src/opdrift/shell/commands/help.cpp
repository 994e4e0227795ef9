#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/commands/commands.hpp"

namespace opdrift::shell {

namespace {

constexpr std::size_t kNameColumns = 8;

Status show_help(Session& session, const CommandLine& line) {
  const std::size_t columns = session.screen.paper().columns;
  if (!line.names().empty()) {
    const ShellCommand* command = find_shell_command(line.names().front());
    if (command == nullptr) {
      return Error{
          ErrorCode::invalid_argument,
          "there is no command '" + printable(line.names().front()) + "'; 'help' lists them"};
    }
    session.screen.print(help_of(*command, columns));
    return Unit{};
  }
  for (const ShellCommand& command : shell_commands()) {
    std::string name(command.name);
    name.resize(std::max(name.size() + 1, kNameColumns), ' ');
    const Lines lines = wrapped(text_line(std::string(command.summary)),
                                columns > kNameColumns + 12 ? columns - kNameColumns : 12);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      Line shown = text_line(k == 0 ? name : std::string(kNameColumns, ' '), Tone::bold);
      shown.insert(shown.end(), lines[k].begin(), lines[k].end());
      session.screen.print(shown);
    }
  }
  session.screen.note("'COMMAND -h' explains one of them.");
  return Unit{};
}

Status leave(Session& session, const CommandLine& /*line*/) {
  session.leave = true;
  return Unit{};
}

}  // namespace

ShellCommand help_command() {
  return {.name = "help",
          .summary = "Lists the commands, or explains one.",
          .syntax = {.names = "COMMAND", .most_names = 1, .name_kind = NameKind::words},
          .run = &show_help};
}

ShellCommand quit_command() {
  return {.name = "quit", .summary = "Leaves the shell.", .syntax = {}, .run = &leave};
}

}  // namespace opdrift::shell
