#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/match/torchair_match.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"
#include "opdrift/pipeline/msprobe/torchair_folders.hpp"

/// What of two torchair dumps stands beside each other: ranks of one number, the i-th graph with
/// the i-th group of dumps on both sides, tokens of one number.
namespace opdrift::pipeline {

struct TorchairSides {
  std::string target;
  std::string golden;
  std::optional<std::uint64_t> rank;  ///< only this one
  RunLog log;
};

/// One rank, or everything when there are no rank folders.
struct RankRoots {
  std::optional<std::uint64_t> rank;
  std::string target;
  std::string golden;
};

/// Fails with not_found when no rank is on both sides.
Result<std::vector<RankRoots>> torchair_roots(const TorchairSides& sides);

/// One token of one graph on both sides. Exactly one of the golden tokens is given.
struct TokenPair {
  const graph::Graph& graph;
  std::size_t graph_number = 0;
  const GeToken& target;
  const GeToken* golden_ge = nullptr;
  const FxToken* golden_fx = nullptr;

  /// Operators dumped on either side, for splitting joined names.
  match::FusedNames names() const;
};

/// Files of a token in graph order; operators the graph does not have come first, in path order.
std::vector<const GeFile*> graph_order(const GeToken& token, const match::FusedNames& names);

/// Calls `take` for every pair of tokens of a rank. Tokens and graphs without a counterpart are
/// warnings. Fails when there is no graph or it cannot be read, or with what `take` returns.
Status each_token_pair(const TorchairSides& sides, const RankRoots& root,
                       const std::function<Status(const TokenPair&)>& take);

}  // namespace opdrift::pipeline
