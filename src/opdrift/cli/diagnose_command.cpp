#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/diagnose_options.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/diagnose/flow/facts_json.hpp"
#include "opdrift/diagnose/flow/flow.hpp"
#include "opdrift/diagnose/flow/report.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::cli {

namespace {

namespace flow = diagnose::flow;

constexpr int kExitBadEvidence = 3;

/// A diagnosis and the facts behind it.
struct Answer {
  flow::Diagnosis diagnosis;
  flow::Facts facts;
};

/// Tells what is going on, where somebody looks.
void tell_stages(const DiagnoseOptions& options, std::function<void(std::string_view)>& stage) {
  if (!options.quiet && ::isatty(2) == 1) {
    stage = [](std::string_view what) { std::fprintf(stderr, "%s\n", std::string(what).c_str()); };
  }
}

Result<Answer> run_experiments(const DiagnoseOptions& options) {
  OPDRIFT_TRY(diagnose::autorun::AutoOptions automatic, auto_options(options));
  automatic.cancel = &interrupt_flag();
  automatic.opdrift_version = kVersion;
  tell_stages(options, automatic.stage);
  OPDRIFT_TRY(diagnose::autorun::AutoReport report, diagnose::autorun::run_auto(automatic));
  return Answer{std::move(report.diagnosis), std::move(report.facts)};
}

Result<flow::Facts> facts_of(const DiagnoseOptions& options, const flow::Limits& limits) {
  if (!options.facts.empty()) {
    return flow::read_facts(options.facts);
  }
  OPDRIFT_TRY(diagnose::evidence::CollectOptions evidence, collect_options(options));
  evidence.limits = limits;
  evidence.cancel = &interrupt_flag();
  tell_stages(options, evidence.stage);
  return diagnose::evidence::collect_facts(evidence);
}

Result<Answer> answer(const DiagnoseOptions& options) {
  if (!options.automatic.model.empty()) {
    return run_experiments(options);
  }
  OPDRIFT_TRY(const flow::FlowOptions how, flow_options(options));
  OPDRIFT_TRY(flow::Facts facts, facts_of(options, how.limits));
  flow::Diagnosis diagnosis = flow::diagnose(facts, how);
  return Answer{std::move(diagnosis), std::move(facts)};
}

Status write_answer(const Answer& made, const std::string& folder) {
  if (folder.empty()) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(flow::write_report(made.diagnosis, folder));
  return io::write_file(folder + "/facts.json", flow::write_facts(made.facts));
}

}  // namespace

int run_diagnose(std::span<const std::string> arguments) {
  CLI::App app(
      "From 'the accuracy is wrong' to a cause, the operators involved and a file or option that "
      "repairs it; or to the next experiment, with its command. Give what there is: dumps of runs, "
      "verdicts, a finished comparison.",
      "opdrift diagnose");
  app.footer(
      "Examples:\n"
      "  opdrift diagnose --base npu/ --golden cpu/ --graph m.json -o report/\n"
      "  opdrift diagnose --base fp16/ --high fp32/ --verdict base=fail \\\n"
      "      --verdict high=pass --graph m.json -o report/\n"
      "  opdrift diagnose --base fp16/ --high fp32/ --mixed round1/ --keep keep.cfg\n"
      "  opdrift diagnose --result result_20240101.csv\n"
      "  opdrift diagnose --facts facts.json --greedy\n"
      "  opdrift diagnose --auto model.onnx --input x=x.npy --precision fp16 -o report/\n"
      "\nExit codes: 0 clean, 1 a problem was found, 2 the evidence does not suffice, 3 bad "
      "evidence or a bad option.\n");
  DiagnoseOptions options;
  add_diagnose_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code == kExitSame ? kExitSame : kExitBadEvidence;
  }
  const Result<Answer> made = answer(options);
  const Status written = made ? write_answer(*made, options.output) : Status(made.error());
  if (!written) {
    report_error(written.error());
    return kExitBadEvidence;
  }
  const std::string text =
      options.json ? flow::render_json(made->diagnosis) : flow::render_text(made->diagnosis);
  return write_output(text) ? flow::exit_status(made->diagnosis) : kExitBadEvidence;
}

}  // namespace opdrift::cli
