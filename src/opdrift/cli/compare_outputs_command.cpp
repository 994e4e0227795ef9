#include <cstdio>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/offline/output_sets.hpp"
#include "opdrift/report/text_table.hpp"

namespace opdrift::cli {

namespace {

namespace offline = diagnose::offline;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift compare-outputs --onnx onnx_out/ --om npu_out/\n"
    "  opdrift compare-outputs --framework torch/ --onnx onnx/ --om npu/ \\\n"
    "      --inputs-framework torch_in/ --inputs-om npu_in/\n"
    "\nFolders hold .npy or .bin files, paired by name, else in the order of their numbers.\n"
    "\nExit codes: 0 all agree, 1 the sides differ, 2 trouble.\n";

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string table_of(const offline::SetComparison& comparison) {
  report::TextTable table;
  table.columns = {{"Golden", false, 12}, {"Target", false, 12}, {"Cosine", true},
                   {"Rel. L2", true},     {"Max abs", true},     {"Result"}};
  for (const offline::ArrayPair& pair : comparison.pairs) {
    const bool read = pair.nearness != offline::Nearness::unreadable;
    table.rows.push_back({{printable(pair.golden)},
                          {printable(pair.target)},
                          {read ? number(pair.cosine) : ""},
                          {read ? number(pair.relative_l2) : ""},
                          {read ? number(pair.max_abs) : ""},
                          {std::string(to_string(pair.nearness))}});
  }
  std::string text = comparison.title + "\n\n" + table.render(terminal_columns(), false);
  for (const offline::ArrayPair& pair : comparison.pairs) {
    text += pair.reason.empty() ? "" : "note    " + printable(pair.reason) + "\n";
  }
  for (const std::string& name : comparison.lonely) {
    text += "note    " + printable(name) + " has no partner\n";
  }
  return text + "\n";
}

std::string advice_for(offline::Boundary boundary) {
  switch (boundary) {
    case offline::Boundary::preprocess:
      return "the runs did not get the same input; make them agree before anything else";
    case offline::Boundary::export_model:
      return "the ONNX model does not compute what the framework does; check its export";
    case offline::Boundary::model:
      return "the offline model computes something else; compare its operators "
             "(opdrift msit debug compare)";
    case offline::Boundary::postprocess: break;
  }
  return "the outputs agree; if the application is still wrong, look behind them";
}

std::string text_of(const offline::BoundaryReport& report) {
  std::string text;
  for (const auto* comparisons : {&report.inputs, &report.outputs}) {
    for (const offline::SetComparison& comparison : *comparisons) {
      text += table_of(comparison);
    }
  }
  const bool same = report.verdict == offline::Boundary::postprocess;
  return text + (same ? "AGREE   " : "DIFFER  ") + std::string(to_string(report.verdict)) + ": " +
         advice_for(report.verdict) + "\n";
}

}  // namespace

int run_compare_outputs(std::span<const std::string> arguments) {
  CLI::App app("Compares what goes in and comes out of one network in two or three runs.",
               "opdrift compare-outputs");
  app.footer(kFooter);
  offline::OutputSets sets;
  app.add_option("--framework", sets.framework, "outputs of the framework");
  app.add_option("--onnx", sets.onnx, "outputs of the ONNX model");
  app.add_option("--om", sets.offline, "outputs of the offline model");
  app.add_option("--inputs-framework", sets.framework_inputs, "inputs of the framework");
  app.add_option("--inputs-onnx", sets.onnx_inputs, "inputs of the ONNX model");
  app.add_option("--inputs-om", sets.offline_inputs, "inputs of the offline model");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto report = offline::compare_output_sets(sets);
  if (!report) {
    return report_error(report.error());
  }
  if (!write_output(text_of(*report))) {
    return kExitTrouble;
  }
  return report->verdict == offline::Boundary::postprocess ? kExitSame : kExitDiffers;
}

}  // namespace opdrift::cli
