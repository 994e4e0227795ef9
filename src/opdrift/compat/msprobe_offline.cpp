#include "opdrift/compat/msprobe_offline.hpp"

#include <iostream>
#include <utility>
#include <vector>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msaccucmp_compare.hpp"
#include "opdrift/compat/offline_front.hpp"
#include "opdrift/diagnose/offline/dump_run.hpp"

namespace opdrift::compat {

namespace {

using diagnose::offline::CompareOptions;

std::vector<OptionSpec> run_options() {
  return {
      {.key = "input", .flags = {"--input_data"}, .help = "input files, .npy or .bin, by comma"},
      {.key = "output", .flags = {"-o", "--output_path"}, .help = "folder for the results"},
      {.key = "input_shape",
       .flags = {"--input_shape"},
       .help = "shapes of inputs, \"x:1,3,224,224;y:1,2\""},
      {.key = "shape_range",
       .flags = {"--dym_shape_range"},
       .help = "shapes to run one after the other, \"x:1,3,200~224~8,224-230\""},
      {.key = "rank", .flags = {"--rank"}, .help = "number of the device, 0 to 255"},
      {.key = "output_size",
       .flags = {"--output_size"},
       .help = "bytes of every output of a model with changing shapes, by comma"},
      {.key = "fusion",
       .flags = {"--onnx_fusion_switch"},
       .help = "False: ONNX Runtime leaves the golden graph as it is"},
      {.key = "onnxruntime", .flags = {"--onnxruntime"}, .help = "path of libonnxruntime.so"},
  };
}

CommandSpec command_of(std::string_view program, std::string_view summary,
                       std::vector<OptionSpec> first) {
  CommandSpec command{program, summary, std::move(first)};
  const std::vector<OptionSpec> more = run_options();
  command.options.insert(command.options.end(), more.begin(), more.end());
  return command;
}

CommandSpec model_command() {
  return command_of("msprobe compare -m offline_model",
                    "Compares an offline model with the model it was built from.",
                    {{.key = "mode", .flags = {"-m", "--mode"}, .help = "offline_model"},
                     {.key = "golden",
                      .flags = {"-gp", "--golden_path"},
                      .help = "golden model: .onnx or .om",
                      .required = true},
                     {.key = "target",
                      .flags = {"-tp", "--target_path"},
                      .help = "target model, .om",
                      .required = true},
                     {.key = "target_dump",
                      .flags = {"--target_dump"},
                      .help = "device dumps of -tp that exist already"}});
}

CommandSpec dump_command() {
  return command_of(
      "msprobe offline_dump", "Dumps every tensor of one model.",
      {{.key = "model", .flags = {"--model_path"}, .help = ".onnx or .om", .required = true}});
}

CommandSpec data_command() {
  return {
      "msprobe compare -m offline_data",
      "Compares dumps of networks, as msaccucmp compare does.",
      {{.key = "mode", .flags = {"-m", "--mode"}, .help = "offline_data"},
       {.key = "-m", .flags = {"-tp", "--target_path"}, .help = "dumps to judge", .required = true},
       {.key = "-g", .flags = {"-gp", "--golden_path"}, .help = "dumps to trust", .required = true},
       {.key = "-f", .flags = {"-fr", "--fusion_rule_file"}, .help = "graph of the target model"},
       {.key = "-cf",
        .flags = {"-cfr", "--close_fusion_rule_file"},
        .help = "graph of the model built with fusion off"},
       {.key = "-q",
        .flags = {"-qfr", "--quant_fusion_rule_file"},
        .help = "graph of the quantised original"},
       {.key = "-out", .flags = {"-o", "--output_path"}, .help = "folder for the results"}}};
}

Status read_run(const Arguments& given, CompareOptions& options) {
  options.inputs = comma_list(given.text("input"));
  options.output = given.text("output", "./output");
  options.input_shape = given.text("input_shape");
  options.shape_range = given.text("shape_range");
  options.device = given.text("rank", "0");
  options.output_size = given.text("output_size");
  options.library = given.text("onnxruntime");
  OPDRIFT_TRY(options.optimise, truth(given, "fusion", true));
  return Unit{};
}

std::string again(const char* command, std::span<const std::string> args) {
  std::vector<std::string> words = {"opdrift", "msprobe", command};
  words.insert(words.end(), args.begin(), args.end());
  return shell_command(words);
}

}  // namespace

int run_msprobe_offline_model(std::span<const std::string> args, ReferenceLog& log) {
  const ParsedArguments parsed = parse_arguments(model_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  CompareOptions options;
  if (const Status read = read_run(parsed.arguments, options); !read) {
    log.error(read.error().message);
    return kExitUsage;
  }
  options.golden_model = parsed.arguments.text("golden");
  options.target_model = parsed.arguments.text("target");
  options.target_dump = parsed.arguments.text("target_dump");
  options.again = again("compare", args);
  talk_through(options, log);
  return finish_offline(diagnose::offline::compare_offline(options), log);
}

int run_msprobe_offline_data(std::span<const std::string> args) {
  const ParsedArguments parsed = parse_arguments(data_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  std::vector<std::string> words;
  for (const char* flag : {"-m", "-g", "-f", "-cf", "-q", "-out"}) {
    if (const auto value = parsed.arguments.optional_text(flag)) {
      words.insert(words.end(), {flag, *value});
    }
  }
  return run_compare(words);
}

int run_msprobe_offline_dump(std::span<const std::string> args, ReferenceLog& log) {
  const ParsedArguments parsed = parse_arguments(dump_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  CompareOptions options;
  if (const Status read = read_run(parsed.arguments, options); !read) {
    log.error(read.error().message);
    return kExitUsage;
  }
  options.golden_model = parsed.arguments.text("model");
  options.again = again("offline_dump", args);
  talk_through(options, log);
  return finish_offline(diagnose::offline::dump_offline(options), log);
}

}  // namespace opdrift::compat
