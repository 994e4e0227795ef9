#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/base/natural_order.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/report/trends_report.hpp"

namespace opdrift::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift trends step*/result.json\n"
    "  opdrift trends rank0/result.json rank1/result.json -o out/\n"
    "  opdrift trends before/result.json after/result.json --format html -o out/\n"
    "\nTells in which run every operator begins to be wrong: culprit, drift, victim, or over a\n"
    "limit where nothing was judged. A result of several steps is several runs. Numbers in\n"
    "names count as numbers, so step10 follows step9.\n"
    "\nExit codes: 0 no operator drifts, 1 some do, 2 trouble.\n";

struct Options {
  std::vector<std::string> results;
  std::string output;
  std::string formats = "html,csv,json";
  std::size_t rows = 20;
  bool as_given = false;
  bool quiet = false;
};

/// The parts of the paths that tell them apart: without the folders and the end that all share.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> parts;
  for (const std::string& path : paths) {
    std::vector<std::string>& words = parts.emplace_back();
    for (const fs::path& part : fs::path(path).lexically_normal()) {
      words.push_back(part.string());
    }
  }
  const auto shared = [&](auto part_of) {
    std::size_t count = 0;
    const auto all_agree = [&] {
      return std::all_of(parts.begin(), parts.end(), [&](const auto& words) {
        return words.size() > count + 1 && *part_of(words, count) == *part_of(parts[0], count);
      });
    };
    while (all_agree()) {
      ++count;
    }
    return count;
  };
  const std::size_t head = shared([](const auto& words, std::size_t i) { return &words[i]; });
  const std::size_t tail =
      shared([](const auto& words, std::size_t i) { return &words[words.size() - 1 - i]; });
  std::vector<std::string> names;
  for (const auto& words : parts) {
    const bool room = head + tail < words.size();
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(room ? head : 0);
    const auto end = words.end() - static_cast<std::ptrdiff_t>(room ? tail : 0);
    names.push_back(join({begin, end}, "/"));
  }
  return names;
}

Status write_reports(const verdict::Trends& trends, const Options& options, std::string& said) {
  if (options.output.empty()) {
    return Unit{};
  }
  std::error_code problem;
  fs::create_directories(options.output, problem);
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(),
                 options.output};
  }
  for (const std::string_view name : split(options.formats, ',')) {
    OPDRIFT_TRY(const report::TrendsReport* report, report::find_trends_report(name));
    const std::string path = (fs::path(options.output) / report->file_name).string();
    OPDRIFT_CHECK_OK(io::write_file(path, report->render(trends)));
    said += "wrote   " + printable(path) + "\n";
  }
  return Unit{};
}

Result<verdict::Trends> read_trends(const Options& options) {
  const std::vector<std::string> names = short_names(options.results);
  verdict::TrendBuilder builder;
  for (std::size_t i = 0; i < options.results.size(); ++i) {
    OPDRIFT_TRY(const verdict::RunResult result, read_result(options.results[i]));
    builder.add(names[i], result);
  }
  return builder.finish();
}

Result<int> show_trends(const Options& options) {
  for (const std::string_view name : split(options.formats, ',')) {
    OPDRIFT_CHECK_OK(report::find_trends_report(name));
  }
  OPDRIFT_TRY(const verdict::Trends trends, read_trends(options));
  std::string text;
  if (!options.quiet) {
    text = report::render_trends_terminal(trends, {.columns = terminal_columns(),
                                                   .colour = colour_wanted(STDOUT_FILENO),
                                                   .rows = options.rows});
  }
  OPDRIFT_CHECK_OK(write_reports(trends, options, text));
  write_output(text);
  if (trends.lines.empty()) {
    return Error{ErrorCode::invalid_argument, "the results hold no output of any operator"};
  }
  return verdict::by_beginning(trends).empty() ? kExitSame : kExitDiffers;
}

}  // namespace

int run_trends(std::span<const std::string> arguments) {
  CLI::App app("Shows when operators begin to drift over several results.", "opdrift trends");
  Options options;
  app.footer(kFooter);
  app.add_option("RESULT", options.results, "result.json of comparisons: steps, ranks, runs")
      ->required();
  app.add_option("-o,--output", options.output, "folder for the files, made if missing");
  app.add_option("-f,--format", options.formats, "files to write: html, csv, json")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "operators shown in the table")->capture_default_str();
  app.add_flag("--as-given", options.as_given, "keep the order in which the results are given");
  app.add_flag("-q,--quiet", options.quiet, "no table");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (!options.as_given) {
    std::stable_sort(options.results.begin(), options.results.end(), natural_less);
  }
  const Result<int> code = show_trends(options);
  return code ? *code : report_error(code.error());
}

}  // namespace opdrift::cli
