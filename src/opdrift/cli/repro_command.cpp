#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/diagnose/repro/replay.hpp"
#include "opdrift/diagnose/repro/write_repro.hpp"
#include "opdrift/report/terminal.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift repro conv1 --target npu/ --golden golden/ --model m.onnx -o conv1.zip\n"
    "  opdrift repro --run conv1.zip\n"
    "\nA bundle holds the operator as a model of its own, its inputs and outputs of both runs, "
    "the\n"
    "versions and the command that shows the verdict again. --run runs the operator on the golden\n"
    "inputs, tells whether the golden outputs come out, and compares the target with the golden.\n"
    "\nExit codes: writing 0; --run as compare: 0 agree, 1 differ, 2 trouble.\n";

struct Options {
  diagnose::ReproOptions write;
  diagnose::ReplayOptions run;
  ResultOptions show;
};

void add_options(CLI::App& app, Options& options) {
  app.footer(kFooter);
  app.add_option("OP", options.write.operator_name, "name of the operator");
  app.add_option("--target", options.write.target, "dump of the suspected run");
  app.add_option("--golden", options.write.golden, "dump of the trusted run");
  app.add_option("-m,--model", options.write.model, "ONNX model of the network");
  app.add_option("--run", options.run.bundle, "run this bundle, a folder or a zip, again");
  app.add_option("-o,--output", options.write.output,
                 "folder or .zip to write, repro_<OP> without it");
  app.add_option("--onnxruntime", options.run.library, "path of libonnxruntime.so, for --run");
  app.add_option("-j,--jobs", options.run.compare.jobs, "threads; 0: one per processor")
      ->capture_default_str();
  app.add_flag("-q,--quiet", options.show.quiet, "no table");
}

Status check(const Options& options) {
  const diagnose::ReproOptions& write = options.write;
  const bool any = !(write.operator_name.empty() && write.target.empty() && write.golden.empty() &&
                     write.model.empty() && write.output.empty());
  if (!options.run.bundle.empty() && any) {
    return Error{ErrorCode::invalid_argument, "--run goes with no other bundle to write"};
  }
  if (!options.run.bundle.empty()) {
    return Unit{};
  }
  const std::pair<const char*, const std::string*> needed[] = {{"OP", &write.operator_name},
                                                               {"--target", &write.target},
                                                               {"--golden", &write.golden},
                                                               {"--model", &write.model}};
  for (const auto& [name, value] : needed) {
    if (value->empty()) {
      return Error{ErrorCode::invalid_argument,
                   std::string(name) + " is required, or --run BUNDLE"};
    }
  }
  return Unit{};
}

/// A name that every file system takes.
std::string default_output(const std::string& operator_name) {
  std::string name = "repro_";
  for (const char c : operator_name.substr(0, 100)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    name += plain || c == '-' ? c : '_';
  }
  return name;
}

int write_bundle(Options& options) {
  if (options.write.output.empty()) {
    options.write.output = default_output(options.write.operator_name);
  }
  options.write.opdrift_version = kVersion;
  options.write.compare = options.run.compare;
  options.write.compare.cancel = &interrupt_flag();
  const auto made = diagnose::write_repro(options.write);
  if (!made) {
    return report_error(made.error());
  }
  if (!options.show.quiet) {
    std::string text = report::render_terminal(
        made->compared,
        {.columns = terminal_columns(), .colour = false, .rows = options.show.rows});
    for (const std::string& note : made->notes) {
      text += "note    " + printable(note) + "\n";
    }
    write_output(text + "wrote   " + printable(made->path) + "\n");
  }
  return kExitSame;
}

std::string describe_run(const diagnose::Replay& replay) {
  std::string text = "operator  " + printable(replay.operator_name) + " (" +
                     printable(replay.operator_type) + ")\n";
  if (!replay.not_run.empty()) {
    return text + "not run   " + printable(replay.not_run) + "\n\n";
  }
  for (const engine::OutputCheck& check : replay.checks) {
    text +=
        "golden    " + printable(check.tensor) +
        (check.equal ? " comes out bit for bit"
                     : " comes out with differences of up to " + brief(check.max_abs_difference)) +
        ", ONNX Runtime " + replay.library_version + "\n";
  }
  return text + "\n";
}

int run_bundle(Options& options) {
  options.run.compare.cancel = &interrupt_flag();
  const auto fail_on = check_result_options(options.show);
  const auto replay = diagnose::replay_repro(options.run);
  if (!fail_on || !replay) {
    return report_error(replay ? fail_on.error() : replay.error());
  }
  if (!options.show.quiet) {
    write_output(describe_run(*replay));
  }
  return show_result(replay->compared, options.show, *fail_on);
}

}  // namespace

int run_repro(std::span<const std::string> arguments) {
  CLI::App app("Packs one operator with its data of both runs, and runs such a bundle.",
               "opdrift repro");
  Options options;
  add_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (const Status checked = check(options); !checked) {
    return report_error(checked.error());
  }
  return options.run.bundle.empty() ? write_bundle(options) : run_bundle(options);
}

}  // namespace opdrift::cli
