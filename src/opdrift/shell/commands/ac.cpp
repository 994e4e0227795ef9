#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/compare_all.hpp"
#include "opdrift/shell/commands/fusion.hpp"
#include "opdrift/shell/commands/graph_checks.hpp"
#include "opdrift/shell/commands/overflow_report.hpp"
#include "opdrift/shell/commands/summary.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-c", "--compare", "", "compare everything first, as vc does"},
    {"-l", "--limit", "N", "overflow records shown; 3 unless told otherwise"},
};

/// The steps of the check, in order. One that fails does not keep the others from running.
Status run(Session& session, const CommandLine& line) {
  OPDRIFT_TRY(const std::size_t records, line.count("-l", 3));
  const auto step = [&session](const Status& status) {
    if (!status.has_value() && status.error().code != ErrorCode::cancelled) {
      session.screen.warn(status.error());
    }
    return !session.stopping();
  };
  const bool compared = !line.has("-c") || step(compare_everything(session));
  const bool done = compared && step(show_summary(session, SummaryRequest{})) &&
                    step(show_fusion(session)) && step(show_overflow(session, records)) &&
                    step(show_dangerous_casts(session)) && step(show_similarity(session));
  return done ? Status(Unit{}) : Error{ErrorCode::cancelled, "interrupted"};
}

}  // namespace

ShellCommand ac_command() {
  return {.name = "ac",
          .summary = "Checks everything: results, fusion, overflow, dangerous casts, two graphs.",
          .syntax = {.options = kOptions},
          .run = &run};
}

}  // namespace opdrift::shell
