#include <algorithm>
#include <string>

#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::cli {

namespace {

std::string row(std::string_view name, std::string_view summary, std::size_t width) {
  std::string line = "  " + std::string(name);
  line.resize(std::max(line.size() + 2, width), ' ');
  return line + std::string(summary) + "\n";
}

}  // namespace

int run_list(std::span<const std::string> arguments) {
  CLI::App app("Formats, algorithms and reports this build knows.", "opdrift list");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  std::string text = "Formats that can be read:\n";
  for (const io::Reader& reader : io::readers()) {
    text += row(reader.name, reader.summary, 18);
  }
  text += "\nAlgorithms:\n";
  for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
    text += row(algorithm.name, algorithm.summary, 30);
  }
  text += "\nReports (--format of compare):\n";
  for (const report::Report& report : report::reports()) {
    text += row(report.name, report.summary, 18);
  }
  return write_output(text) ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
