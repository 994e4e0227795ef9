#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/offline/advise.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift advise result_20240101120000.csv\n"
    "  opdrift advise result.csv --input-nodes \"x;mask\" -o advice/\n"
    "  opdrift advise on_vs_off.csv --graph fused.json -o advice/\n"
    "\nWritten to -o: advisor_summary.txt, the table with the columns IsNpuOps, IsOutputNode\n"
    "and IsPrecisionError, and with --graph the passes behind every fused operator and the\n"
    "fusion_switch.cfg that turns off those of the rows named.\n"
    "\nExit codes: 0 within the limits, 1 a row is beyond them or float16 overflowed, 2 trouble.\n";

struct Words {
  std::string input_nodes;
  std::string output_nodes;
  std::string strategy = "first";
};

void add_options(CLI::App& app, diagnose::AdviseOptions& options, Words& words) {
  app.footer(kFooter);
  app.add_option("RESULT", options.result, "result csv of a whole-network comparison")->required();
  app.add_option("--input-nodes", words.input_nodes, "inputs of the network, \"a;b\"");
  app.add_option("--output-nodes", words.output_nodes,
                 "nodes that make the outputs of the model, \"a;b\"");
  app.add_option("--graph", options.graph, "graph of the target model, to name fusion passes");
  app.add_option("--strategy", words.strategy,
                 "rows to show: first, each (the first of every number), all")
      ->capture_default_str();
  app.add_flag("--all-operators", options.all_operators,
               "operators without a pass in the report on fusion as well");
  app.add_option("-o,--output", options.output_folder, "folder for the files, made if missing");
}

std::string text_of(const diagnose::AdviseReport& report) {
  std::string text = diagnose::alarm_text(report.alarms);
  std::string last;
  for (std::size_t i = 0; i < report.alarm_passes.size(); ++i) {
    const std::string& target = report.alarms[i].target;
    if (!report.alarm_passes[i].empty() && target != last) {
      text += "passes  " + printable(target) + ": " + printable(report.alarm_passes[i]) + "\n";
    }
    last = target;
  }
  for (const std::string& line : report.advice.lines()) {
    text += printable(line) + "\n";
  }
  for (const std::string& file : report.files) {
    text += "wrote   " + printable(file) + "\n";
  }
  return text;
}

}  // namespace

int run_advise(std::span<const std::string> arguments) {
  CLI::App app("Says what a finished result table means.", "opdrift advise");
  diagnose::AdviseOptions options;
  Words words;
  add_options(app, options, words);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto strategy = diagnose::strategy_by_name(words.strategy);
  if (!strategy) {
    return report_error("--strategy '" + printable(words.strategy) +
                        "': expected first, each or all");
  }
  options.strategy = *strategy;
  options.input_nodes = diagnose::split_names(words.input_nodes, ';');
  for (std::string& name : diagnose::split_names(words.output_nodes, ';')) {
    options.output_nodes.insert(std::move(name));
  }
  const auto report = diagnose::advise_on_file(options);
  if (!report) {
    return report_error(report.error());
  }
  if (!write_output(text_of(*report))) {
    return kExitTrouble;
  }
  const bool wrong = !report->alarms.empty() || report->advice.operator_index != "NA";
  return wrong ? kExitDiffers : kExitSame;
}

}  // namespace opdrift::cli
