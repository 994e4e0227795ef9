#include "opdrift/pipeline/network/compare.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "opdrift/base/heap.hpp"
#include "opdrift/base/parallel.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/match/merge.hpp"
#include "opdrift/match/quant_filter.hpp"
#include "opdrift/match/selection.hpp"
#include "opdrift/pipeline/network/ledger.hpp"
#include "opdrift/pipeline/network/measure.hpp"
#include "opdrift/pipeline/network/plan.hpp"

namespace opdrift::pipeline {

namespace {

using io::FolderKind;

/// What rows, ledger and opened dumps need per file, about.
constexpr std::size_t kHeapPerFile = 4096;
constexpr std::size_t kMostForeseenFiles = 100000;

Error needs(const std::string& what) {
  return Error{ErrorCode::invalid_argument, "expected " + what + " for these dumps"};
}

Error refused(const std::string& what) {
  return Error{ErrorCode::bad_combination, what};
}

Status check_device_target(const DumpSide& target, const DumpSide& golden, bool graph, bool quant,
                           bool close) {
  switch (golden.kind()) {
    case FolderKind::offline:
      if (quant || graph != close) {
        return needs("either no graph json, or one of the target and one without fusion");
      }
      if (target.quantised() != golden.quantised()) {
        return refused("expected both device dumps quantised or neither, found one of each");
      }
      return Unit{};
    case FolderKind::standard:
      if (!graph || close || quant != target.quantised()) {
        return needs(target.quantised()
                         ? "the graph jsons of the target and of the quantised original"
                         : "the graph json of the target and no other");
      }
      return Unit{};
    case FolderKind::quant:
      if (!graph || close || quant) {
        return needs("the graph json of the target and no other");
      }
      if (!target.quantised()) {
        return refused("expected a quantised target, found one that is not");
      }
      return Unit{};
  }
  return Unit{};
}

Result<match::Network> read_network(const std::string& path, const NetworkOptions& options) {
  OPDRIFT_TRY(const graph::Graph graph, io::read_graph_file(path));
  match::NetworkOptions network_options;
  network_options.keep_slice_names = options.ffts;
  match::Network network(graph, network_options);
  match::leave_out_quantised(network);
  return network;
}

Result<match::Network> merged_network(const NetworkOptions& options,
                                      std::vector<std::string>& warnings) {
  if (options.graph_json.empty()) {
    return read_network(options.quantised_json, options);
  }
  OPDRIFT_TRY(match::Network network, read_network(options.graph_json, options));
  if (!options.quantised_json.empty()) {
    OPDRIFT_TRY(const match::Network quantised, read_network(options.quantised_json, options));
    return match::merge_quantised(network, quantised);
  }
  if (!options.close_fusion_json.empty()) {
    OPDRIFT_TRY(const match::Network unfused, read_network(options.close_fusion_json, options));
    match::CloseFusionMerge merge = match::merge_close_fusion(network, unfused, options.reference);
    std::move(merge.warnings.begin(), merge.warnings.end(), std::back_inserter(warnings));
    return std::move(merge.network);
  }
  return network;
}

Status choose_groups(NetworkInputs& inputs, const NetworkOptions& options) {
  if (options.range.empty() && options.select.empty()) {
    return Unit{};
  }
  if (!inputs.by_graph) {
    return needs("a graph json to choose operators from");
  }
  OPDRIFT_TRY(match::Selection selection,
              options.range.empty()
                  ? match::select_list(inputs.network, options.select)
                  : match::select_range(inputs.network, options.range, options.reference));
  inputs.groups = std::move(selection.groups);
  std::move(selection.warnings.begin(), selection.warnings.end(),
            std::back_inserter(inputs.warnings));
  return Unit{};
}

void copy_numbers(NetworkPlan& plan) {
  for (const RowCopy& copy : plan.copies) {
    const NetworkRow& from = plan.rows[copy.from];
    NetworkRow& to = plan.rows[copy.row];
    to.state = from.state;
    to.compared_shape = from.compared_shape;
    to.measurement = from.measurement;
    to.values = from.values;
    to.overflow = from.overflow;
    to.reason = from.reason;
    to.golden.desc = from.golden.desc;
    to.golden.known = from.golden.known;
  }
}

/// Both folders at once.
Status scan_sides(NetworkInputs& inputs, const io::ScanOptions& scan,
                  const NetworkOptions& options) {
  std::array<std::optional<Result<std::unique_ptr<DumpSide>>>, 2> sides;
  parallel_for(sides.size(), options.jobs, [&](std::size_t i) {
    sides[i] =
        DumpSide::scan(i == 0 ? options.target_path : options.golden_path, scan, options.reference);
  });
  OPDRIFT_TRY(inputs.target, *std::move(sides[0]));
  OPDRIFT_TRY(inputs.golden, *std::move(sides[1]));
  const std::size_t files =
      inputs.target->folder().entries.size() + inputs.golden->folder().entries.size();
  expect_allocations(std::min(files, kMostForeseenFiles) * kHeapPerFile);
  return Unit{};
}

}  // namespace

std::string NetworkRow::label() const {
  if (whole_operator) {
    return "";
  }
  return operator_name + (output ? ":output:" : ":input:") + std::to_string(tensor);
}

Status check_combination(const DumpSide& target, const DumpSide& golden,
                         const NetworkOptions& options) {
  const bool graph = !options.graph_json.empty();
  const bool quant = !options.quantised_json.empty();
  const bool close = !options.close_fusion_json.empty();
  switch (target.kind()) {
    case FolderKind::offline: return check_device_target(target, golden, graph, quant, close);
    case FolderKind::quant:
      if (golden.kind() != FolderKind::standard || graph || close || !quant) {
        return refused(
            "expected the original model and the graph json of the quantised one only "
            "as partners of a quantised original");
      }
      return Unit{};
    case FolderKind::standard: break;
  }
  return refused("expected a device dump or a quantised original as target, found an original");
}

Result<NetworkInputs> open_network(const NetworkOptions& options) {
  NetworkInputs inputs;
  inputs.by_graph = !options.graph_json.empty() || !options.quantised_json.empty();
  io::ScanOptions scan;
  scan.ffts = options.ffts;
  scan.has_fusion_rule = !options.graph_json.empty();
  OPDRIFT_CHECK_OK(scan_sides(inputs, scan, options));
  for (const DumpSide* side : {inputs.target.get(), inputs.golden.get()}) {
    for (const io::IgnoredFile& file : side->folder().ignored) {
      inputs.warnings.push_back(side->folder().path + "/" + file.name + ": " + file.reason);
    }
    inputs.warnings.insert(inputs.warnings.end(), side->folder().warnings.begin(),
                           side->folder().warnings.end());
  }
  if (options.check_kinds) {
    OPDRIFT_CHECK_OK(check_combination(*inputs.target, *inputs.golden, options));
  }
  if (inputs.by_graph) {
    OPDRIFT_TRY(inputs.network, merged_network(options, inputs.warnings));
    inputs.input_names = inputs.network.input_names();
  }
  OPDRIFT_CHECK_OK(choose_groups(inputs, options));
  return inputs;
}

Result<NetworkResult> compare_network(const NetworkOptions& options) {
  OPDRIFT_TRY(const NetworkInputs inputs, open_network(options));
  return compare_network(inputs, options);
}

Result<NetworkResult> compare_network(const NetworkInputs& inputs, const NetworkOptions& options) {
  PlanOptions plan_options;
  plan_options.groups = inputs.groups;
  plan_options.sequence = !inputs.groups.empty();
  plan_options.jobs = worker_count(options.jobs);
  plan_options.cancel = options.cancel;
  NetworkPlan plan =
      inputs.by_graph ? plan_by_graph(inputs.network, *inputs.target, *inputs.golden, plan_options)
                      : plan_by_key(*inputs.target, *inputs.golden, plan_options);
  if (!options.mapping_only) {
    measure_plan(plan, inputs, options);
    copy_numbers(plan);
  }
  NetworkResult result;
  result.target_path = options.target_path;
  result.golden_path = options.golden_path;
  result.target_kind = inputs.target->kind();
  result.golden_kind = inputs.golden->kind();
  result.target_has_npy = inputs.target->has_npy();
  result.golden_has_npy = inputs.golden->has_npy();
  result.by_graph = inputs.by_graph;
  result.algorithms = options.algorithms;
  result.ledger = network_ledger(plan, inputs, options.jobs);
  result.rows = std::move(plan.rows);
  result.jobs = std::move(plan.jobs);
  result.measured = std::move(plan.measured);
  result.failures = std::move(plan.failures);
  result.warnings = inputs.warnings;
  std::move(plan.warnings.begin(), plan.warnings.end(), std::back_inserter(result.warnings));
  result.network_inputs = inputs.input_names;
  result.compared_operators = plan.compared_operators;
  result.interrupted = options.cancel != nullptr && options.cancel->cancelled();
  result.bytes_read = inputs.target->bytes_opened() + inputs.golden->bytes_opened();
  return result;
}

}  // namespace opdrift::pipeline
