#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/result.hpp"

/// The replay budget for torchair dumps: the operators of the GE graph, each with what the GE dump
/// holds of its inputs and outputs beside what the golden (FX or GE) holds of them.
///
///   operator of the graph                    -> replayed on its own dumped inputs
///   operator fused from several of the graph -> these, one behind the other; what passed between
///                                               them is in the golden only; judged as one at the
///                                               last
///   input that only the target dumped        -> stands for both sides (constants of the compiler)
///   operator without a replay, reduced dump  -> judged by limits, and it says so
///
/// The external inputs of fused operators are numbered piece by piece, as the dump lists them.
namespace opdrift::pipeline {

using Positions = std::vector<std::optional<std::size_t>>;

/// One operator of a GE dump.
struct GeCall {
  std::string step;  ///< rank, graph and token
  std::string name;
  std::vector<graph::Operator> pieces;  ///< of the graph, in order; one where nothing was fused
  std::string trouble;                  ///< why there are none
  Positions input_pairs;                ///< pairs by input number
  Positions output_pairs;
  std::vector<std::size_t> target_inputs;  ///< positions in the target's index, by input number
  std::vector<Positions> golden_inputs;    ///< positions in the golden's index, by piece and number
  std::vector<Positions> golden_outputs;
  /// Operators of the graph that are its inputs.
  std::shared_ptr<const std::unordered_set<std::string>> data;
};

/// `calls`: in graph order within their step. Fails as judge_api_calls does.
Status judge_ge_calls(const std::vector<GeCall>& calls, const MeasuredPairs& measured,
                      verdict::RunResult& result);

}  // namespace opdrift::pipeline
