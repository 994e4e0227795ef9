#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/model_sides.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/engine/run_settings.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift dump model.onnx -o golden/\n"
    "  opdrift dump model.onnx --input x=image.npy -o golden/\n"
    "  opdrift dump model.onnx --precision fp16 --optimize extended -o target/\n"
    "  opdrift dump model.onnx --dim batch=4 --seed 7 -o golden/\n"
    "\nInputs that are not given are made from --seed, the same on every machine. The folder "
    "holds\n"
    "one npy file per tensor and manifest.json.\n";

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> dims;
  std::string optimize = "none";
  std::string precision = "fp32";
  std::string provider = "cpu";
};

void add_options(CLI::App& app, engine::DumpOptions& dump, Options& options) {
  app.footer(kFooter);
  app.add_option("MODEL", dump.model, "ONNX model")->required();
  app.add_option("-o,--output", dump.output_folder, "folder for the dump, made if missing")
      ->required();
  app.add_option("-i,--input", options.inputs, "NAME=FILE, or FILE for a single input; repeatable");
  app.add_option("--dim", options.dims, "NAME=N for an open extent; repeatable");
  app.add_option("--seed", dump.inputs.seed, "seed of made-up inputs")->capture_default_str();
  app.add_option("--optimize", options.optimize, "graph optimisation: none, basic, extended, all")
      ->capture_default_str();
  app.add_option("--precision", options.precision,
                 "round values between operators: fp32, fp16, bf16")
      ->capture_default_str();
  app.add_option("--keep", dump.keep,
                 "operator that stays f32 in reduced precision, or OpType::TYPE; repeatable");
  app.add_option("--provider", options.provider, "execution provider: cpu, cuda, cann ...")
      ->capture_default_str();
  app.add_option("--only", dump.only, "only operators or values whose name matches");
  app.add_option("--onnxruntime", dump.library, "path of libonnxruntime.so");
  app.add_option("--threads", dump.threads, "threads of the run; 0: the library decides")
      ->capture_default_str();
  app.add_flag("--overwrite", dump.overwrite, "replace an older dump in the folder");
  app.add_flag("!--no-check", dump.check_outputs,
               "do not compare the final outputs with those of a plain run");
}

Status fill(engine::DumpOptions& dump, const Options& options) {
  OPDRIFT_CHECK_OK(read_input_words(options.inputs, options.dims, dump.inputs));
  const std::pair<std::string_view, std::string_view> words[] = {{"optimize", options.optimize},
                                                                 {"precision", options.precision},
                                                                 {"provider", options.provider}};
  engine::RunSettings settings;
  settings.threads = dump.threads;
  for (const auto& [name, value] : words) {
    if (Status set = engine::set_run_setting(settings, name, value); !set) {
      set.error().message.insert(0, "--");
      return set;
    }
  }
  engine::apply(settings, dump);
  dump.opdrift_version = kVersion;
  dump.cancel = &interrupt_flag();
  return Unit{};
}

std::string summary_of(const engine::DumpReport& report) {
  std::string text = report.complete ? "dumped  " : "interrupted after  ";
  text += std::to_string(report.operators) + " operators, " + std::to_string(report.files) +
          " tensors, " + human_bytes(report.bytes) + ", ONNX Runtime " + report.library_version +
          "\n";
  std::map<std::string, std::size_t> reasons;
  for (const engine::SkippedOutput& skipped : report.skipped) {
    ++reasons[skipped.reason];
  }
  for (const auto& [reason, count] : reasons) {
    text += "left out " + std::to_string(count) + ": " + printable(reason) + "\n";
  }
  for (const std::string& note : report.notes) {
    text += "note    " + printable(note) + "\n";
  }
  if (!report.checks.empty() && !report.outputs_equal()) {
    text += "note    making all tensors visible changed the final outputs (see manifest.json)\n";
  }
  return text + "wrote   " + printable(report.manifest) + "\n";
}

}  // namespace

int run_dump(std::span<const std::string> arguments) {
  CLI::App app("Runs an ONNX model in ONNX Runtime and writes every operator's tensors.",
               "opdrift dump");
  engine::DumpOptions dump;
  Options options;
  add_options(app, dump, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (const Status filled = fill(dump, options); !filled) {
    return report_error(filled.error());
  }
  Result<engine::DumpReport> report = Error{};
  {
    Progress progress("dumping", true);
    dump.progress = [&](const engine::DumpProgress& state) {
      progress.update(state.done, state.total, state.bytes);
    };
    report = engine::dump_model(dump);
  }
  if (!report) {
    return report_error(report.error());
  }
  const bool written = write_output(summary_of(*report));
  return written && report->complete ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
