#include "opdrift/compat/msit_surgeon.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>

#include "opdrift/base/text.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/engine/surgery/extract_file.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::compat {

namespace {

constexpr int kFailed = 1;

const CommandSpec& extract_command() {
  static const CommandSpec kCommand = {
      "msit debug surgeon extract",
      "Cuts a sub-graph out of an ONNX model.",
      {
          {.key = "input", .flags = {"-in", "--input"}, .help = "the .onnx file", .required = true},
          {.key = "output",
           .flags = {"-of", "--output-file"},
           .help = "the .onnx file to write",
           .required = true},
          {.key = "starts",
           .flags = {"-snn", "--start-node-names"},
           .help = "operators to start at, A,B; without: all that read an input"},
          {.key = "ends",
           .flags = {"-enn", "--end-node-names"},
           .help = "operators to end at, A,B; without: all that make an output"},
          {.key = "check",
           .flags = {"-ck", "--is-check-subgraph"},
           .help = "load the sub-graph in ONNX Runtime",
           .takes_value = false},
          {.key = "shapes",
           .flags = {"-sis", "--subgraph-input-shape"},
           .help = "other shapes for its inputs: NAME:1,3;NAME:2,4"},
          {.key = "types",
           .flags = {"-sit", "--subgraph-input-dtype", "--subgraph_input_dtype"},
           .help = "other types for its inputs: NAME:fp16;NAME:int8"},
      }};
  return kCommand;
}

Status check_names(const std::string& option, const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_,:/.- ").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), allowed)) {
    return Error{ErrorCode::invalid_argument,
                 option + " '" + printable(text) +
                     "': expected letters, digits and _ , : / . - only; 'opdrift extract' takes "
                     "any name"};
  }
  return Unit{};
}

Status check_paths(const engine::ExtractFileOptions& options) {
  for (const std::string& path : {options.model, options.output}) {
    if (!path.ends_with(".onnx")) {
      return Error{ErrorCode::invalid_argument, "expected a name that ends in .onnx", path};
    }
  }
  const std::string folder(io::folder_of(options.output));
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return Error{ErrorCode::not_found, "the folder of the output does not exist", options.output};
  }
  return Unit{};
}

Status fill(const Arguments& given, engine::ExtractFileOptions& options) {
  options.model = given.text("input");
  options.output = given.text("output");
  options.input_shapes = given.text("shapes");
  options.input_types = given.text("types");
  options.check = given.has("check");
  OPDRIFT_CHECK_OK(check_paths(options));
  for (const auto& [key, flag, list] : {std::tuple("starts", "--start-node-names", &options.starts),
                                        std::tuple("ends", "--end-node-names", &options.ends)}) {
    if (const auto text = given.optional_text(key)) {
      OPDRIFT_CHECK_OK(check_names(flag, *text));
      list->push_back(*text);
    }
  }
  return Unit{};
}

void log_result(const engine::ExtractFileReport& report, const std::string& output,
                ReferenceLog& log) {
  for (const engine::ExtractWarning& warning : report.extracted.warnings) {
    log.warning(std::string(engine::to_string(warning.kind)) + ": " + describe(warning));
  }
  for (const std::string& note : report.notes) {
    log.warning(note);
  }
  if (!report.check_problem.empty()) {
    log.error("the sub-graph does not load: " + report.check_problem);
  }
  log.info("kept " + std::to_string(report.extracted.nodes.size()) + " of " +
           std::to_string(report.operators) + " operators; wrote " + output);
}

}  // namespace

int run_surgeon_extract(std::span<const std::string> args) {
  const ParsedArguments parsed = parse_arguments(extract_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  ReferenceLog log;
  engine::ExtractFileOptions options;
  if (const Status filled = fill(parsed.arguments, options); !filled) {
    log.error(filled.error().to_string());
    return kFailed;
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(options.model, options.output, ignored)) {
    log.warning("input and output are one file: nothing is done");
    return kExitSuccess;
  }
  const auto report = engine::extract_file(options);
  if (!report) {
    log.error(report.error().to_string());
    return kFailed;
  }
  log_result(*report, options.output, log);
  return kExitSuccess;
}

}  // namespace opdrift::compat
