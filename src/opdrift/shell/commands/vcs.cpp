#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/summary.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-f", "--file", "PATH", "a result table or a folder of them; the newest results by default"},
    {"-c", "--cosine", "LIMIT", "an output at or below it lists its operator; 0.98 by default"},
    {"-l", "--limit", "N", "operators shown; 3 by default"},
};

Status run(Session& session, const CommandLine& line) {
  SummaryRequest request;
  request.path = line.text("-f");
  OPDRIFT_TRY(request.limit, line.number("-c", request.limit));
  OPDRIFT_TRY(request.most, line.count("-l", request.most));
  return show_summary(session, request);
}

}  // namespace

ShellCommand vcs_command() {
  return {.name = "vcs",
          .summary = "Lists the operators of a comparison whose outputs differ.",
          .syntax = {.options = kOptions},
          .run = &run,
          .help =
              "Per operator: names on both sides and the cosine of every input and output, red "
              "where it is at or below the limit."};
}

}  // namespace opdrift::shell
