#include <filesystem>
#include <string>

#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/pipeline/overflow/overflow.hpp"

namespace opdrift::cli {

int run_overflow(std::span<const std::string> arguments) {
  CLI::App app("Explains the overflow records (Opdebug files) of a device dump.",
               "opdrift overflow");
  app.footer(
      "Examples:\n"
      "  opdrift overflow dump/20240101/0/model/1/0 -o out/\n"
      "  opdrift overflow dump/ -o out/ --count 5\n"
      "\nExit codes: 0 nothing overflowed, 1 an operator did, 2 trouble.\n");
  pipeline::OverflowOptions options;
  app.add_option("PATH", options.dump_folder, "dump folder, searched with its sub-folders")
      ->required();
  app.add_option("-o,--output", options.output_folder, "folder for the report, made if missing")
      ->required();
  app.add_option("-n,--count", options.count, "overflow records to explain, oldest first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  std::error_code problem;
  std::filesystem::create_directories(options.output_folder, problem);
  if (problem) {
    return report_error(Error{ErrorCode::write_failed,
                              "cannot make the folder: " + problem.message(),
                              options.output_folder});
  }
  options.notice = [](pipeline::NoticeLevel level, const std::string& text) {
    if (level != pipeline::NoticeLevel::info) {
      report_error(text);
    }
  };
  const pipeline::OverflowReport report = pipeline::analyse_overflow(options);
  const bool written = write_output(report.text);
  if (report.error) {
    return report_error(*report.error);
  }
  if (report.text.empty()) {
    return kExitSame;
  }
  return written ? kExitDiffers : kExitTrouble;
}

}  // namespace opdrift::cli
