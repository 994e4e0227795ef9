#include "opdrift/pipeline/judge/network_view.hpp"

#include <algorithm>

namespace opdrift::pipeline {

namespace {

using verdict::ProblemOperator;
using verdict::ValueId;

constexpr std::size_t kMostConnections = 1'000'000;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// Position of the operator that makes each value.
std::vector<std::uint32_t> makers(const verdict::Problem& problem) {
  std::vector<std::uint32_t> maker(problem.values.size(), kNobody);
  for (std::uint32_t i = 0; i < problem.operators.size(); ++i) {
    for (const ValueId value : problem.operators[i].outputs) {
      if (value != verdict::kAbsent) {
        maker[value] = i;
      }
    }
  }
  return maker;
}

std::vector<std::uint32_t> producers_of(const ProblemOperator& op,
                                        const std::vector<std::uint32_t>& maker) {
  std::vector<std::uint32_t> producers;
  for (const ValueId value : op.inputs) {
    if (value != verdict::kAbsent && maker[value] != kNobody) {
      producers.push_back(maker[value]);
    }
  }
  std::sort(producers.begin(), producers.end());
  producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
  return producers;
}

std::vector<verdict::NetworkOperator> operators_of(const verdict::Problem& problem) {
  const std::vector<std::uint32_t> maker = makers(problem);
  std::vector<verdict::NetworkOperator> network;
  network.reserve(problem.operators.size());
  for (const ProblemOperator& op : problem.operators) {
    network.push_back({op.op->name, op.op->type, producers_of(op, maker), {}});
  }
  return network;
}

std::size_t connections_of(const verdict::Problem& problem) {
  std::size_t connections = 0;
  for (const ProblemOperator& op : problem.operators) {
    connections += op.inputs.size() + op.outputs.size();
  }
  return connections;
}

}  // namespace

void describe_network(const GraphProblem& problem, const PairValues& values,
                      verdict::RunResult& result) {
  const verdict::Problem& graph = problem.problem;
  if (result.network.empty()) {
    if (connections_of(graph) > kMostConnections) {
      result.notes.emplace_back("the network is too large to be drawn and left out of the result");
      return;
    }
    result.network = operators_of(graph);
  }
  for (std::size_t i = 0; i < std::min(graph.operators.size(), result.network.size()); ++i) {
    for (const ValueId value : graph.operators[i].outputs) {
      const auto row = value == verdict::kAbsent ? std::nullopt : values.row_of(value);
      if (row) {
        result.network[i].rows.push_back(*row);
      }
    }
  }
}

}  // namespace opdrift::pipeline
