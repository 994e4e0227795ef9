#include "opdrift/compat/msit_compare.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/offline_front.hpp"
#include "opdrift/diagnose/offline/dump_run.hpp"

namespace opdrift::compat {

namespace {

using diagnose::offline::CompareOptions;

/// Options both commands have.
std::vector<OptionSpec> shared_options() {
  return {
      {.key = "weight", .flags = {"-w", "--weight"}, .help = "weights of a .prototxt model"},
      {.key = "input", .flags = {"-i", "--input"}, .help = "input files, .npy or .bin, by comma"},
      {.key = "cann_path",
       .flags = {"-c", "--cann-path"},
       .help = "folder of the device's tool kit; else ASCEND_TOOLKIT_HOME"},
      {.key = "output",
       .flags = {"-o", "--output"},
       .help = "folder below which a folder named by the time is made"},
      {.key = "input_shape",
       .flags = {"-is", "--input-shape"},
       .help = "shapes of inputs, \"x:1,3,224,224;y:1,2\""},
      {.key = "device", .flags = {"-d", "--device"}, .help = "number of the device, 0 to 255"},
      {.key = "shape_range",
       .flags = {"-dr", "--dym-shape-range"},
       .help = "shapes to run one after the other, \"x:1,3,200~224~8,224-230\""},
      {.key = "fusion",
       .flags = {"-ofs", "--onnx-fusion-switch"},
       .help = "False: ONNX Runtime leaves the golden graph as it is"},
      {.key = "signature",
       .flags = {"--saved_model_signature"},
       .help = "accepted: saved models are not run here"},
      {.key = "tags",
       .flags = {"--saved_model_tag_set"},
       .help = "accepted: saved models are not run here"},
      {.key = "fusion_switch",
       .flags = {"--fusion-switch-file"},
       .help = ".cfg; the golden side is the golden model built with it"},
      {.key = "onnxruntime", .flags = {"--onnxruntime"}, .help = "path of libonnxruntime.so"},
  };
}

const CommandSpec& compare_command() {
  static const CommandSpec kCommand = [] {
    CommandSpec command{
        "msit debug compare",
        "Compares an offline model with the model it was built from.",
        {{.key = "golden_model",
          .flags = {"-gm", "--golden-model"},
          .help =
              "golden model: .onnx or .om; with --golden-dump also .pb, .prototxt or the folder "
              "of a saved model"},
         {.key = "om_model", .flags = {"-om", "--om-model"}, .help = "target, .om"}}};
    const std::vector<OptionSpec> shared = shared_options();
    command.options.insert(command.options.end(), shared.begin(), shared.end());
    const std::vector<OptionSpec> own = {
        {.key = "output_size",
         .flags = {"-outsize", "--output-size"},
         .help = "bytes of every output of a model with changing shapes, by comma"},
        {.key = "output_nodes",
         .flags = {"-n", "--output-nodes"},
         .help = "accepted: TensorFlow models are not run here"},
        {.key = "advisor",
         .flags = {"--advisor"},
         .help = "write advice to advisor_summary.txt",
         .takes_value = false},
        {.key = "dump", .flags = {"--dump"}, .help = "False: compare the outputs of the net only"},
        {.key = "convert",
         .flags = {"--convert"},
         .help = "True: device dumps as npy as well",
         .value_optional = true,
         .value_if_bare = "True"},
        {.key = "locat",
         .flags = {"--locat"},
         .help = "True: search the part of the network that the error comes from",
         .value_optional = true,
         .value_if_bare = "True"},
        {.key = "custom_op",
         .flags = {"-cp", "--custom-op"},
         .help = "operators ONNX Runtime does not know: DeformableConv2D, BatchMultiClassNMS, "
                 "RoiExtractor"},
        {.key = "single_op",
         .flags = {"-single", "--single-op"},
         .help = "True: every operator on its own, with golden inputs",
         .value_optional = true,
         .value_if_bare = "True"},
        {.key = "max",
         .flags = {"-max", "--max-cmp-size"},
         .help = "compare the first N elements of each tensor; 0: all",
         .rule = ValueRule::integer},
        {.key = "quant",
         .flags = {"-q", "--quant-fusion-rule-file"},
         .help = "graph json of the quantiser"},
        {.key = "my_path", .flags = {"-mp", "--my-path"}, .help = "dumps of the target"},
        {.key = "golden_path", .flags = {"-gp", "--golden-path"}, .help = "golden dumps"},
        {.key = "ops_json",
         .flags = {"--ops-json"},
         .help = "graph of the target, with -mp and -gp"},
        {.key = "target_dump",
         .flags = {"--target-dump"},
         .help = "device dumps of -om that exist already"},
        {.key = "golden_dump",
         .flags = {"--golden-dump"},
         .help = "dumps of the golden model that exist already: of a device for an .om, npy for a "
                 "model that cannot be run here"},
    };
    command.options.insert(command.options.end(), own.begin(), own.end());
    return command;
  }();
  return kCommand;
}

const CommandSpec& dump_command() {
  static const CommandSpec kCommand = [] {
    CommandSpec command{
        "msit debug dump",
        "Dumps every tensor of one model.",
        {{.key = "model", .flags = {"-m", "--model"}, .help = ".onnx or .om"},
         {.key = "device_pattern",
          .flags = {"-dp", "--device-pattern"},
          .help = "cpu, or npu for an offline model",
          .choices = {"cpu", "npu"}},
         {.key = "exec", .flags = {"--exec"}, .help = "refused: a program to watch"},
         {.key = "op_name", .flags = {"-opname", "--operation-name"}, .help = "with --exec"},
         {.key = "tf_json", .flags = {"--tf-json"}, .help = "accepted: for saved models"}}};
    const std::vector<OptionSpec> shared = shared_options();
    command.options.insert(command.options.end(), shared.begin(), shared.end());
    return command;
  }();
  return kCommand;
}

Status read_shared(const Arguments& given, CompareOptions& options) {
  options.weights = given.text("weight");
  options.inputs = comma_list(given.text("input"));
  options.output = given.text("output", ".");
  options.input_shape = given.text("input_shape");
  options.device = given.text("device", "0");
  options.shape_range = given.text("shape_range");
  options.fusion_switch = given.text("fusion_switch");
  options.library = given.text("onnxruntime");
  const char* const home = std::getenv("ASCEND_TOOLKIT_HOME");
  options.tool_kit = given.text("cann_path", home == nullptr ? "" : home);
  OPDRIFT_TRY(options.optimise, truth(given, "fusion", true));
  return Unit{};
}

Status read_compare(const Arguments& given, CompareOptions& options) {
  OPDRIFT_CHECK_OK(read_shared(given, options));
  options.golden_model = given.text("golden_model");
  options.target_model = given.text("om_model");
  options.output_size = given.text("output_size");
  options.custom_op = given.text("custom_op");
  options.quantised = given.text("quant");
  options.target_path = given.text("my_path");
  options.golden_path = given.text("golden_path");
  options.rule = given.text("ops_json");
  options.target_dump = given.text("target_dump");
  options.golden_dump = given.text("golden_dump");
  options.max_elements = given.integer("max", 0);
  options.advisor = given.has("advisor");
  OPDRIFT_TRY(options.dump, truth(given, "dump", true));
  OPDRIFT_TRY(options.convert, truth(given, "convert", false));
  OPDRIFT_TRY(options.localise, truth(given, "locat", false));
  OPDRIFT_TRY(options.single_op, truth(given, "single_op", false));
  return Unit{};
}

std::string again(const char* command, std::span<const std::string> args) {
  std::vector<std::string> words = {"opdrift", "msit", "debug", command};
  words.insert(words.end(), args.begin(), args.end());
  return shell_command(words);
}

int usage_error(std::string_view program, const std::string& message) {
  std::cerr << program << ": error: " << message << "\n" << std::flush;
  return kExitUsage;
}

}  // namespace

int run_msit_compare(std::span<const std::string> args) {
  const ParsedArguments parsed = parse_arguments(compare_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  const Arguments& given = parsed.arguments;
  if (!given.has("golden_model") && !given.has("golden_path")) {
    std::cout << help_text(compare_command()) << std::flush;
    return kExitSuccess;
  }
  CompareOptions options;
  if (const Status read = read_compare(given, options); !read) {
    return usage_error(compare_command().program, read.error().message);
  }
  if (options.golden_path.empty() && options.target_model.empty()) {
    return usage_error(compare_command().program, "-gm needs -om");
  }
  options.again = again("compare", args);
  ReferenceLog log;
  talk_through(options, log);
  return finish_offline(diagnose::offline::compare_offline(options), log);
}

int run_msit_dump(std::span<const std::string> args) {
  const ParsedArguments parsed = parse_arguments(dump_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  const Arguments& given = parsed.arguments;
  if (given.has("exec")) {
    return usage_error(dump_command().program,
                       "--exec watches a program on the device; run it there");
  }
  if (!given.has("model") || !given.has("device_pattern")) {
    return usage_error(dump_command().program, "-m and -dp are required");
  }
  CompareOptions options;
  if (const Status read = read_shared(given, options); !read) {
    return usage_error(dump_command().program, read.error().message);
  }
  if (!options.fusion_switch.empty()) {
    return usage_error(dump_command().program,
                       "--fusion-switch-file: build the model with atc first");
  }
  options.golden_model = given.text("model");
  options.again = again("dump", args);
  ReferenceLog log;
  talk_through(options, log);
  return finish_offline(diagnose::offline::dump_offline(options), log);
}

}  // namespace opdrift::compat
