#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "opdrift/graph/graph.hpp"

/// Which tensors of a GE dump belong to which of an FX dump, or of a second GE dump.
///
/// A dumped GE operator carries the joined names of the graph operators it was fused from
/// ("MatMulMul_7" = "MatMul" + "Mul_7"). The graph before fusion knows, for each of them, the FX
/// nodes its outputs stand for.
namespace opdrift::match {

/// Splits joined names with the help of the graph and of what was dumped.
class FusedNames {
 public:
  FusedNames(const graph::Graph& graph, std::unordered_set<std::string> dumped);

  struct Split {
    std::vector<const graph::Operator*> pieces;
    bool complete = false;  ///< the pieces make up the whole name
  };
  /// Takes the longest front part that is a graph operator, again and again. Gives up at a front
  /// part that is no graph operator but the name of a dumped one; pieces found so far are kept.
  Split split(std::string_view name) const;

  /// The graph operator of this name, or nullptr.
  const graph::Operator* find(std::string_view name) const;
  /// Position in the graph; kNoPosition for operators the graph does not have.
  std::size_t position(std::string_view name) const;

  static constexpr std::size_t kNoPosition = ~std::size_t{0};

 private:
  const graph::Graph* graph_;
  std::unordered_map<std::string_view, std::size_t> positions_;
  std::unordered_set<std::string> dumped_;
};

/// FX nodes an operator's outputs stand for, one per output that names one, without the trailing
/// ".OUTPUT.<index>".
std::vector<std::string> fx_nodes(const graph::Operator& op);

enum class TensorKind : std::uint8_t { input, output };

/// Where a golden tensor is found.
struct GoldenRef {
  enum class Source : std::uint8_t {
    fx,       ///< FX node `name`
    golden,   ///< GE operator `name` of the golden dump
    target,   ///< the target operator itself (inserted casts)
    missing,  ///< a piece of a fusion that the golden dump lacks: an empty tensor
  };
  Source source = Source::fx;
  std::string name;
  TensorKind kind = TensorKind::input;
  std::size_t index = 0;
};

/// One comparison: a golden tensor beside a tensor of the target operator.
struct TensorPair {
  GoldenRef golden;
  TensorKind target_kind = TensorKind::input;
  std::size_t target_index = 0;
  /// A later output named an FX node too; the reference counts this pair and drops it.
  bool superseded = false;
};

/// How many tensors something dumped has. 0 and 0 for what was not dumped.
struct TensorCounts {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};
using CountsOf = std::function<TensorCounts(std::string_view name)>;

struct TensorPairs {
  std::vector<TensorPair> pairs;
  std::vector<std::string> missing;  ///< FX nodes or golden operators that were not dumped
  bool unexplained = false;          ///< the name stands for nothing known; no pair was made
};

/// Pairs of a target operator with FX nodes. `type` is the operator's type in the dump; operators
/// that the compiler inserted (Cast, TransData) are compared with their own inputs.
TensorPairs pair_with_fx(const FusedNames& names, const std::string& op, std::string_view type,
                         const TensorCounts& target, const CountsOf& fx);

/// Pairs of a target operator with a golden GE dump. `fused`: the dump says that the operator was
/// made by fusion.
TensorPairs pair_with_ge(const FusedNames& names, const std::string& op, bool fused,
                         const TensorCounts& target, const CountsOf& golden);

}  // namespace opdrift::match
