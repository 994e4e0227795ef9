#include "opdrift/compat/compare_scenarios.hpp"

#include <sys/stat.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/compat/command_run.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msaccucmp_compare.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"
#include "opdrift/pipeline/network/file_compare.hpp"
#include "opdrift/pipeline/torch_compare.hpp"
#include "opdrift/report/msaccucmp_advisor.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"

namespace opdrift::compat {

namespace {

constexpr int kExitInvalidFile = 33;
constexpr int kExitInvalidType = 24;
constexpr std::uint64_t kMaxAdvisorFile = std::uint64_t{100} << 20;
constexpr std::size_t kMaxNodeList = 1024;
constexpr std::array<std::size_t, 8> kFileAlgorithms = {0, 1, 2, 3, 6, 7, 8, 9};

std::vector<std::string> texts_of(const std::vector<pipeline::AlgorithmValue>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const pipeline::AlgorithmValue& value : values) {
    texts.push_back(value.text);
  }
  return texts;
}

std::string messages_of(const std::vector<pipeline::AlgorithmValue>& values) {
  std::vector<std::string> messages;
  for (const pipeline::AlgorithmValue& value : values) {
    if (!value.message.empty()) {
      messages.push_back(value.message);
    }
  }
  return join(messages, ",");
}

CommandSpec file_compare_command() {
  return {.program = "msaccucmp file_compare",
          .summary = "Compare two .npy files.",
          .options = {
              {.key = "my_dump_path",
               .flags = {"-m", "--my_dump_path"},
               .help = "array to judge",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "golden_dump_path",
               .flags = {"-g", "--golden_dump_path"},
               .help = "array to trust",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "output",
               .flags = {"-out", "--output"},
               .help = "folder of the result; the current folder by default",
               .rule = ValueRule::safe_path},
              {.key = "compat",
               .flags = {"--compat"},
               .help = "accepted: the table is the reference's in any case",
               .takes_value = false},
          }};
}

CommandSpec advisor_command() {
  return {.program = "mscmp_advisor",
          .summary = "Advice on a finished result table.",
          .options = {
              {.key = "input_file",
               .flags = {"-i", "--input_file"},
               .help = "result table, .csv",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "input_nodes",
               .flags = {"-input_nodes", "--input_nodes"},
               .help = "inputs of the network, \"a;b\""},
              {.key = "output",
               .flags = {"-o", "--out_path"},
               .help = "folder for advisor_summary.txt",
               .rule = ValueRule::safe_path},
          }};
}

Result<int> compare_files(const Arguments& arguments, ReferenceLog& log) {
  const std::string target = arguments.text("my_dump_path");
  const std::string golden = arguments.text("golden_dump_path");
  for (const std::string& path : {target, golden}) {
    OPDRIFT_CHECK_OK(check_path(path, PathKind::file));
    if (!path.ends_with(".npy")) {
      log.error(path + ": expected a file ending in .npy");
      return kExitInvalidType;
    }
  }
  const std::string output = arguments.text("output", ".");
  OPDRIFT_CHECK_OK(prepare_output_folder(output));
  pipeline::FileCompareOptions options;
  options.reference = true;
  for (const std::size_t number : kFileAlgorithms) {
    options.algorithms.emplace_back(reference_algorithms()[number]);
  }
  OPDRIFT_TRY(const auto values, pipeline::compare_array_files(target, golden, options));
  const std::string text = report::render_file_result(options.algorithms, texts_of(values));
  for (const std::string_view line : split(trim(text), '\n')) {
    log.info(line);
  }
  OPDRIFT_CHECK_OK(
      write_result(output, "file_result_" + pipeline::time_stamp(false) + ".txt", text));
  return kExitSuccess;
}

Result<report::AdvisorTable> read_table(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  std::vector<std::vector<std::string>> rows = io::parse_csv(as_text(bytes.span));
  report::AdvisorTable table;
  if (!rows.empty()) {
    table.header = std::move(rows.front());
    rows.erase(rows.begin());
  }
  table.rows = std::move(rows);
  return table;
}

Result<int> advise_file(const Arguments& arguments, ReferenceLog& log) {
  const std::string path = arguments.text("input_file");
  OPDRIFT_CHECK_OK(check_path(path, PathKind::file));
  if (!path.ends_with(".csv")) {
    log.error(path + ": expected a file ending in .csv");
    return kExitInvalidType;
  }
  struct stat info {};
  const std::string nodes = arguments.text("input_nodes");
  if ((::stat(path.c_str(), &info) == 0 &&
       static_cast<std::uint64_t>(info.st_size) > kMaxAdvisorFile) ||
      nodes.size() > kMaxNodeList) {
    log.error("expected at most 100 MiB of table and 1024 bytes of input names");
    return kExitInvalidFile;
  }
  OPDRIFT_TRY(const report::AdvisorTable table, read_table(path));
  if (report::column_of(table, "Index") < 0 || report::column_of(table, "NPUDump") < 0) {
    log.error(path + ": expected columns Index and NPUDump");
    return kExitInvalidFile;
  }
  std::vector<std::string> inputs;
  for (const std::string_view node : split(nodes, ';')) {
    if (!trim(node).empty()) {
      inputs.emplace_back(trim(node));
    }
  }
  std::string text;
  for (const std::string& line : report::advise(table, inputs).lines()) {
    log.info(line);
    text += line + "\n";
  }
  if (arguments.has("output")) {
    OPDRIFT_CHECK_OK(prepare_output_folder(arguments.text("output")));
    OPDRIFT_CHECK_OK(write_result(arguments.text("output"), "advisor_summary.txt", text));
  }
  return kExitSuccess;
}

}  // namespace

Status write_result(const std::string& folder, const std::string& name, const std::string& text) {
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(folder + "/" + name));
  OPDRIFT_CHECK_OK(file.write(text));
  return file.commit();
}

Status compare_two_files(const CompareRequest& request, ReferenceLog& log) {
  pipeline::FileCompareOptions options;
  options.algorithms = request.algorithms;
  options.max_elements = request.max_elements;
  options.reference = true;
  OPDRIFT_TRY(const auto values,
              pipeline::compare_array_files(request.target, request.golden, options));
  log.info(join(options.algorithms, " "));
  log.info(join(texts_of(values), " "));
  const std::string messages = messages_of(values);
  if (!messages.empty()) {
    log.info(messages);
  }
  return Unit{};
}

Status compare_torch_files(const CompareRequest& request, const std::string& output,
                           ReferenceLog& log) {
  if (!request.graph.empty() || !request.quantised.empty() || !request.custom_folder.empty() ||
      !request.op_name.empty() || request.mapping || request.version == 1) {
    return Error{ErrorCode::invalid_argument,
                 "expected none of -f, -q, -c, -op, -map and -v 1 with two .h5 files"};
  }
  pipeline::TorchOptions options;
  options.target_path = request.target;
  options.golden_path = request.golden;
  options.algorithms = request.algorithms;
  options.max_elements = request.max_elements;
  options.reference = true;
  OPDRIFT_TRY(const pipeline::TorchResult result, pipeline::compare_torch(options));
  const std::string name = "result_" + pipeline::time_stamp(false);
  OPDRIFT_CHECK_OK(write_result(
      output, name + ".csv",
      report::render_msaccucmp_torch(result.algorithms, pipeline::torch_table(result))));
  log.info("the result is in " + output + "/" + name + ".csv");
  if (request.post_process == 1) {
    return pipeline::write_bad_torch_rows(result, output + "/" + name + "_filtered");
  }
  return Unit{};
}

int run_file_compare(std::span<const std::string> args) {
  return run_command(file_compare_command(), "file_compare", args, compare_files);
}

int run_advisor(std::span<const std::string> args) {
  return run_command(advisor_command(), "advisor", args, advise_file);
}

}  // namespace opdrift::compat
