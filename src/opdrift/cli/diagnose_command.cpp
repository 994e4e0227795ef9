#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/flow/facts_json.hpp"
#include "opdrift/diagnose/flow/flow.hpp"
#include "opdrift/diagnose/flow/report.hpp"

namespace opdrift::cli {

namespace {

namespace flow = diagnose::flow;

constexpr int kExitBadEvidence = 3;

struct DiagnoseOptions {
  std::string facts;
  std::string output;
  std::string step = "C";
  std::vector<std::string> limits;
  bool greedy = false;
  bool strict = false;
  bool json = false;
};

void add_options(CLI::App& app, DiagnoseOptions& options) {
  app.add_option("--facts", options.facts, "facts as JSON (docs/diagnose.md)")->required();
  app.add_option("-o,--output", options.output,
                 "folder for the report and the files it refers to, made if missing");
  app.add_option("--step", options.step, "start at this step: C I X A P B F D or G")
      ->capture_default_str();
  app.add_option("--limit", options.limits,
                 "NAME=VALUE: output, difference or golden (cosines), flushed (a share), float16 "
                 "(largest value)");
  app.add_flag("--greedy", options.greedy,
               "keep list: every operator of a round with an error of "
               "its own, not only the first");
  app.add_flag("--strict", options.strict, "the high precision run is float32 throughout");
  app.add_flag("--json", options.json, "print the report as JSON");
}

Result<flow::FlowOptions> flow_options(const DiagnoseOptions& options) {
  flow::FlowOptions made;
  made.greedy = options.greedy;
  made.strict = options.strict;
  if (options.step.size() != 1) {
    return Error{ErrorCode::invalid_argument, "--step: expected one letter"};
  }
  made.first_step = options.step[0];
  OPDRIFT_CHECK_OK(flow::check_first_step(made.first_step));
  for (const std::string& limit : options.limits) {
    const std::size_t cut = limit.find('=');
    const auto value =
        cut == std::string::npos ? std::nullopt : parse_double(limit.substr(cut + 1));
    if (!value) {
      return Error{ErrorCode::invalid_argument,
                   "--limit: expected NAME=VALUE, found '" + printable(limit) + "'"};
    }
    OPDRIFT_CHECK_OK(flow::set_limit(made.limits, limit.substr(0, cut), *value));
  }
  return made;
}

Result<flow::Diagnosis> diagnosis_of(const DiagnoseOptions& options) {
  OPDRIFT_TRY(const flow::FlowOptions how, flow_options(options));
  OPDRIFT_TRY(const flow::Facts facts, flow::read_facts(options.facts));
  flow::Diagnosis diagnosis = flow::diagnose(facts, how);
  if (!options.output.empty()) {
    OPDRIFT_CHECK_OK(flow::write_report(diagnosis, options.output));
  }
  return diagnosis;
}

}  // namespace

int run_diagnose(std::span<const std::string> arguments) {
  CLI::App app(
      "From 'the accuracy is wrong' to a cause, the operators involved and a file or option that "
      "repairs it; or to the next experiment, with its command.",
      "opdrift diagnose");
  app.footer(
      "Examples:\n"
      "  opdrift diagnose --facts facts.json -o report/\n"
      "\nExit codes: 0 clean, 1 a problem was found, 2 the evidence does not suffice, 3 bad "
      "evidence or a bad option.\n");
  DiagnoseOptions options;
  add_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code == kExitSame ? kExitSame : kExitBadEvidence;
  }
  const Result<flow::Diagnosis> diagnosis = diagnosis_of(options);
  if (!diagnosis) {
    report_error(diagnosis.error());
    return kExitBadEvidence;
  }
  const std::string text =
      options.json ? flow::render_json(*diagnosis) : flow::render_text(*diagnosis);
  return write_output(text) ? flow::exit_status(*diagnosis) : kExitBadEvidence;
}

}  // namespace opdrift::cli
