#include "opdrift/compat/msaccucmp_compare.hpp"

#include <sys/stat.h>

#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/compat/compare_request.hpp"
#include "opdrift/compat/compare_scenarios.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/python_plugins.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"
#include "opdrift/pipeline/network/batch.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/detail.hpp"
#include "opdrift/pipeline/network/report.hpp"
#include "opdrift/report/msaccucmp_advisor.hpp"

namespace opdrift::compat {

namespace {

constexpr int kExitInvalidAlgorithm = 31;
constexpr int kExitNotSupported = 30;
constexpr std::uint64_t kLargeJson = std::uint64_t{100} << 20;

/// A missing dump is 2 in this command; a missing path was found out before.
int operator_exit_code(ErrorCode code) {
  return code == ErrorCode::not_found ? kExitNoDumpFile : exit_code(code);
}

/// One invocation of `compare`.
class CompareCommand {
 public:
  CompareCommand(CompareRequest request, ReferenceLog& log)
      : request_(std::move(request)), log_(log) {}

  int run();

 private:
  Status check_paths();
  Status check_plugins() const;
  void warn_of_large_json(const std::string& path);
  pipeline::NetworkOptions network_options() const;
  int run_batch();
  int run_network(const pipeline::NetworkOptions& options, const std::string& prefix);
  int run_detail(const pipeline::NetworkInputs& inputs, const pipeline::NetworkOptions& options);
  int finish_network(const pipeline::NetworkResult& result, const std::string& prefix);
  Status write_advice(const pipeline::MsaccucmpTable& table,
                      const std::vector<std::string>& inputs);
  int failed(const Error& error) {
    log_.error(error.to_string());
    return exit_code(error.code);
  }

  CompareRequest request_;
  ReferenceLog& log_;
  std::string output_;
};

void CompareCommand::warn_of_large_json(const std::string& path) {
  struct stat info {};
  const bool large =
      ::stat(path.c_str(), &info) == 0 && static_cast<std::uint64_t>(info.st_size) > kLargeJson;
  // Of an offline model only the description is read, whatever its size.
  if (large && graph::graph_file_kind(path) != graph::GraphFileKind::offline_model) {
    log_.warning(path + " holds " + std::to_string(info.st_size) +
                 " bytes; reading it may take a while");
  }
}

Status CompareCommand::check_paths() {
  OPDRIFT_CHECK_OK(check_path(request_.target, PathKind::any));
  OPDRIFT_CHECK_OK(check_path(request_.golden, PathKind::any));
  for (const std::string* path :
       {&request_.graph, &request_.quantised, &request_.close_fusion, &request_.custom_folder}) {
    if (!path->empty()) {
      OPDRIFT_CHECK_OK(
          check_path(*path, path == &request_.custom_folder ? PathKind::folder : PathKind::any));
      warn_of_large_json(*path);
    }
  }
  output_ = request_.output.empty() ? "." : request_.output;
  OPDRIFT_CHECK_OK(prepare_output_folder(output_));
  output_ = real_path(output_);
  return Unit{};
}

/// Plug-ins written in Python cannot run here; a folder without any changes nothing.
Status CompareCommand::check_plugins() const {
  if (request_.custom_folder.empty()) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(refuse_python_plugins(request_.custom_folder));
  log_.warning(request_.custom_folder + " holds no plug-ins");
  return Unit{};
}

pipeline::NetworkOptions CompareCommand::network_options() const {
  pipeline::NetworkOptions options;
  options.target_path = real_path(request_.target);
  options.golden_path = real_path(request_.golden);
  options.graph_json = request_.graph;
  options.quantised_json = request_.quantised;
  options.close_fusion_json = request_.close_fusion;
  options.range = request_.range;
  options.select = request_.select;
  options.ffts = request_.ffts;
  options.reference = true;
  options.mapping_only = request_.mapping;
  options.overflow = request_.overflow;
  options.algorithms = request_.algorithms;
  options.max_elements = request_.max_elements;
  return options;
}

int CompareCommand::run() {
  const Status paths = check_paths();
  if (!paths.has_value()) {
    return failed(paths.error());
  }
  const bool both_files = is_file(request_.target) && is_file(request_.golden);
  const bool torch =
      both_files && request_.target.ends_with(".h5") && request_.golden.ends_with(".h5");
  if (request_.post_process && !torch) {
    return failed(Error{ErrorCode::invalid_argument, "expected -p with two .h5 files only"});
  }
  if (torch || both_files) {
    const Status status =
        torch ? compare_torch_files(request_, output_, log_) : compare_two_files(request_, log_);
    return status.has_value() ? kExitSuccess : failed(status.error());
  }
  const Status plugins = check_plugins();
  if (!plugins.has_value()) {
    return failed(plugins.error());
  }
  if (!request_.graph.empty() && is_folder(request_.graph)) {
    return run_batch();
  }
  return run_network(network_options(), "");
}

int CompareCommand::run_batch() {
  if (!request_.op_name.empty()) {
    return failed(Error{ErrorCode::invalid_argument, "expected no -op with a folder of graphs"});
  }
  const auto batch = pipeline::find_batch(real_path(request_.target), request_.graph);
  if (!batch.has_value()) {
    return failed(batch.error());
  }
  for (const std::string& warning : batch->warnings) {
    log_.warning(warning);
  }
  int status = kExitSuccess;
  for (const pipeline::BatchItem& item : batch->items) {
    pipeline::NetworkOptions options = network_options();
    options.target_path = item.dump_folder;
    options.graph_json = item.graph_json;
    status = run_network(options, item.result_prefix);
  }
  return status;
}

int CompareCommand::run_network(const pipeline::NetworkOptions& options,
                                const std::string& prefix) {
  const auto inputs = pipeline::open_network(options);
  if (!inputs.has_value()) {
    return failed(inputs.error());
  }
  if (!request_.op_name.empty()) {
    return run_detail(*inputs, options);
  }
  const auto result = pipeline::compare_network(*inputs, options);
  if (!result.has_value()) {
    return failed(result.error());
  }
  for (const std::string& warning : result->warnings) {
    log_.warning(warning);
  }
  return finish_network(*result, prefix);
}

int CompareCommand::finish_network(const pipeline::NetworkResult& result,
                                   const std::string& prefix) {
  const std::string name =
      prefix + (request_.mapping ? "mapping_" : "result_") + pipeline::time_stamp(false) + ".csv";
  pipeline::MsaccucmpTable table;
  std::string text;
  if (request_.mapping) {
    text =
        report::render_msaccucmp_mapping(request_.partial(), pipeline::msaccucmp_mapping(result));
  } else {
    table = pipeline::msaccucmp_table(
        result, {.sequence = request_.partial(), .overflow = request_.overflow, .reference = true});
    text = report::render_msaccucmp(table.columns, table.rows);
  }
  const Status written = write_result(output_, name, text);
  if (!written.has_value()) {
    return failed(written.error());
  }
  log_.info("the result is in " + output_ + "/" + name);
  if (request_.advisor && !request_.mapping) {
    const Status advised = write_advice(
        table, request_.close_fusion.empty() ? result.network_inputs : std::vector<std::string>{});
    if (!advised.has_value()) {
      return failed(advised.error());
    }
  }
  for (const pipeline::OperatorFailure& failure : result.failures) {
    log_.error(failure.error.to_string());
  }
  if (!result.failures.empty()) {
    const int first = operator_exit_code(result.failures.front().error.code);
    return result.compared_operators == 0 ? kExitNoDumpFile : first;
  }
  return result.compared_operators == 0 ? kExitNoDumpFile : kExitSuccess;
}

Status CompareCommand::write_advice(const pipeline::MsaccucmpTable& table,
                                    const std::vector<std::string>& inputs) {
  report::AdvisorTable cells;
  cells.header = report::msaccucmp_header(table.columns);
  for (const report::MsaccucmpRow& row : table.rows) {
    cells.rows.push_back(report::msaccucmp_cells(table.columns, row));
  }
  std::string text;
  for (const std::string& line : report::advise(cells, inputs).lines()) {
    log_.info(line);
    text += line + "\n";
  }
  return write_result(output_, "advisor_summary.txt", text);
}

int CompareCommand::run_detail(const pipeline::NetworkInputs& inputs,
                               const pipeline::NetworkOptions& options) {
  const pipeline::DetailRequest detail_request{request_.op_name, request_.output_tensor,
                                               request_.tensor};
  const auto tensors = pipeline::open_detail(inputs, options, detail_request);
  if (!tensors.has_value()) {
    const ErrorCode code = tensors.error().code;
    log_.error(tensors.error().to_string());
    return code == ErrorCode::unsupported ? kExitNotSupported : operator_exit_code(code);
  }
  report::DetailOptions detail_options;
  detail_options.worst_rows = static_cast<std::size_t>(request_.top);
  detail_options.lines_per_file = request_.max_lines;
  detail_options.listing = request_.listing;
  detail_options.reference = true;
  const auto detail = pipeline::write_detail(
      *tensors, output_, pipeline::detail_prefix(detail_request), detail_options);
  if (!detail.has_value()) {
    return failed(detail.error());
  }
  detail_options.format = tensors->format;
  std::cout << report::render_detail_table(detail_options, detail->worst_absolute) << "\n"
            << report::render_detail_table(detail_options, detail->worst_relative) << std::flush;
  log_.info("the listing of " + request_.op_name + " is in " + output_);
  return kExitSuccess;
}

}  // namespace

int run_compare(std::span<const std::string> args) {
  const std::vector<std::string> joined = join_algorithm_numbers(args);
  const ParsedArguments parsed = parse_arguments(compare_command(), joined);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  ReferenceLog log;
  log.warn_when_root();
  const auto request = read_compare_request(parsed.arguments, log);
  int status = kExitInvalidAlgorithm;
  if (request.has_value()) {
    status = CompareCommand(*request, log).run();
  } else {
    log.error(request.error().to_string());
    if (request.error().code != ErrorCode::unsupported) {
      status = exit_code(request.error().code);
    }
  }
  log.finish("compare");
  return status;
}

}  // namespace opdrift::compat
