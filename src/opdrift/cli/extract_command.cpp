#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe_value.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/engine/surgery/extract_file.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift extract model.onnx -o part.onnx --start conv1 --end relu4,add7\n"
    "  opdrift extract model.onnx -o head.onnx --start pool --check\n"
    "  opdrift extract m.onnx -o one.onnx --start c3 --end c3 --input-shape x:1,64"
    "\n"
    "\nKept are the operators behind a start and before an end. The inputs of the new model are "
    "what\n"
    "these read from elsewhere, its outputs all outputs of the ends.\n";

void add_options(CLI::App& app, engine::ExtractFileOptions& options, bool& apart) {
  app.footer(kFooter);
  app.add_option("MODEL", options.model, "ONNX model")->required();
  app.add_option("-o,--output", options.output, "the new model")->required();
  app.add_option("--start", options.starts,
                 "operators to start at, A,B; without: all that read an input");
  app.add_option("--end", options.ends,
                 "operators to end at, A,B; without: all that make an output");
  app.add_option("--input-shape", options.input_shapes,
                 "NAME:1,3;NAME:n,-1: other shapes for inputs of the new model");
  app.add_option("--input-type", options.input_types,
                 "NAME:fp16;NAME:int8: other types for inputs of the new model");
  app.add_flag("--break", apart, "instead: all operators in one model, none feeding another");
  app.add_flag("--infer", options.infer, "fill in types and shapes with ONNX Runtime");
  app.add_flag("--check", options.check, "load the new model in ONNX Runtime");
  app.add_option("--onnxruntime", options.library, "path of libonnxruntime.so");
}

std::string summary_of(const engine::ExtractFileReport& report, const std::string& output) {
  const io::onnx::Graph& graph = report.extracted.part.placed.model.graph;
  std::string text = "kept    " + std::to_string(graph.nodes.size()) + " of " +
                     std::to_string(report.operators) + " operators, " +
                     std::to_string(graph.initializers.size()) + " constants, " +
                     human_bytes(report.saved.weight_bytes) + " of weights\n";
  for (const io::onnx::ValueInfo& input : graph.inputs) {
    text += "input   " + describe(input) + "\n";
  }
  for (const io::onnx::ValueInfo& value : graph.outputs) {
    text += "output  " + describe(value) + "\n";
  }
  text += "wrote   " + printable(output) + "\n";
  if (!report.saved.data_file.empty()) {
    text += "wrote   " + printable(report.saved.data_file) + "\n";
  }
  return text;
}

int break_model(const engine::ExtractFileOptions& options) {
  const auto report = engine::break_file(options);
  if (!report) {
    return report_error(report.error());
  }
  for (const std::string& name : report->assumed) {
    report_warning("the type of '" + printable(name) + "' is not known: float32 was assumed");
  }
  std::string text;
  for (const engine::SinglePiece& piece : report->pieces) {
    text += "piece   " + printable(piece.node) + "  " + printable(join(piece.inputs, ", ")) +
            " -> " + printable(join(piece.outputs, ", ")) + "\n";
  }
  text += "wrote   " + printable(options.output) + "\n";
  return write_output(text) ? kExitSame : kExitTrouble;
}

}  // namespace

int run_extract(std::span<const std::string> arguments) {
  CLI::App app("Cuts a sub-graph out of an ONNX model.", "opdrift extract");
  engine::ExtractFileOptions options;
  bool apart = false;
  add_options(app, options, apart);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (apart) {
    return break_model(options);
  }
  const auto report = engine::extract_file(options);
  if (!report) {
    return report_error(report.error());
  }
  for (const engine::ExtractWarning& warning : report->extracted.warnings) {
    report_warning(std::string(engine::to_string(warning.kind)) + ": " + describe(warning));
  }
  for (const std::string& note : report->notes) {
    report_warning(note);
  }
  std::string text = summary_of(*report, options.output);
  if (options.check && report->check_problem.empty()) {
    text += "checked ONNX Runtime loads it\n";
  }
  const bool written = write_output(text);
  if (!report->check_problem.empty()) {
    return report_error("ONNX Runtime does not load the new model: " + report->check_problem);
  }
  return written ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
