#include <algorithm>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::cli {

namespace {

constexpr std::size_t kColumns = 80;

std::string row(std::string_view name, std::string_view summary, std::size_t width) {
  std::string line = "  " + std::string(name);
  line.resize(std::max(line.size() + 2, width), ' ');
  return line + wrapped(summary, kColumns, width) + "\n";
}

std::string aliases_of(const metrics::Algorithm& algorithm) {
  std::string text;
  for (const std::string_view alias : algorithm.aliases) {
    text += (text.empty() ? "" : ", ") + std::string(alias);
  }
  return text;
}

std::string formats() {
  std::string text = "Formats that can be read:\n";
  for (const io::Reader& reader : io::readers()) {
    text += row(reader.name, reader.summary, 18);
  }
  return text;
}

std::string model_list() {
  std::string text = "Models that can be read (info, om2json, graph, --graph):\n";
  for (const io::ModelFormat& format : io::model_formats()) {
    text += row(format.name, format.summary, 18);
  }
  return text;
}

std::string metric_list() {
  std::string text =
      "Metrics (--metrics of compare; x target, y golden; below each its short names):\n";
  for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
    text += row(algorithm.name, algorithm.summary, 30);
    text += row("", aliases_of(algorithm), 30);
  }
  return text;
}

std::string report_list() {
  std::string text = "Reports (--format of compare):\n";
  for (const report::Report& report : report::reports()) {
    text += row(report.name, report.summary, 18);
  }
  return text;
}

struct Topic {
  std::string_view name;
  std::string (*text)();
};

constexpr Topic kTopics[] = {{"formats", &formats},
                             {"models", &model_list},
                             {"metrics", &metric_list},
                             {"reports", &report_list}};

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift list\n"
    "  opdrift list metrics\n";

}  // namespace

int run_list(std::span<const std::string> arguments) {
  CLI::App app("Formats, models, metrics and reports this build knows.", "opdrift list");
  app.footer(kFooter);
  std::string topic;
  std::string names;
  for (const Topic& known : kTopics) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  app.add_option("TOPIC", topic, names + "; all when left out");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  std::string text;
  for (const Topic& known : kTopics) {
    if (topic.empty() || topic == known.name) {
      text += (text.empty() ? "" : "\n") + known.text();
    }
  }
  if (text.empty()) {
    return report_error("topic '" + printable(topic) + "': expected one of " + names);
  }
  return write_output(text) ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
