#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift report result/result.json\n"
    "  opdrift report result/result.json -o drift.html\n"
    "  opdrift report result/result.json --format html,junit -o out/\n"
    "\nThe html page holds everything and fetches nothing: it opens from disk and can be\n"
    "sent by mail. Exit codes: 0 written, 2 trouble.\n";

struct Options {
  std::string result;
  std::string output;
  std::string formats = "html";
};

/// Where a report goes: the file that was named, else its usual name in the folder that was named,
/// else beside the result.
fs::path place_of(const Options& options, const report::Report& report, bool several) {
  if (options.output.empty()) {
    return fs::path(options.result).parent_path() / report.file_name;
  }
  std::error_code ignored;
  const bool folder =
      several || options.output.back() == '/' || fs::is_directory(options.output, ignored);
  return folder ? fs::path(options.output) / report.file_name : fs::path(options.output);
}

Status write_report(const verdict::RunResult& result, const report::Report& report,
                    const fs::path& path) {
  std::error_code problem;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), problem);
  }
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(),
                 path.parent_path().string()};
  }
  return report::write_report(report, result, path.string());
}

Status write_reports(const Options& options) {
  std::vector<const report::Report*> reports;
  for (const std::string_view name : split(options.formats, ',')) {
    OPDRIFT_TRY(reports.emplace_back(), report::find_report(name));
  }
  OPDRIFT_TRY(const verdict::RunResult result, read_result(options.result));
  for (const report::Report* report : reports) {
    const fs::path path = place_of(options, *report, reports.size() > 1);
    OPDRIFT_CHECK_OK(write_report(result, *report, path));
    write_output("wrote   " + printable(path.string()) + "\n");
  }
  return Unit{};
}

}  // namespace

int run_report(std::span<const std::string> arguments) {
  CLI::App app("Writes a result in other formats, as a page for a browser unless told.",
               "opdrift report");
  Options options;
  app.footer(kFooter);
  app.add_option("RESULT", options.result, "result.json of a comparison")->required();
  app.add_option("-o,--output", options.output,
                 "the file to write, or the folder for several; beside RESULT when not given");
  app.add_option("-f,--format", options.formats, "formats: " + report_names())
      ->capture_default_str();
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const Status written = write_reports(options);
  return written ? kExitSame : report_error(written.error());
}

}  // namespace opdrift::cli
