#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/verdict/problem.hpp"
#include "opdrift/verdict/result.hpp"

/// Calls of which what went in and what came out was dumped on both sides, as a problem for the
/// judge:
///
///   tensor that came out                         -> computed
///   tensor that went in, and that an earlier     -> that call's value: an edge
///   call made with the same bytes on both sides
///   any other tensor that went in                -> computed by nobody; where the run begins, an
///                                                   input of the network
///
/// Every operator reads what its own call was given, so edges change labels (VICTIM, first
/// divergence), never an operator's own error.
namespace opdrift::pipeline {

class CallProblem {
 public:
  /// `result` holds the measured rows of the pairs.
  CallProblem(const MeasuredPairs& measured, const verdict::RunResult& result);

  /// A tensor that a call read.
  verdict::ValueId read(std::size_t pair, bool network_input = false);
  /// A tensor that a call made.
  verdict::ValueId make(std::size_t pair);
  /// The value of a call that is judged and that made the same bytes before, on both sides.
  std::optional<verdict::ValueId> made_before(std::size_t pair) const;
  /// A tensor of the target that stands for both sides.
  verdict::ValueId parameter(const std::string& name, tensor::View view);
  /// Two tensors that no pair of the comparison holds, by their positions.
  verdict::ValueId beside(const std::string& name, std::size_t golden, std::size_t target);
  /// A tensor that the target did not dump, at this position of the golden's index if it did.
  verdict::ValueId hidden(const std::string& name, std::optional<std::size_t> golden);

  /// Adds a call behind all it depends on. Without a kind its rows keep what the limits say, and
  /// `why`.
  void add(graph::Operator op, const replay::OperatorKind* kind,
           std::vector<verdict::ValueId> inputs, std::vector<verdict::ValueId> outputs,
           const std::string& why = "");
  /// The row of a pair is no value of the problem; says why the limits decide about it.
  void leave_to_limits(std::size_t pair, std::string why);
  /// The row of a pair is a copy of what was judged where it was made.
  void is_copy(std::size_t pair);

  /// Calls that will be judged.
  std::size_t modelled() const { return modelled_; }

  /// Judges the calls and writes judgements into their rows. Rows that the replay cannot decide
  /// keep what the limits said. After an interruption the result has no verdict.
  Status judge(verdict::RunResult& result);

 private:
  struct Limited {
    bool passed = false;
    std::string reason;
  };

  std::string fingerprint(std::size_t pair) const;
  bool same_bytes(std::size_t one, std::size_t other) const;
  Result<AlignedPair> open_pair(std::size_t pair) const;
  verdict::ValueId value_of_pair(std::size_t pair, verdict::ProblemValue::Role role);
  std::vector<std::optional<Limited>> said_by_limits(const verdict::RunResult& result) const;
  void judge_leftovers(const std::vector<std::optional<Limited>>& limits,
                       verdict::RunResult& result) const;

  void note_made(verdict::ValueId value, bool judged, const std::string& why);

  static constexpr std::size_t kNoPair = ~std::size_t{0};

  struct Placed {
    verdict::ValueId value = 0;
    std::size_t pair = 0;
    bool row = false;  ///< the judgement on the value is that on the pair's row
  };
  struct Made {
    verdict::ValueId value = 0;
    std::size_t pair = 0;
    bool judged = false;
  };

  const MeasuredPairs& measured_;
  const verdict::RunResult& result_;
  std::deque<graph::Operator> operators_;  // the problem points to them
  GraphProblem problem_;
  std::vector<Placed> placed_;
  std::vector<std::pair<verdict::ValueId, std::size_t>> goldens_;
  std::vector<IndexPair> more_pairs_;                     // numbered behind those of the comparison
  std::unordered_map<std::string, Made> made_;            // by fingerprint
  std::unordered_map<std::size_t, std::string> limited_;  // why, by pair
  std::unordered_map<std::size_t, verdict::ValueId> own_;  // values by the pair that holds them
  std::vector<std::size_t> pair_of_;                       // by value; kNoPair for none
  std::vector<std::size_t> copies_;
  std::size_t modelled_ = 0;
};

}  // namespace opdrift::pipeline
