#include "opdrift/pipeline/graph_compare.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/graph/graph_file.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/judge_network.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/open_row.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::TensorResult;

std::string kind_name(io::FolderKind kind) {
  switch (kind) {
    case io::FolderKind::offline: return "Ascend dump";
    case io::FolderKind::quant: return "quantised original";
    case io::FolderKind::standard: return "framework dump";
  }
  return "dump";
}

/// Of a row without numbers: true when it is a pair that could not be compared.
bool is_failed_pair(const NetworkRow& row) {
  return row.state == RowState::misfit || row.state == RowState::unreadable;
}

class Translation {
 public:
  Translation(NetworkResult& network, const CompareOptions& options)
      : network_(network), options_(options) {}

  Result<verdict::RunResult> run() {
    const RE2 only(options_.only, RE2::Quiet);
    if (!only.ok()) {
      return Error{ErrorCode::invalid_argument,
                   "selection '" + options_.only + "': " + only.error()};
    }
    verdict::RunResult result;
    result.golden_path = network_.golden_path;
    result.target_path = network_.target_path;
    result.golden_kind = kind_name(network_.golden_kind);
    result.target_kind = kind_name(network_.target_kind);
    result.rule = describe(options_.gates);
    result.notes = network_.warnings;
    result.interrupted = network_.interrupted;
    result.bytes_read = network_.bytes_read;
    shown_.assign(network_.rows.size(), std::nullopt);
    for (std::size_t i = 0; i < network_.rows.size(); ++i) {
      const NetworkRow& row = network_.rows[i];
      if (!row.whole_operator && (row.measurement || is_failed_pair(row)) &&
          RE2::PartialMatch(row.operator_name, only)) {
        shown_[i] = result.tensors.size();
        result.tensors.push_back(tensor_of(row));
      }
    }
    result.ledger = std::move(network_.ledger);
    return result;
  }

  /// The row of the result that shows a job's tensor, if any does.
  std::vector<std::optional<std::size_t>> row_of_job() const {
    std::vector<std::optional<std::size_t>> rows;
    for (const RowJob& job : network_.jobs) {
      rows.push_back(shown_[job.row]);
    }
    return rows;
  }

 private:
  TensorResult tensor_of(const NetworkRow& row) const {
    TensorResult tensor;
    tensor.operator_name = row.operator_name;
    tensor.operator_type = row.operator_type;
    tensor.golden_operator = row.golden_names;
    tensor.tensor_name = row.golden_tensor;
    tensor.role = row.output ? "output" : "input";
    tensor.index = row.tensor;
    tensor.order = row.sequence
                       ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, *row.sequence))
                       : row.index;
    tensor.rule = row.rule;
    tensor.target_path = row.target.path;
    tensor.golden_path = row.golden.path;
    tensor.target_shape = row.compared_shape;
    tensor.golden_shape = row.golden.desc.shape;
    tensor.measurement = row.measurement;
    if (row.measurement) {
      const verdict::GateOutcome outcome = verdict::apply(options_.gates, *row.measurement);
      tensor.passed = outcome.passed;
      tensor.reason = outcome.reason;
    } else {
      tensor.reason = row.reason;
    }
    return tensor;
  }

  NetworkResult& network_;
  const CompareOptions& options_;
  std::vector<std::optional<std::size_t>> shown_;  // by row of the network
};

Result<NetworkOptions> network_options(const std::string& target, const std::string& golden,
                                       const CompareOptions& options) {
  std::vector<std::string> graphs;
  std::copy_if(options.graphs.begin(), options.graphs.end(), std::back_inserter(graphs),
               &graph::is_graph_file);
  if (graphs.size() > 2) {
    return Error{
        ErrorCode::invalid_argument,
        "expected at most two graphs of compiled models, found " + std::to_string(graphs.size())};
  }
  NetworkOptions network;
  network.target_path = target;
  network.golden_path = golden;
  network.graph_json = graphs.front();
  network.max_elements = options.max_elements;
  network.keep_peaks = options.decided_by != DecidedBy::gates;
  network.jobs = options.jobs;
  network.cancel = options.cancel;
  if (options.kl_divergence || options.metrics.needs_divergence()) {
    network.algorithms = {"KullbackLeiblerDivergence"};
  }
  if (options.progress) {
    network.progress = [&options](std::uint64_t done, std::uint64_t total) {
      options.progress(done, total, 0);
    };
  }
  if (graphs.size() == 2) {
    OPDRIFT_TRY(const io::DumpFolder folder, io::scan_folder(golden));
    const bool device = folder.kind == io::FolderKind::offline;
    (device ? network.close_fusion_json : network.quantised_json) = graphs[1];
  }
  return network;
}

/// What needs the tensors themselves: error profiles and plug-ins.
Status look_again(const AlignedPair& pair, const CompareOptions& options, TensorResult& tensor) {
  OPDRIFT_TRY(tensor.metric_values,
              plugin_values(options.metrics, pair.golden, pair.target,
                            {.max_elements = options.max_elements, .cancel = options.cancel}));
  if (options.profile || options.gates.allclose) {
    OPDRIFT_TRY(tensor.profile,
                verdict::profile_errors(pair.golden, pair.target, 1, options.cancel));
    const verdict::GateOutcome outcome =
        verdict::apply(options.gates, *tensor.measurement, &*tensor.profile);
    tensor.passed = outcome.passed;
    tensor.reason = outcome.reason;
  }
  return Unit{};
}

/// Every measured pair is brought in once more where that is needed.
void look_at_pairs(const NetworkInputs& inputs, const NetworkOptions& network,
                   const NetworkResult& compared,
                   const std::vector<std::optional<std::size_t>>& row_of_job,
                   const CompareOptions& options, verdict::RunResult& result) {
  if (options.metrics.plugins.empty() && !options.profile && !options.gates.allclose) {
    return;
  }
  parallel_for(
      compared.jobs.size(), options.jobs,
      [&](std::size_t job) {
        const NetworkRow& row = compared.rows[compared.jobs[job].row];
        if (!row_of_job[job] || !row.measurement) {
          return;
        }
        TensorResult& tensor = result.tensors[*row_of_job[job]];
        const auto pair = open_row(inputs, network, row, compared.jobs[job]);
        const Status looked = pair ? look_again(pair->pair, options, tensor) : Status(pair.error());
        if (!looked) {
          tensor.passed = false;
          tensor.reason = looked.error().to_string();
        }
      },
      options.cancel);
}

}  // namespace

Result<verdict::RunResult> compare_by_graph(const std::string& target, const std::string& golden,
                                            const CompareOptions& options) {
  OPDRIFT_TRY(const NetworkOptions network, network_options(target, golden, options));
  OPDRIFT_TRY(const NetworkInputs inputs, open_network(network));
  OPDRIFT_TRY(NetworkResult compared, compare_network(inputs, network));
  Translation translation(compared, options);
  OPDRIFT_TRY(verdict::RunResult result, translation.run());
  const auto row_of_job = translation.row_of_job();
  look_at_pairs(inputs, network, compared, row_of_job, options, result);
  OPDRIFT_CHECK_OK(judge_network(inputs, network, compared, row_of_job, options, result));
  return result;
}

}  // namespace opdrift::pipeline
