#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/verdict/problem.hpp"

namespace opdrift::pipeline {

/// Brings the two sides of a pair in, mapped and in one logical order.
using OpenPair = std::function<Result<AlignedPair>(std::size_t pair)>;

/// What the comparison knows of pairs without opening them. Either may be empty.
struct KnownPairs {
  /// Golden and target, the latter in the golden's order.
  std::function<Result<std::pair<verdict::ValueOutline, verdict::ValueOutline>>(std::size_t pair)>
      outline;
  std::function<verdict::MeasuredValue(std::size_t pair)> measured;  ///< of a pair opened before
};

/// Values of a network whose sides were paired by a comparison. Golden tensors without a partner
/// are brought in alone. The pairs used last stay open: an operator looks at a tensor several
/// times, its readers do soon after, and opening (let alone unpacking) a file anew costs more than
/// a sample of its elements.
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

 private:
  /// A pair that one thread opens while others that want it wait.
  struct Opened {
    std::size_t index = 0;
    std::once_flag once;
    std::optional<Result<AlignedPair>> pair;
    std::uint64_t bytes = 0;
  };

  std::shared_ptr<Opened> entry_of(std::size_t index) const;
  Result<AlignedPair> pair(std::size_t index) const;
  void make_room(const std::shared_ptr<Opened>& added) const;
  bool is_pair(verdict::ValueId value) const;
  Result<tensor::View> lone_view(verdict::RunSide side, verdict::ValueId value) const;

  const GraphProblem& problem_;
  OpenPair open_pair_;
  OpenGolden open_golden_;
  mutable std::mutex mutex_;
  KnownPairs known_;
  mutable std::list<std::shared_ptr<Opened>> opened_;  ///< latest use first
  mutable std::uint64_t opened_bytes_ = 0;
  std::vector<std::optional<std::size_t>> pairs_;
  std::vector<std::optional<std::size_t>> rows_;
  std::vector<std::optional<std::size_t>> goldens_;
};

/// The value that a tensor of the golden side is: by value name, else by operator name and output
/// number, else by the same with the name normalised (unique names only).
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
