#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/terminal.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift compare npu_dump/ golden/ -o result/\n"
    "  opdrift compare npu_dump/ golden/ --graph model.json --format csv,json -o result/\n"
    "  opdrift compare fp16/ fp32/ --gate cosine=0.999,rel_l2=0.02 --fail-on differ,unmatched\n"
    "  opdrift compare a.npy b.npy\n"
    "\nWithout --gate a tensor passes when its relative L2 error is within 32 unit roundoffs of\n"
    "the coarser dtype (at least 1e-3) and NaN and Inf stand in the same places.\n"
    "\nExit codes: 0 agree, 1 differ (see --fail-on), 2 trouble: nothing compared, a side\n"
    "unreadable, interrupted (what was done is still written).\n";

struct Options {
  std::string target;
  std::string golden;
  std::vector<std::string> graphs;
  std::string output;
  std::string formats = "csv,json";
  std::string gates;
  std::string fail_on = "differ,unreadable";
  std::string only;
  std::string range;
  std::size_t rows = 12;
  std::size_t jobs = 0;
  std::uint64_t max_elements = 0;
  bool kl_divergence = false;
  bool quiet = false;
};

/// What ends in exit code 1 (or 2, for what could not be read).
struct FailOn {
  bool differ = false;
  bool unmatched_golden = false;
  bool unmatched_target = false;
  bool unreadable = false;
};

void add_options(CLI::App& app, Options& options) {
  app.footer(kFooter);
  app.add_option("TARGET", options.target, "dump of the suspected run: folder or file")->required();
  app.add_option("GOLDEN", options.golden, "dump of the trusted run: folder or file")->required();
  app.add_option("-g,--graph", options.graphs,
                 "graph json of the target's model (atc --mode=1); may be repeated");
  app.add_option("-o,--output", options.output, "folder for the result files, made if missing");
  app.add_option("-f,--format", options.formats, "result files to write: csv, json")
      ->capture_default_str();
  app.add_option("--gate", options.gates, "limits: cosine=X,rel_l2=X,max_abs=X,max_rel=X");
  app.add_option("--fail-on", options.fail_on,
                 "what makes the exit code non-zero: differ, unmatched, unmatched-golden, "
                 "unmatched-target, unreadable, none")
      ->capture_default_str();
  app.add_option("--select", options.only, "only operators whose name matches this expression");
  app.add_option("--range", options.range, "only these positions in execution order: FIRST:LAST");
  app.add_option("--rows", options.rows, "tensors shown in the table")->capture_default_str();
  app.add_option("-j,--jobs", options.jobs, "threads; 0: one per processor")->capture_default_str();
  app.add_option("--max-elements", options.max_elements,
                 "compare only the first N elements of each tensor");
  app.add_flag("--kl", options.kl_divergence, "Kullback-Leibler divergence too (a second pass)");
  app.add_flag("-q,--quiet", options.quiet, "no table and no progress bar");
}

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

Result<pipeline::CompareOptions> compare_options(const Options& options) {
  pipeline::CompareOptions compare;
  if (!options.gates.empty()) {
    OPDRIFT_TRY(compare.gates, verdict::parse_gates(options.gates));
  }
  if (!options.range.empty()) {
    const auto ends = split(options.range, ':');
    const auto first = parse_u64(ends[0]);
    const auto last = ends.size() == 2 ? parse_u64(ends[1]) : std::nullopt;
    if (!first || !last || *first > *last) {
      return Error{ErrorCode::invalid_argument,
                   "--range '" + options.range + "': expected FIRST:LAST, for example 10:20"};
    }
    compare.first_order = *first;
    compare.last_order = *last;
  }
  compare.graphs = options.graphs;
  compare.only = options.only;
  compare.jobs = options.jobs;
  compare.max_elements = options.max_elements;
  compare.kl_divergence = options.kl_divergence;
  compare.cancel = &interrupt_flag();
  return compare;
}

/// Writes the chosen result files and returns their paths.
Result<std::vector<std::string>> write_reports(const verdict::RunResult& result,
                                               const Options& options) {
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
  for (const std::string_view name : split(options.formats, ',')) {
    OPDRIFT_TRY(const report::Report* report, report::find_report(name));
    const std::string path = (std::filesystem::path(options.output) / report->file_name).string();
    OPDRIFT_CHECK_OK(io::write_file(path, report->render(result)));
    written.push_back(path);
  }
  return written;
}

int exit_code(const verdict::RunResult& result, const FailOn& fail_on) {
  const verdict::LedgerTotals golden = result.totals(verdict::RunSide::golden);
  const verdict::LedgerTotals target = result.totals(verdict::RunSide::target);
  const bool unmatched = (fail_on.unmatched_golden && golden.unmatched > 0) ||
                         (fail_on.unmatched_target && target.unmatched > 0);
  if (result.tensors.empty() || result.interrupted) {
    return kExitTrouble;
  }
  if (unmatched || (fail_on.differ && result.failed() > 0)) {
    return kExitDiffers;
  }
  return fail_on.unreadable && golden.unreadable + target.unreadable > 0 ? kExitTrouble : kExitSame;
}

void print_summary(const verdict::RunResult& result, const Options& options,
                   const std::vector<std::string>& written) {
  const report::TerminalStyle style{
      .columns = terminal_columns(), .colour = colour_wanted(STDOUT_FILENO), .rows = options.rows};
  std::string text = report::render_terminal(result, style);
  for (const std::string& path : written) {
    text += "wrote   " + printable(path) + "\n";
  }
  write_output(text);
}

}  // namespace

int run_compare(std::span<const std::string> arguments) {
  CLI::App app("Compares two dumps operator by operator.", "opdrift compare");
  Options options;
  add_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto fail_on = parse_fail_on(options.fail_on);
  auto compare = compare_options(options);
  if (!fail_on || !compare) {
    return report_error(fail_on ? compare.error() : fail_on.error());
  }
  for (const std::string_view name : split(options.formats, ',')) {
    if (const auto known = report::find_report(name); !known) {
      return report_error(known.error());
    }
  }
  Result<verdict::RunResult> result = Error{};
  {
    Progress progress("comparing", !options.quiet);
    compare->progress = [&](std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
      progress.update(done, total, bytes);
    };
    result = pipeline::compare_dumps(options.target, options.golden, *compare);
  }
  if (!result) {
    return report_error(result.error());
  }
  const auto written = write_reports(*result, options);
  if (!options.quiet) {
    print_summary(*result, options, written ? *written : std::vector<std::string>{});
  }
  return written ? exit_code(*result, *fail_on) : report_error(written.error());
}

}  // namespace opdrift::cli
