#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/replay/replay.hpp"
#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"
#include "opdrift/verdict/judge/steps.hpp"

namespace opdrift::verdict::judging {

/// Steps A to D (and F for outputs that a side lacks) for one operator. Loads what it needs, keeps
/// nothing. Failures end as reasons in the findings.
class OperatorJudge {
 public:
  /// `full`: weighted kinds are replayed whole although sampling was asked for.
  OperatorJudge(const Context& context, std::uint32_t index, StandIns& stand_ins,
                std::vector<Found>& found, bool full = false);

  void run();

 private:
  Status replay();
  Status replay_sides();
  Status judge_output(std::size_t k);
  Status judge_whole(std::size_t k, Found& found);
  Status judge_sampled(Found& found);
  Status judge_integers(std::size_t k, const Pair& pair, Found& found);
  Status make_stand_in(std::size_t k);
  void give_up(const std::string& reason);
  /// Whether there is anything to say about an output.
  bool concerns(ValueId value) const;
  bool untouched() const;
  bool sampled() const;
  bool fits_memory() const;

  Formats formats_of(ValueId value) const;
  replay::Call call(const std::vector<const replay::Array*>& inputs,
                    const std::vector<const replay::Array*>& deltas = {}) const;
  Result<std::vector<double>> inner_variance(std::size_t k, const Formats& formats);
  Result<std::vector<double>> missing_variance(std::size_t k, ValueId value);
  Result<std::vector<double>> wider_spread(std::size_t k);
  Result<std::vector<double>> wider_spread_at(std::span<const std::uint64_t> positions,
                                              std::span<const double> reference);
  ArrayList widened_inputs(int draw) const;
  Status add_parameter_variance(std::size_t k, const Formats& formats, Elements& elements);
  void note_group(Found& found) const;

  const Context& context_;
  std::uint32_t index_;
  const ProblemOperator& op_;
  StandIns& stand_ins_;
  std::vector<Found>& found_;
  bool full_;
  Inputs inputs_;
  replay::Outputs golden_;
  replay::Outputs target_;  ///< empty when the inputs agree: `golden_` holds for both
  std::vector<replay::Outputs> noisy_;
  bool weights_counted_ = false;  ///< W is among the terms of the kind

  const replay::Outputs& target_outputs() const { return inputs_.equal ? golden_ : target_; }
};

}  // namespace opdrift::verdict::judging
