#include <cstdio>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/bisect_verbs.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/model_sides.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/bisect/keep_set.hpp"
#include "opdrift/diagnose/bisect/local_bisect.hpp"

namespace opdrift::cli {

namespace {

using diagnose::Outcome;

constexpr const char* kRunFooter =
    "Examples:\n"
    "  opdrift bisect run model.onnx --target-options precision=fp16,optimize=all\n"
    "  opdrift bisect run model.onnx --target damaged.onnx --input x=image.npy\n"
    "  opdrift bisect run model.onnx --check './on_device.sh {model} {inputs}'\n"
    "\nOptions of a run: precision=fp32|fp16|bf16, optimize=none|basic|extended|all, "
    "provider=NAME,\n"
    "threads=N. A check ends with 0 for good, 1 to 124 for bad, 125 to skip.\n"
    "\nExit codes: 0 the outputs agree, 1 an operator was found, 2 trouble.\n";

constexpr const char* kKeepFooter =
    "Examples:\n"
    "  opdrift bisect keep model.onnx --target-options precision=fp16 -o config/\n"
    "\nWrites keep_dtype.cfg and customize_dtypes.cfg for atc. Leaving out any one of the "
    "operators "
    "found\n"
    "makes the outputs bad again.\n"
    "\nExit codes: 0 the outputs agree without, 1 a set was found, 2 trouble.\n";

struct Options {
  diagnose::LocalOptions local;
  std::vector<std::string> inputs;
  std::vector<std::string> dims;
  std::string golden;
  std::string target;
  std::string rule;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("MODEL", options.local.model, "ONNX model")->required();
  app.add_option("--target", options.local.target_model,
                 "model of the target; without: MODEL in other conditions");
  app.add_option("--target-options", options.target, "how the target runs: precision=fp16,...");
  app.add_option("--golden-options", options.golden, "how the golden runs");
  app.add_option("-i,--input", options.inputs, "NAME=FILE, or FILE for a single input; repeatable");
  app.add_option("--dim", options.dims, "NAME=N for an open extent; repeatable");
  app.add_option("--seed", options.local.inputs.seed, "seed of made-up inputs")
      ->capture_default_str();
  app.add_option("--rule", options.rule,
                 "when outputs are good: cosine=0.999,rel_l2=0.01; without: the limits of msit");
  app.add_option("--start", options.local.start, "operator to begin at");
  app.add_option("--end", options.local.end, "operator whose outputs are judged");
  app.add_option("--check", options.local.check,
                 "command that judges a part; {model}, {inputs}, {dir} and {keep} are replaced");
  app.add_option("--onnxruntime", options.local.library, "path of libonnxruntime.so");
}

Status fill(Options& options) {
  diagnose::LocalOptions& local = options.local;
  OPDRIFT_TRY(local.golden, engine::parse_run_settings(options.golden));
  OPDRIFT_TRY(local.target, engine::parse_run_settings(options.target));
  OPDRIFT_TRY(local.rule, diagnose::OutputRule::parse(options.rule));
  OPDRIFT_CHECK_OK(read_input_words(options.inputs, options.dims, local.inputs));
  local.cancel = &interrupt_flag();
  return Unit{};
}

std::string head_of(const Options& options) {
  const diagnose::LocalOptions& local = options.local;
  std::string text = "golden  " + engine::describe(local.golden) + "\n";
  text += "target  " + engine::describe(local.target);
  text += local.target_model.empty() ? "\n" : ", " + printable(local.target_model) + "\n";
  if (!local.check.empty()) {
    text += "check   " + printable(local.check) + "\n";
  }
  return text + "rule    " + local.rule.describe() + "\n";
}

std::string outcome_line(const diagnose::ProbeResult& result) {
  return std::string(to_string(result.outcome)) + "  " + printable(result.reason) + "\n";
}

std::string step_line(const diagnose::ProbeStep& step, diagnose::Direction direction) {
  const bool suffix = direction == diagnose::Direction::suffix;
  return std::string(step.inside ? "inside  " : "probe   ") + (suffix ? "from " : "up to ") +
         printable(step.node) + "  " + outcome_line(step.result);
}

std::string name_of(const diagnose::Suspect& op) {
  std::string text = "'" + printable(op.name) + "' (" + printable(op.type);
  text += op.dump_name == op.name ? "" : ", in dumps '" + printable(op.dump_name) + "'";
  return text + ")\n";
}

std::string answer_of(const std::vector<diagnose::Suspect>& suspects) {
  constexpr std::size_t kMost = 20;
  std::string text = suspects.size() == 1
                         ? "answer  operator "
                         : "answer  one of " + std::to_string(suspects.size()) + " operators\n";
  for (std::size_t i = 0; i < suspects.size() && i < kMost; ++i) {
    text += suspects.size() == 1 ? "" : "        ";
    text += name_of(suspects[i]);
  }
  return suspects.size() > kMost ? text + "        ...\n" : text;
}

std::string report_text(const diagnose::LocalBisectReport& report, diagnose::Direction direction) {
  std::string text = "whole   " + outcome_line(report.whole);
  if (report.whole.outcome != Outcome::bad) {
    return text + (report.whole.outcome == Outcome::good
                       ? "answer  the outputs agree by this rule: there is nothing to search\n"
                       : "answer  the whole network could not be judged\n");
  }
  text += "cuts    " + std::to_string(report.cuts.size()) + " among " +
          std::to_string(report.operators) + " operators\n";
  for (const diagnose::ProbeStep& step : report.steps) {
    text += step_line(step, direction);
  }
  for (const std::string& note : report.notes) {
    text += "note    " + note + "\n";
  }
  return text + answer_of(report.suspects);
}

int exit_code(Outcome whole, bool found) {
  if (whole == Outcome::good) {
    return kExitSame;
  }
  return found ? kExitDiffers : kExitTrouble;
}

}  // namespace

int run_bisect_run(std::span<const std::string> arguments) {
  CLI::App app("Runs parts of a model as golden and as target until one operator is left.",
               "opdrift bisect run");
  app.footer(kRunFooter);
  Options options;
  std::string direction = "suffix";
  bool only_cuts = false;
  add_options(app, options);
  app.add_option("--direction", direction,
                 "suffix: the last place from where on the target is bad; prefix: the first up to "
                 "where it is")
      ->capture_default_str();
  app.add_flag("--only-cuts", only_cuts,
               "stop at cut points, where one operator is all that passes");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  diagnose::LocalBisectOptions bisect;
  const auto wanted = diagnose::direction_by_name(direction);
  if (!wanted) {
    return report_error("--direction '" + printable(direction) + "': expected suffix or prefix");
  }
  if (const Status filled = fill(options); !filled) {
    return report_error(filled.error());
  }
  bisect.local = options.local;
  bisect.direction = *wanted;
  bisect.inside = !only_cuts;
  Result<diagnose::LocalBisectReport> report = Error{};
  {
    Progress progress("probing", true);
    std::uint64_t done = 0;
    bisect.progress = [&](const diagnose::ProbeStep&) { progress.update(++done, 0, 0); };
    report = diagnose::bisect_locally(bisect);
  }
  if (!report) {
    return report_error(report.error());
  }
  const bool written = write_output(head_of(options) + report_text(*report, *wanted));
  return written ? exit_code(report->whole.outcome, !report->suspects.empty()) : kExitTrouble;
}

int run_bisect_keep(std::span<const std::string> arguments) {
  CLI::App app("Finds the operators that have to stay in f32 when all others lose precision.",
               "opdrift bisect keep");
  app.footer(kKeepFooter);
  Options options;
  diagnose::KeepOptions keep;
  add_options(app, options);
  app.add_option("-o,--output", keep.output_folder, "folder for the files, made if missing");
  app.add_option("--max-tests", keep.max_tests, "end the search after so many runs")
      ->capture_default_str();
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  options.target = options.target.empty() ? "precision=fp16" : options.target;
  if (const Status filled = fill(options); !filled) {
    return report_error(filled.error());
  }
  keep.local = options.local;
  Result<diagnose::KeepReport> report = Error{};
  {
    Progress progress("trying", true);
    std::uint64_t done = 0;
    keep.progress = [&](std::size_t, const diagnose::ProbeResult&) {
      progress.update(++done, 0, 0);
    };
    report = diagnose::find_kept(keep);
  }
  if (!report) {
    return report_error(report.error());
  }
  std::string text = head_of(options) + "none    " + outcome_line(report->none);
  if (report->none.outcome == Outcome::good) {
    text += "answer  the outputs are good with nothing kept\n";
  } else if (report->all.outcome != Outcome::good) {
    text += "all     " + outcome_line(report->all);
    text += "answer  precision of operators does not explain it: all of them kept is bad too\n";
  } else {
    text += "answer  " + std::to_string(report->kept.size()) + " of " +
            std::to_string(report->operators) + " operators, after " +
            std::to_string(report->tests) + " runs" +
            (report->minimal ? "\n" : "; more runs (--max-tests) may leave fewer\n");
    for (const diagnose::Suspect& op : report->kept) {
      text += "        " + name_of(op);
    }
  }
  for (const std::string& file : report->files) {
    text += "wrote   " + printable(file) + "\n";
  }
  return write_output(text) ? exit_code(report->none.outcome, !report->kept.empty()) : kExitTrouble;
}

}  // namespace opdrift::cli
