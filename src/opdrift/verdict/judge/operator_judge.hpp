#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opdrift/replay/dots.hpp"
#include "opdrift/replay/partial.hpp"
#include "opdrift/replay/replay.hpp"
#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"
#include "opdrift/verdict/judge/reader.hpp"
#include "opdrift/verdict/judge/steps.hpp"
#include "opdrift/verdict/judge/survey.hpp"

namespace opdrift::verdict::judging {

/// The self check beyond which a replay is not believed.
inline constexpr double kNotModelled = 10.0;

/// Seed of the noise laid over a value, one stream per purpose.
inline std::uint64_t seed_of(ValueId value, std::uint64_t purpose) {
  return (std::uint64_t{value} << 8U) + purpose;
}

/// Steps A to D (and F for outputs that a side lacks) for one operator. Loads what it needs, keeps
/// nothing. Failures end as reasons in the findings.
class OperatorJudge {
 public:
  /// `full`: weighted kinds are replayed whole although sampling was asked for.
  OperatorJudge(const Context& context, std::uint32_t index, StandIns& stand_ins,
                std::vector<Found>& found, bool full = false);

  void run();

 private:
  void open_outputs() const;
  Status replay();
  Status check_inputs() const;
  Status replay_whole();
  Status replay_sides();
  Status judge_output(std::size_t k);
  Status judge_whole(std::size_t k, Found& found);
  Status conclude(std::size_t k, const Formats& formats, Elements& elements, Found fresh,
                  Found& found);
  Status finish(const Formats& formats, const Elements& elements, const WiderSpread& wider,
                Found fresh, Found& found);
  Status check_model(const Found& fresh, Found& found) const;
  Status make_stand_in(std::size_t k);
  void give_up(const std::string& reason);
  void note_untouched();
  void note_group(Found& found) const;

  // integers.cpp
  Status judge_integers(std::size_t k, const Pair& pair, Found& found);
  std::vector<std::size_t> unexplained(std::size_t k, const Pair& pair, Found& found) const;
  void excuse_ties(std::size_t k, const Pair& pair, std::vector<std::size_t>& places) const;
  double narrow_scale() const;
  void excuse_near(std::vector<std::size_t>& places) const;
  bool excuse_with(const ArrayList& list, std::size_t k, const Pair& pair,
                   std::vector<std::size_t>& places) const;
  void excuse_flips(std::size_t k, const Pair& pair, std::vector<std::size_t>& places) const;
  Status excuse_borders(std::size_t k, const Pair& pair, std::vector<std::size_t>& places) const;

  // sampling.cpp
  bool one_float_output() const;
  bool samples_dots() const;
  bool samples_parts() const;
  Status judge_part(Found& found);
  Status gather_part(const replay::Partial& partial);
  Result<std::vector<replay::Array>> outlines();
  std::vector<const replay::Array*> given(const std::vector<replay::Array>& outlines) const;
  Result<Survey> survey_output(ValueId value) const;
  Found surveyed(const Survey& survey, const Formats& formats) const;
  Status take_pair(ValueId value, std::span<const std::uint64_t> positions,
                   std::vector<double>& golden, std::vector<double>& target) const;
  Result<const InputReaders*> readers(std::size_t input);

  // sample_dots.cpp
  struct BothSides {
    replay::Sample golden;
    replay::Sample target;
  };
  Status judge_dots(Found& found);
  BothSides run_both(const replay::Dots& dots, tensor::DType storage) const;
  std::vector<double> missing_in_dots(const replay::Dots& dots,
                                      std::span<const double> target) const;
  std::vector<double> wider_in_dots(const replay::Dots& dots, std::span<const double> target) const;
  void note_replayed(const replay::Dots& dots);
  tensor::DType narrowed_to(std::size_t input, tensor::DType storage) const;
  const InputReaders* addend_of(const replay::Dots& dots) const;
  WidenedReader widened_reader(std::size_t input, int draw) const;

  /// Whether there is anything to say about an output.
  bool concerns(ValueId value) const;
  bool same_on_both(ValueId value) const;
  bool untouched() const;
  bool same_integers() const;
  bool fits_memory() const;
  void forget_part();

  Formats formats_of(ValueId value) const;
  replay::Call call(const std::vector<const replay::Array*>& inputs,
                    const std::vector<const replay::Array*>& deltas = {}) const;
  Result<std::vector<double>> inner_variance(std::size_t k, const Formats& formats);
  Result<std::vector<double>> missing_variance(std::size_t k) const;
  Status add_golden_spread(ValueId value, Elements& elements) const;
  Result<std::vector<double>> wider_spread(std::size_t k) const;
  ArrayList widened_inputs(int draw) const;
  Status add_parameter_variance(std::size_t k, const Formats& formats, Elements& elements) const;

  const replay::Outputs& target_outputs() const { return inputs_.equal ? golden_ : target_; }

  const Context& context_;
  std::uint32_t index_;
  const ProblemOperator& op_;
  StandIns& stand_ins_;
  std::vector<Found>& found_;
  bool full_;

  // What is replayed: the operator itself, or a small one that gives some of its elements.
  const graph::Operator* model_;
  const replay::OperatorKind* kind_;
  std::vector<ValueId> input_ids_;
  Inputs inputs_;
  replay::Outputs golden_;
  replay::Outputs target_;  ///< empty when the inputs agree: `golden_` holds for both
  std::vector<replay::Outputs> noisy_;
  bool weights_counted_ = false;  ///< W is among the terms of the kind
  std::vector<std::optional<InputReaders>> readers_;
};

/// Whether the operator was judged from a sample although it stands out, and may be looked at
/// whole.
bool wants_confirmation(const Context& context, std::uint32_t op, const std::vector<Found>& found);

/// Seed of the positions at which a value is sampled.
std::uint64_t sampling_seed(ValueId value);

/// What a survey counted and a sample cannot: elements whose class differs.
void complete_classes(const Survey& survey, Found& found);

/// Multiply-adds of one replay of an operator.
std::uint64_t work_of(const Context& context, std::uint32_t op);

/// Raises a^2 and W, element by element, to those of the other side's inputs.
void take_larger(replay::Terms& terms, const replay::Terms& other);

}  // namespace opdrift::verdict::judging
