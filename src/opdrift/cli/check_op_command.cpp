#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/model_sides.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/check_op/check_op.hpp"
#include "opdrift/diagnose/check_op/check_report.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift check-op npu_dump/ model.onnx --golden golden/ -o result/\n"
    "  opdrift check-op npu_dump/ model.onnx --golden model.onnx\n"
    "  opdrift check-op npu_dump/ model.onnx conv1 conv2\n"
    "  opdrift check-op npu/ m.onnx --type Conv --type Gemm --rule cosine=0.999\n"
    "\nONNX Runtime runs every operator in fp32 and unoptimised on the inputs that the target\n"
    "dumped. What differs then is the operator's own doing; an operator that is bad in the\n"
    "comparison of the whole network but good alone inherited its error. Operators that cannot be\n"
    "run are listed with the reason; below --output/kits is what is needed to run them elsewhere.\n"
    "\nExit codes: 0 no operator is bad alone, 1 some are, 2 trouble: nothing could be checked,\n"
    "something is unreadable, interrupted.\n";

struct Options {
  diagnose::CheckOpOptions check;
  std::string rule;
  ModelSideOptions models;
  std::string formats = "csv,json";
  std::size_t rows = 12;
  double memory_mb = 1024;
  bool quiet = false;
};

struct Format {
  std::string_view name;
  const char* file_name;
  std::string (*render)(const diagnose::CheckOpResult&);
};

constexpr Format kFormats[] = {
    {"csv", "check_op.csv", &diagnose::render_check_csv},
    {"json", "check_op.json", &diagnose::render_check_json},
};

void add_options(CLI::App& app, Options& options) {
  app.footer(kFooter);
  app.add_option("TARGET", options.check.target, "dump of the suspected run, or a model to run")
      ->required();
  app.add_option("MODEL", options.check.model, "ONNX model of the network")->required();
  app.add_option("OP", options.check.operators, "operators to check, by name; all without any");
  app.add_option("--type", options.check.types, "only operators of this type; repeatable")
      ->allow_extra_args(false);
  app.add_option("--golden", options.check.golden,
                 "dump of the trusted run, or a model to run, for the columns beside");
  add_model_side_options(app, options.models);
  app.add_option("-g,--graph", options.check.compare.graphs,
                 "the target's compiled model (.om, json of atc --mode=1, ge_proto text), where "
                 "operators were merged")
      ->expected(1);
  app.add_option("--rule,--gate", options.rule,
                 "what decides: verdict[=LIMIT], or limits as 'compare --rule' takes them");
  app.add_option("--threads", options.check.threads, "threads of ONNX Runtime; 0: it decides")
      ->capture_default_str();
  app.add_option("--memory", options.memory_mb, "MB of inputs and results held at a time")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e9))
      ->check(a_number());
  app.add_option("-j,--jobs", options.check.compare.jobs, "threads; 0: one per processor")
      ->capture_default_str();
  app.add_option("-o,--output", options.check.output,
                 "folder for result files and kits, made if missing");
  app.add_option("-f,--format", options.formats, "result files to write: csv, json")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "outputs shown in the table")->capture_default_str();
  app.add_flag("-q,--quiet", options.quiet, "no table and no progress bar");
}

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) {
      return &format;
    }
  }
  return nullptr;
}

Status fill(Options& options) {
  for (const std::string_view name : split(options.formats, ',')) {
    if (find_format(name) == nullptr) {
      return Error{ErrorCode::invalid_argument,
                   "format '" + std::string(name) + "': expected csv or json"};
    }
  }
  pipeline::CompareOptions& compare = options.check.compare;
  if (!options.rule.empty()) {
    OPDRIFT_TRY(const verdict::Rule rule, verdict::parse_rule(options.rule));
    compare.gates = rule.gates;
    compare.limit = rule.limit;
    compare.decided_by =
        rule.replay_budget ? pipeline::DecidedBy::verdict : pipeline::DecidedBy::gates;
  }
  compare.cancel = &interrupt_flag();
  options.check.library = options.models.library;
  options.check.memory_budget = static_cast<std::uint64_t>(options.memory_mb * 1e6);
  return Unit{};
}

Result<std::vector<std::string>> write_files(const diagnose::CheckOpResult& result,
                                             const Options& options) {
  std::vector<std::string> written;
  if (options.check.output.empty()) {
    return written;
  }
  std::error_code problem;
  std::filesystem::create_directories(options.check.output, problem);
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(),
                 options.check.output};
  }
  for (const std::string_view name : split(options.formats, ',')) {
    const Format& format = *find_format(name);
    written.push_back((std::filesystem::path(options.check.output) / format.file_name).string());
    OPDRIFT_CHECK_OK(io::write_file(written.back(), format.render(result)));
  }
  for (const diagnose::CheckedOperator& op : result.operators) {
    if (!op.kit.empty()) {
      written.push_back(op.kit);
    }
  }
  return written;
}

int show(const diagnose::CheckOpResult& result, const Options& options) {
  const auto written = write_files(result, options);
  if (!written) {
    return report_error(written.error());
  }
  if (!options.quiet) {
    std::string text =
        diagnose::render_check_terminal(result, {.columns = terminal_columns(),
                                                 .colour = colour_wanted(STDOUT_FILENO),
                                                 .rows = options.rows});
    for (const std::string& path : *written) {
      text += "wrote   " + printable(path) + "\n";
    }
    write_output(text);
  }
  if (result.interrupted) {
    return kExitTrouble;
  }
  if (result.checked() == 0) {
    return report_error("no operator could be checked" +
                        (result.operators.empty() ? "" : ": " + result.operators.front().reason));
  }
  return result.count(diagnose::Blame::own) > 0 ? kExitDiffers : kExitSame;
}

/// Sides that are models are run first.
Result<diagnose::CheckOpResult> run(Options& options) {
  const std::string target = options.check.target;
  const std::string golden = options.check.golden;
  OPDRIFT_TRY(const diagnose::Sides sides, run_model_sides(target, golden, options.models,
                                                           options.check.output, !options.quiet));
  options.check.target = sides.target();
  options.check.golden = sides.golden();
  std::unique_ptr<Progress> bar;
  std::string shown;
  options.check.progress = [&](std::string_view stage, std::uint64_t done, std::uint64_t total) {
    if (stage != shown) {
      bar.reset();
      bar = std::make_unique<Progress>(std::string(stage), !options.quiet);
      shown = stage;
    }
    bar->update(done, total, 0);
  };
  OPDRIFT_TRY(diagnose::CheckOpResult result, diagnose::check_operators(options.check));
  result.target = target;
  result.golden = golden;
  result.notes.insert(result.notes.begin(), sides.notes().begin(), sides.notes().end());
  return result;
}

}  // namespace

int run_check_op(std::span<const std::string> arguments) {
  CLI::App app("Runs every operator alone on the target's own inputs and compares.",
               "opdrift check-op");
  Options options;
  add_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (const Status filled = fill(options); !filled) {
    return report_error(filled.error());
  }
  const auto result = run(options);
  return result ? show(*result, options) : report_error(result.error());
}

}  // namespace opdrift::cli
