#include "opdrift/compat/msaccucmp_overflow.hpp"

#include <iostream>

#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/command_run.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/pipeline/overflow/overflow.hpp"

namespace opdrift::compat {

namespace {

CommandSpec overflow_command() {
  return {.program = "msaccucmp overflow",
          .summary = "Tell which operators overflowed, from operator-debug dumps.",
          .options = {
              {.key = "dump_path",
               .flags = {"-d", "--dump_path"},
               .help = "folder of the dump files",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "output",
               .flags = {"-out", "--output"},
               .help = "folder of the results",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "top_num",
               .flags = {"-n", "--top_num"},
               .help = "number of debug files to analyse, oldest first",
               .rule = ValueRule::integer,
               .choices = {"1", "2", "3", "4", "5"}},
          }};
}

int overflow_exit_code(const pipeline::OverflowReport& report) {
  switch (report.cause) {
    case pipeline::OverflowCause::none: return kExitSuccess;
    case pipeline::OverflowCause::no_record: return kExitParseDump;
    case pipeline::OverflowCause::unknown_unit: return kExitOverflowType;
    case pipeline::OverflowCause::no_status: return kExitOverflowStatus;
    case pipeline::OverflowCause::bad_record:
    case pipeline::OverflowCause::nothing_converted: return kExitUnknown;
    case pipeline::OverflowCause::other: break;
  }
  return report.error ? exit_code(report.error->code) : kExitUnknown;
}

int analyse(const Arguments& arguments, ReferenceLog& log) {
  pipeline::OverflowOptions options;
  options.dump_folder = real_path(arguments.text("dump_path"));
  options.output_folder = real_path(arguments.text("output"));
  options.count = static_cast<std::size_t>(arguments.integer("top_num", 1));
  options.notice = [&log](pipeline::NoticeLevel level, const std::string& text) {
    log.write(static_cast<LogLevel>(level), text);
  };
  for (const Status& usable : {check_path(arguments.text("dump_path"), PathKind::folder),
                               prepare_output_folder(arguments.text("output"))}) {
    if (!usable) {
      log.error(usable.error().to_string());
      return exit_code(usable.error().code);
    }
  }
  return overflow_exit_code(pipeline::analyse_overflow(options));
}

}  // namespace

int run_overflow(std::span<const std::string> args) {
  const CommandSpec command = overflow_command();
  if (args.empty()) {
    std::cout << help_text(command) << std::flush;
    return kExitInvalidParameter;
  }
  return run_command(command, "overflow", args,
                     [](const Arguments& arguments, ReferenceLog& log) -> Result<int> {
                       return analyse(arguments, log);
                     });
}

}  // namespace opdrift::compat
