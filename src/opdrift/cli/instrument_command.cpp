#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/engine/surgery/instrument_file.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift instrument model.onnx -o new_model.onnx\n"
    "  opdrift instrument model.onnx -o new_model.onnx --typed\n"
    "\nFor runtimes that opdrift does not run itself: their outputs, saved under the names of "
    "names.csv,\n"
    "are a dump that opdrift compares.\n";

std::string summary_of(const engine::InstrumentReport& report, const std::string& output) {
  std::string text = "shown   " + std::to_string(report.outputs) + " outputs of " +
                     std::to_string(report.operators) + " operators";
  text += report.named > 0 ? ", " + std::to_string(report.named) + " of them named\n" : "\n";
  if (report.typed > 0) {
    text += "typed   " + std::to_string(report.typed) + " outputs\n";
  }
  text += "wrote   " + printable(output) + "\n";
  if (!report.saved.data_file.empty()) {
    text += "wrote   " + printable(report.saved.data_file) + "\n";
  }
  return text + "wrote   " + printable(report.names_file) + "\n";
}

}  // namespace

int run_instrument(std::span<const std::string> arguments) {
  CLI::App app("Makes every operator's outputs outputs of an ONNX model.", "opdrift instrument");
  app.footer(kFooter);
  std::string model;
  std::string output;
  bool typed = false;
  app.add_option("MODEL", model, "ONNX model")->required();
  app.add_option("-o,--output", output, "the new model; names.csv goes beside it")->required();
  app.add_flag("--typed", typed, "state types and shapes where the model knows them");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto report = engine::instrument_file(model, output, typed);
  if (!report) {
    return report_error(report.error());
  }
  return write_output(summary_of(*report, output)) ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
