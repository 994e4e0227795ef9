#include "opdrift/compat/msprobe.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msprobe_offline.hpp"
#include "opdrift/compat/msprobe_parse.hpp"
#include "opdrift/compat/msprobe_summary.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/msprobe/api_compare.hpp"
#include "opdrift/pipeline/msprobe/merge_results.hpp"
#include "opdrift/pipeline/msprobe/torchair_compare.hpp"

namespace opdrift::compat {

namespace {

constexpr int kRefused = 1;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxName = 255;

constexpr std::string_view kUsage =
    "usage: msprobe {compare,merge_result,offline_dump,parse} ...\n"
    "\n"
    "  compare       compares two runs: dump.json files or folders, or torchair dumps\n"
    "  merge_result  merges the xlsx results of several ranks into one workbook\n"
    "  offline_dump  dumps every tensor of an ONNX or offline model\n"
    "  parse         turns dump files into torch or NumPy files\n"
    "\n"
    "'msprobe COMMAND -h' lists the options of one command.\n";

const std::vector<OptionSpec>& compare_options() {
  static const std::vector<OptionSpec> kOptions = {
      {.key = "mode",
       .flags = {"-m", "--mode"},
       .help = "auto: dump.json runs; torchair: GE dump against FX dump or GE dump; offline_data: "
               "dumps of networks; offline_model: two models"},
      {.key = "target_path",
       .flags = {"-tp", "--target_path"},
       .help = "run under test: a json file, the folder above the rank folders, or a GE dump",
       .required = true},
      {.key = "golden_path",
       .flags = {"-gp", "--golden_path"},
       .help = "reference run, of the same kind",
       .required = true},
      {.key = "output_path",
       .flags = {"-o", "--output_path"},
       .help = "folder for the results, made when missing",
       .value_optional = true,
       .value_if_bare = "./output"},
      {.key = "xlsx",
       .flags = {"--xlsx"},
       .help = "write xlsx instead of csv",
       .takes_value = false},
      {.key = "fuzzy",
       .flags = {"-fm", "--fuzzy_match"},
       .help = "match in order, ignoring call numbers",
       .takes_value = false},
      {.key = "data_mapping",
       .flags = {"-dm", "--data_mapping"},
       .help = "yaml: target name -> golden name"},
      {.key = "cell_mapping",
       .flags = {"-cm", "--cell_mapping"},
       .help = "yaml: part of a module name -> part of a module name",
       .value_optional = true},
      {.key = "api_mapping",
       .flags = {"-am", "--api_mapping"},
       .help = "yaml: MindSpore calls -> PyTorch calls",
       .value_optional = true},
      {.key = "layer_mapping",
       .flags = {"-lm", "--layer_mapping"},
       .help = "yaml: layers of MindSpore modules -> layers of PyTorch modules",
       .value_optional = true},
      {.key = "diff_analyze",
       .flags = {"-da", "--diff_analyze"},
       .help = "search the first call that differs",
       .takes_value = false},
      {.key = "log_rows",
       .flags = {"-tensor_log", "--is_print_compare_log"},
       .help = "one log line per compared tensor",
       .takes_value = false},
      {.key = "rank", .flags = {"--rank"}, .help = "torchair: compare this rank only"},
      {.key = "step", .flags = {"--step"}, .help = "accepted and unused"},
      {.key = "compat",
       .flags = {"--compat"},
       .help = "exactly the reference's tables, its known slips included",
       .takes_value = false},
      {.key = "highlight",
       .flags = {"--highlight"},
       .help = "colour the rows of an xlsx file: result or classic",
       .value_optional = true,
       .value_if_bare = "result",
       .choices = {"result", "classic"}},
      {.key = "accuracy",
       .flags = {"--accuracy"},
       .help = "add the column Accuracy Reached or Not",
       .takes_value = false},
      {.key = "all",
       .flags = {"--all"},
       .help = "list the leaves that only the golden run has",
       .takes_value = false},
      {.key = "min_cosine",
       .flags = {"--cos-min"},
       .help = "torchair: smallest good cosine (0.99)"},
      {.key = "max_relative",
       .flags = {"--max-rel"},
       .help = "torchair: largest good relative error (0.01)"},
      {.key = "checksums",
       .flags = {"--md5"},
       .help = "torchair: compare check sums of the bytes",
       .takes_value = false},
      {.key = "jobs",
       .flags = {"--jobs"},
       .help = "number of threads; 0: one per processor",
       .rule = ValueRule::integer},
  };
  return kOptions;
}

const CommandSpec& compare_command() {
  static const CommandSpec kCommand = {"msprobe compare", "Compares two runs of a network.",
                                       compare_options()};
  return kCommand;
}

const CommandSpec& merge_command() {
  static const CommandSpec kCommand = {
      "msprobe merge_result",
      "Merges the results of several ranks into one workbook.",
      {
          {.key = "input",
           .flags = {"-i", "--input_dir"},
           .help = "folder with compare_result_rank<N>_<time>.xlsx",
           .required = true},
          {.key = "output",
           .flags = {"-o", "--output_dir"},
           .help = "folder for the workbook",
           .required = true},
          {.key = "config",
           .flags = {"-config", "--config-path"},
           .help = "yaml: api (names to merge), compare_index (columns)",
           .required = true},
      }};
  return kCommand;
}

/// Options the reference knows for a mode, and those beyond it that make sense there.
bool fits_mode(std::string_view key, bool torchair) {
  constexpr std::string_view kBoth[] = {"mode", "target_path", "golden_path", "output_path",
                                        "xlsx", "compat",      "highlight",   "jobs"};
  constexpr std::string_view kTorchair[] = {"rank", "min_cosine", "max_relative", "checksums"};
  const auto within = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), key) != std::end(list);
  };
  return within(kBoth) || (torchair ? within(kTorchair) : !within(kTorchair) || key == "rank");
}

std::string mode_of(std::span<const std::string> args) {
  std::string mode = "auto";
  for (std::size_t i = 0; i < args.size(); ++i) {
    for (const std::string_view flag : {"-m", "--mode"}) {
      if (args[i] == flag && i + 1 < args.size()) {
        mode = args[i + 1];
      } else if (args[i].starts_with(std::string(flag) + "=")) {
        mode = args[i].substr(flag.size() + 1);
      }
    }
  }
  return mode;
}

/// Every word with a dash must be an option of the mode, spelled out.
std::optional<std::string> unknown_option(std::span<const std::string> args, bool torchair) {
  for (const std::string& arg : args) {
    const std::string name = arg.substr(0, arg.find('='));
    if (!name.starts_with('-') || name == "-h" || name == "--help") {
      continue;
    }
    const bool known = std::any_of(
        compare_options().begin(), compare_options().end(), [&](const OptionSpec& option) {
          return fits_mode(option.key, torchair) &&
                 std::find(option.flags.begin(), option.flags.end(), name) != option.flags.end();
        });
    if (!known) {
      return arg;
    }
  }
  return std::nullopt;
}

pipeline::RunLog log_into(ReferenceLog& log) {
  return [&log](pipeline::RunLogLevel level, std::string_view text) {
    switch (level) {
      case pipeline::RunLogLevel::info: log.info(text); break;
      case pipeline::RunLogLevel::warning: log.warning(text); break;
      case pipeline::RunLogLevel::error: log.error(text); break;
    }
  };
}

/// Refuses paths that do not exist or that the reference would refuse; gives the real path.
std::optional<std::string> usable_path(const std::string& path, bool strict, ReferenceLog& log) {
  const std::string real = real_path(path);
  std::error_code error;
  if (!std::filesystem::exists(real, error)) {
    log.error("The path " + path + " does not exist.");
    return std::nullopt;
  }
  if (real.size() > kMaxPath || io::base_name(real).size() > kMaxName) {
    log.error("The path " + path + " is too long.");
    return std::nullopt;
  }
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_.:/-").find(c) != std::string_view::npos;
  };
  if (strict && !std::all_of(real.begin(), real.end(), allowed)) {
    log.error("The path " + path + " contains special characters.");
    return std::nullopt;
  }
  return real;
}

std::optional<double> limit(const Arguments& given, std::string_view key, double fallback,
                            ReferenceLog& log) {
  const std::optional<std::string> text = given.optional_text(key);
  if (!text) {
    return fallback;
  }
  const std::optional<double> value = parse_double(*text);
  if (!value) {
    log.error("expected a number, found '" + *text + "'");
  }
  return value;
}

pipeline::Highlight highlight_of(const Arguments& given) {
  const std::string word = given.text("highlight");
  if (word == "classic") {
    return pipeline::Highlight::classic;
  }
  return word == "result" ? pipeline::Highlight::result : pipeline::Highlight::none;
}

int refuse(const Error& error, ReferenceLog& log) {
  log.error(error.to_string());
  return kRefused;
}

MsprobeSummary summary_of(const pipeline::ApiTableTotals& totals) {
  MsprobeSummary summary;
  summary.wrong = totals.errors;
  summary.suspicious = totals.warnings;
  summary.fine = totals.passed;
  if (!totals.first_error.empty()) {
    summary.first_difference = "The first error is " + totals.first_error + ".";
  }
  summary.rows = totals.notable.take();
  return summary;
}

MsprobeSummary summary_of(const pipeline::TorchairOutcome& outcome) {
  MsprobeSummary summary;
  summary.wrong = outcome.failed - outcome.unmeasured;
  summary.suspicious = outcome.unmeasured;
  summary.fine = outcome.rows - outcome.failed;
  summary.wrong_word = "FAIL";
  summary.fine_word = "PASS";
  summary.first_difference = outcome.first_difference;
  summary.rows = outcome.notable.take();
  return summary;
}

int run_torchair(const Arguments& given, ReferenceLog& log) {
  pipeline::TorchairOptions options;
  options.reference_tables = given.has("compat");
  const auto target = usable_path(given.text("target_path"), options.reference_tables, log);
  const auto golden = usable_path(given.text("golden_path"), options.reference_tables, log);
  const auto min_cosine = limit(given, "min_cosine", options.min_cosine, log);
  const auto max_relative = limit(given, "max_relative", options.max_relative, log);
  if (!target || !golden || !min_cosine || !max_relative) {
    return kRefused;
  }
  options.target_path = *target;
  options.golden_path = *golden;
  options.output_folder =
      real_path(given.text("output_path", options.reference_tables ? "./output" : "."));
  if (const auto rank = given.optional_text("rank")) {
    options.rank = parse_u64(*rank);
    if (!options.rank) {
      log.error("--rank: expected one number, found '" + *rank + "'");
      return kRefused;
    }
  }
  options.xlsx = given.has("xlsx");
  options.checksums = given.has("checksums");
  options.min_cosine = *min_cosine;
  options.max_relative = *max_relative;
  options.highlight = highlight_of(given);
  options.jobs = static_cast<std::size_t>(std::max(given.integer("jobs", 0), 0LL));
  options.log = log_into(log);
  const auto outcome = pipeline::compare_torchair(options);
  if (!outcome) {
    return refuse(outcome.error(), log);
  }
  if (!options.reference_tables && outcome->rows > 0) {
    print_summary(summary_of(*outcome));
  }
  return kExitSuccess;
}

/// Mapping files: nothing when an option names one that is not there.
bool read_mappings(const Arguments& given, pipeline::ApiCompareOptions& options,
                   ReferenceLog& log) {
  const auto file = [&](std::string_view key) -> std::optional<std::string> {
    const std::string text = given.text(key);
    return text.empty() ? std::optional<std::string>(text)
                        : usable_path(text, options.reference_tables, log);
  };
  const auto data = file("data_mapping");
  const auto cell = file("cell_mapping");
  const auto api = file("api_mapping");
  const auto layer = file("layer_mapping");
  if (!data || !cell || !api || !layer) {
    return false;
  }
  options.data_mapping = *data;
  if (given.has("cell_mapping")) {
    options.cell_mapping = *cell;
  }
  if (given.has("api_mapping")) {
    options.api_mapping = *api;
  }
  if (given.has("layer_mapping")) {
    options.layer_mapping = *layer;
  }
  return true;
}

void say_goodbye(ReferenceLog& log) {
  constexpr std::size_t kWidth = 84;
  const std::string text = "msprobe compare ends successfully.";
  const std::size_t left = (kWidth - 2 - text.size()) / 2;
  const std::size_t right = kWidth - 2 - text.size() - left;
  log.info(std::string(kWidth, '*'));
  log.info("*" + std::string(left, ' ') + text + std::string(right, ' ') + "*");
  log.info(std::string(kWidth, '*'));
}

int run_auto(const Arguments& given, ReferenceLog& log) {
  pipeline::ApiCompareOptions options;
  options.reference_tables = given.has("compat");
  const auto target = usable_path(given.text("target_path"), options.reference_tables, log);
  const auto golden = usable_path(given.text("golden_path"), options.reference_tables, log);
  if (!target || !golden || !read_mappings(given, options, log)) {
    return kRefused;
  }
  if (given.has("rank")) {
    log.error("--rank selects ranks of MindSpore kernel dumps, which are not compared here");
    return kRefused;
  }
  options.target_path = *target;
  options.golden_path = *golden;
  options.output_folder = real_path(given.text("output_path", "./output"));
  options.xlsx = given.has("xlsx");
  options.fuzzy = given.has("fuzzy");
  options.diff_analyze = given.has("diff_analyze");
  options.log_rows = given.has("log_rows");
  options.golden_only_rows = given.has("all") && !options.reference_tables;
  options.accuracy_column = given.has("accuracy") && !options.reference_tables;
  options.highlight = highlight_of(given);
  options.jobs = static_cast<std::size_t>(std::max(given.integer("jobs", 0), 0LL));
  options.log = log_into(log);
  const auto outcome = pipeline::compare_api_runs(options);
  if (!outcome) {
    return refuse(outcome.error(), log);
  }
  if (outcome->totals.rows > 0) {
    say_goodbye(log);
  }
  if (!options.reference_tables && outcome->totals.rows > 0) {
    print_summary(summary_of(outcome->totals));
  }
  return kExitSuccess;
}

int run_compare(std::span<const std::string> args, ReferenceLog& log) {
  const std::string mode = mode_of(args);
  if (mode == "offline_model") {
    return run_msprobe_offline_model(args, log);
  }
  if (mode == "offline_data") {
    return run_msprobe_offline_data(args);
  }
  const bool torchair = mode == "torchair";
  if (const auto unknown = unknown_option(args, torchair)) {
    log.error("Invalid argument '" + *unknown + "' for mode '" + mode + "'");
    return kRefused;
  }
  const ParsedArguments parsed = parse_arguments(compare_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  if (torchair) {
    return run_torchair(parsed.arguments, log);
  }
  if (mode != "auto") {
    log.error("mode '" + mode + "': expected auto, torchair, offline_data or offline_model");
    return kRefused;
  }
  return run_auto(parsed.arguments, log);
}

int run_merge(std::span<const std::string> args, ReferenceLog& log) {
  const ParsedArguments parsed = parse_arguments(merge_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  const auto input = usable_path(parsed.arguments.text("input"), false, log);
  const auto config = usable_path(parsed.arguments.text("config"), false, log);
  if (!input || !config) {
    return kRefused;
  }
  pipeline::MergeOptions options;
  options.input_folder = *input;
  options.config_path = *config;
  options.output_folder = real_path(parsed.arguments.text("output"));
  options.log = log_into(log);
  const auto path = pipeline::merge_results(options);
  return path ? kExitSuccess : refuse(path.error(), log);
}

}  // namespace

int run_msprobe(std::span<const std::string> args) {
  ReferenceLog log;
  if (!args.empty() && args.front() == "compare") {
    return run_compare(args.subspan(1), log);
  }
  if (!args.empty() && args.front() == "merge_result") {
    return run_merge(args.subspan(1), log);
  }
  if (!args.empty() && args.front() == "offline_dump") {
    return run_msprobe_offline_dump(args.subspan(1), log);
  }
  if (!args.empty() && args.front() == "parse") {
    return run_parse(args.subspan(1));
  }
  std::cerr << kUsage;
  const bool help = !args.empty() && (args.front() == "-h" || args.front() == "--help");
  return help ? kExitSuccess : kExitUsage;
}

}  // namespace opdrift::compat
