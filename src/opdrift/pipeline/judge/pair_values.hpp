#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/pipeline/judge/open_pairs.hpp"
#include "opdrift/verdict/problem.hpp"

namespace opdrift::pipeline {

/// What the comparison knows of pairs without opening them. Any may be empty.
struct KnownPairs {
  /// Golden and target, the latter in the golden's order.
  std::function<Result<std::pair<verdict::ValueOutline, verdict::ValueOutline>>(std::size_t pair)>
      outline;
  std::function<verdict::MeasuredValue(std::size_t pair)> measured;     ///< of a pair opened before
  std::function<Result<tensor::View>(std::size_t pair)> stored_target;  ///< without the golden
};

/// Values of a network whose sides were paired by a comparison. Golden tensors without a partner
/// are brought in alone. A pair stays open until all operators around it are judged.
class PairValues : public verdict::ValueSource {
 public:
  using OpenGolden = std::function<Result<tensor::View>(std::size_t golden)>;

  PairValues(const GraphProblem& problem, OpenPair open_pair, OpenGolden open_golden,
             KnownPairs known = {});

  /// The pair that holds a value, and the row of the result it has, if any. The first one counts.
  void set_pair(verdict::ValueId value, std::size_t pair, std::optional<std::size_t> row);
  /// A golden tensor without a partner.
  void set_golden(verdict::ValueId value, std::size_t golden);

  /// The row of the result that holds a value.
  std::optional<std::size_t> row_of(verdict::ValueId value) const;

  bool has(verdict::RunSide side, verdict::ValueId value) const override;
  Result<tensor::View> view(verdict::RunSide side, verdict::ValueId value) const override;
  Result<verdict::ValueOutline> outline(verdict::RunSide side,
                                        verdict::ValueId value) const override;
  verdict::MeasuredValue measured(verdict::ValueId value) const override;
  void used(verdict::ValueId value) const override;
  /// A target as it is stored, in whatever order, for whoever looks at its bytes alone.
  Result<tensor::View> stored_target(verdict::ValueId value) const;

 private:
  bool is_pair(verdict::ValueId value) const;
  bool is_stored(verdict::ValueId value) const;
  const tensor::View* given_for_target(verdict::ValueId value) const;
  Result<tensor::View> lone_view(verdict::RunSide side, verdict::ValueId value) const;

  const GraphProblem& problem_;
  mutable OpenPairs open_pairs_;
  OpenGolden open_golden_;
  KnownPairs known_;
  std::vector<std::uint32_t> users_;  ///< operators that make or read a value
  std::vector<std::optional<std::size_t>> pairs_;
  std::vector<std::optional<std::size_t>> rows_;
  std::vector<std::optional<std::size_t>> goldens_;
};

/// The value that a tensor of the golden side is: by value name, else by operator name and output
/// number (Constant nodes too), else by the same with the name normalised (unique names only).
class ValueNames {
 public:
  explicit ValueNames(const GraphProblem& problem);
  std::optional<verdict::ValueId> find(const match::NamedTensor& name) const;

 private:
  const GraphProblem& problem_;
  std::unordered_map<std::string, verdict::ValueId> by_operator_;
  std::unordered_map<std::string, std::optional<verdict::ValueId>> by_normalised_;
};

}  // namespace opdrift::pipeline
