#include "opdrift/cli/result_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "opdrift/base/heap.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/report/json_result.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/terminal.hpp"

namespace opdrift::cli {

namespace {

constexpr std::string_view kFileFormats = "csv,json";

Result<FailOn> parse_fail_on(const std::string& text) {
  FailOn fail_on;
  for (const std::string_view word : split(text, ',')) {
    if (word == "differ") {
      fail_on.differ = true;
    } else if (word == "unmatched") {
      fail_on.unmatched_golden = fail_on.unmatched_target = true;
    } else if (word == "unmatched-golden") {
      fail_on.unmatched_golden = true;
    } else if (word == "unmatched-target") {
      fail_on.unmatched_target = true;
    } else if (word == "unreadable") {
      fail_on.unreadable = true;
    } else if (word != "none") {
      return Error{ErrorCode::invalid_argument,
                   "--fail-on '" + std::string(word) +
                       "': expected differ, unmatched, unmatched-golden, unmatched-target, "
                       "unreadable or none"};
    }
  }
  return fail_on;
}

std::vector<std::string_view> formats_of(const ResultOptions& options) {
  return split(options.formats.empty() ? kFileFormats : options.formats, ',');
}

/// Writes the chosen result files and returns their paths.
Result<std::vector<std::string>> write_reports(const verdict::RunResult& result,
                                               const ResultOptions& options) {
  std::vector<std::string> written;
  if (options.output.empty()) {
    return written;
  }
  std::error_code problem;
  std::filesystem::create_directories(options.output, problem);
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(),
                 options.output};
  }
  for (const std::string_view name : formats_of(options)) {
    OPDRIFT_TRY(const report::Report* report, report::find_report(name));
    const std::string path = (std::filesystem::path(options.output) / report->file_name).string();
    OPDRIFT_CHECK_OK(report::write_report(*report, result, path));
    written.push_back(path);
  }
  return written;
}

/// Whether the run as a whole is a failure: culprits or crossed limits, or a verdict that says so
/// for another reason (an output that is missing).
bool differs(const verdict::RunResult& result) {
  return result.failed() > 0 ||
         (result.verdict && result.verdict->outcome == verdict::Outcome::fail);
}

int exit_code(const verdict::RunResult& result, const FailOn& fail_on) {
  const verdict::LedgerTotals golden = result.totals(verdict::RunSide::golden);
  const verdict::LedgerTotals target = result.totals(verdict::RunSide::target);
  const bool unmatched = (fail_on.unmatched_golden && golden.unmatched > 0) ||
                         (fail_on.unmatched_target && target.unmatched > 0);
  if (result.tensors.empty() || result.interrupted) {
    return kExitTrouble;
  }
  if (unmatched || (fail_on.differ && differs(result))) {
    return kExitDiffers;
  }
  const bool inconclusive =
      result.verdict && result.verdict->outcome == verdict::Outcome::inconclusive;
  if (fail_on.differ && inconclusive) {
    return kExitTrouble;
  }
  return fail_on.unreadable && golden.unreadable + target.unreadable > 0 ? kExitTrouble : kExitSame;
}

/// Why the exit code is one of trouble, in a line for runs that show no table.
std::string trouble_of(const verdict::RunResult& result) {
  if (result.interrupted) {
    return "interrupted";
  }
  for (const verdict::LedgerEntry& entry : result.ledger) {
    if (entry.state == verdict::LedgerState::unreadable) {
      return (result.tensors.empty() ? "nothing compared; " : "") + entry.path + ": " +
             entry.reason;
    }
  }
  return result.tensors.empty()
             ? "nothing compared; no tensor of the target has a counterpart in the golden"
             : "the verdict is inconclusive";
}

}  // namespace

Result<verdict::RunResult> read_result(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  constexpr std::size_t kHeapOfText = 6;  // bytes of values for each byte of JSON, measured
  expect_allocations(kHeapOfText * std::min(bytes.span.size(), std::size_t{1} << 28));
  return report::parse_json(as_text(bytes.span), path);
}

std::string report_names() {
  std::string names;
  for (const report::Report& report : report::reports()) {
    names += (names.empty() ? "" : ", ") + std::string(report.name);
  }
  return names;
}

void add_result_options(CLI::App& app, ResultOptions& options) {
  app.add_option("-o,--output", options.output, "folder for the result files, made if missing");
  app.add_option("-f,--format", options.formats,
                 "result files to write: " + report_names() +
                     "; without --output one of them, printed in place of the table")
      ->default_str(std::string(kFileFormats));
  app.add_option("--fail-on", options.fail_on,
                 "what makes the exit code non-zero: differ, unmatched, unmatched-golden, "
                 "unmatched-target, unreadable, none")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "tensors shown in the table")->capture_default_str();
  app.add_flag("-q,--quiet", options.quiet, "no table and no progress bar");
}

bool prints_format(const ResultOptions& options) {
  return options.output.empty() && !options.formats.empty();
}

Result<FailOn> check_result_options(const ResultOptions& options) {
  const std::vector<std::string_view> names = formats_of(options);
  for (const std::string_view name : names) {
    OPDRIFT_TRY(const report::Report* report, report::find_report(name));
    if (prints_format(options) && (names.size() > 1 || report->render == nullptr)) {
      return Error{ErrorCode::invalid_argument,
                   "--format " + options.formats +
                       ": give --output, the folder to write to; without it one text format is "
                       "printed"};
    }
  }
  return parse_fail_on(options.fail_on);
}

int show_result(const verdict::RunResult& result, const ResultOptions& options,
                const FailOn& fail_on) {
  const auto written = write_reports(result, options);
  if (prints_format(options)) {
    const auto report = report::find_report(options.formats);
    if (!report) {
      return report_error(report.error());
    }
    write_output((*report)->render(result));
  } else if (!options.quiet) {
    const report::TerminalStyle style{.columns = terminal_columns(),
                                      .colour = colour_wanted(STDOUT_FILENO),
                                      .rows = options.rows};
    std::string text = report::render_terminal(result, style);
    for (const std::string& path : written ? *written : std::vector<std::string>{}) {
      text += "wrote   " + printable(path) + "\n";
    }
    write_output(text);
  }
  if (!written) {
    return report_error(written.error());
  }
  const int code = exit_code(result, fail_on);
  return options.quiet && code == kExitTrouble ? report_error(trouble_of(result)) : code;
}

}  // namespace opdrift::cli
