#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/compare_all.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-lt", "--left", "DIR", "folder of dumps to judge; with -rt only"},
    {"-rt", "--right", "DIR", "folder of dumps to trust; with -lt only"},
    {"-g", "--graph", "FILE", "graph JSON of the model of -lt; by names without it"},
};

Status run(Session& session, const CommandLine& line) {
  if (line.has("-lt") != line.has("-rt")) {
    return Error{ErrorCode::invalid_argument, "expected both -lt and -rt, or neither"};
  }
  if (!line.has("-lt")) {
    return compare_everything(session);
  }
  return compare_folders(session, line.text("-lt"), line.text("-rt"), line.text("-g"));
}

}  // namespace

ShellCommand vc_command() {
  return {.name = "vc",
          .summary = "Compares all operators of two dumps.",
          .syntax = {.options = kOptions},
          .run = &run,
          .help =
              "Without options: the newest dump of debug_0 with the golden (tf/dump), graph by "
              "graph, and debug_1 with debug_0. Tables go to temp/vector_compare; the worst "
              "operator is shown, 'vcs' shows more."};
}

}  // namespace opdrift::shell
