#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "opdrift/replay/dot_plan.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

// Sums of products at some of their elements, on both sides.

namespace opdrift::verdict::judging {

namespace {

using replay::DotOperand;
using replay::Dots;

const replay::ElementReader* target_addend(const InputReaders* addend) {
  return addend == nullptr ? nullptr : addend->target.get();
}

std::vector<double> run_target(const Dots& dots, const replay::ElementReader& left,
                               const replay::ElementReader& right, const InputReaders* addend) {
  replay::RightOperands rights(dots, {&right});
  const replay::DotSide side{{&left}, rights, target_addend(addend)};
  return std::move(replay::run_dots(dots, {&side, 1}, false).front().values);
}

}  // namespace

WidenedReader OperatorJudge::widened_reader(std::size_t input, int draw) const {
  const ValueId id = op_.inputs[input];
  const std::uint64_t seed = seed_of(id, 16 + static_cast<std::uint64_t>(draw));
  return WidenedReader(readers_[input]->target, formats_of(id).precision.coarser(), seed);
}

tensor::DType OperatorJudge::narrowed_to(std::size_t input, tensor::DType storage) const {
  return is_narrowed(context_, op_.inputs[input], readers_[input]->golden->dtype(), storage)
             ? storage
             : tensor::DType::raw;
}

const InputReaders* OperatorJudge::addend_of(const Dots& dots) const {
  return dots.addend_input ? &*readers_[*dots.addend_input] : nullptr;
}

// Both sides, with the larger of their terms. A right operand that they share is brought in once.
OperatorJudge::BothSides OperatorJudge::run_both(const Dots& dots, tensor::DType storage) const {
  const InputReaders& left = *readers_[dots.left_input];
  const InputReaders& right = *readers_[dots.right_input];
  const InputReaders* addend = addend_of(dots);
  const tensor::DType left_type = narrowed_to(dots.left_input, storage);
  const tensor::DType right_type = narrowed_to(dots.right_input, storage);
  replay::RightOperands golden_right(dots, {right.golden.get(), right_type});
  std::optional<replay::RightOperands> own_right;
  if (right.target != right.golden) {
    own_right.emplace(dots, DotOperand{right.target.get(), right_type});
  }
  const std::array<replay::DotSide, 2> sides = {{
      {{left.golden.get(), left_type},
       golden_right,
       addend == nullptr ? nullptr : addend->golden.get()},
      {{left.target.get(), left_type},
       own_right ? *own_right : golden_right,
       target_addend(addend)},
  }};
  std::vector<replay::Sample> samples = replay::run_dots(dots, sides, true);
  BothSides both{std::move(samples[0]), std::move(samples[1])};
  take_larger(both.golden.terms, both.target.terms);
  return both;
}

std::vector<double> OperatorJudge::missing_in_dots(const Dots& dots,
                                                   std::span<const double> target) const {
  const InputReaders& left = *readers_[dots.left_input];
  const InputReaders& right = *readers_[dots.right_input];
  const std::size_t draws = std::max(left.noisy.size(), right.noisy.size());
  if (draws == 0) {
    return {};
  }
  replay::SpreadSum spread({target.size()});
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto noisy = [draw](const InputReaders& own) -> const replay::ElementReader& {
      return draw < own.noisy.size() ? *own.noisy[draw] : *own.target;
    };
    spread.add(run_target(dots, noisy(left), noisy(right), addend_of(dots)), target);
  }
  return spread.finish();
}

std::vector<double> OperatorJudge::wider_in_dots(const Dots& dots,
                                                 std::span<const double> target) const {
  const auto parameter = [&](std::size_t input) {
    return context_.problem.values[op_.inputs[input]].role == ProblemValue::Role::parameter;
  };
  replay::SpreadSum spread({target.size()});
  for (int draw = 0; draw < replay::kWiderDraws; ++draw) {
    const WidenedReader wide_left = widened_reader(dots.left_input, draw);
    const WidenedReader wide_right = widened_reader(dots.right_input, draw);
    const replay::ElementReader& left = *readers_[dots.left_input]->target;
    const replay::ElementReader& right = *readers_[dots.right_input]->target;
    spread.add(run_target(dots, parameter(dots.left_input) ? left : wide_left,
                          parameter(dots.right_input) ? right : wide_right, addend_of(dots)),
               target);
  }
  return spread.finish();
}

void OperatorJudge::note_replayed(const Dots& dots) {
  for (const std::size_t input : {dots.left_input, dots.right_input}) {
    const InputReaders& own = *readers_[input];
    inputs_.replayed = inputs_.replayed || own.replayed;
    inputs_.group.insert(inputs_.group.end(), own.group.begin(), own.group.end());
  }
}

Status OperatorJudge::judge_dots(Found& found) {
  const ValueId value = op_.outputs.front();
  const ValueFacts& facts = context_.facts.values[value];
  const Formats formats = formats_of(value);
  OPDRIFT_TRY(const std::vector<replay::Array> shapes, outlines());
  const std::vector<const replay::Array*> inputs = given(shapes);
  const replay::Call outlined = call(inputs);
  OPDRIFT_TRY(const auto plan, replay::plan_dots(*op_.kind, outlined, facts.shape));
  OPDRIFT_TRY(const Survey survey, survey_output(value));
  std::vector<std::uint64_t> positions =
      plan->random_positions(kRandomSample, sampling_seed(value));
  const std::vector<std::uint64_t> chosen = survey.standing_out();
  positions.insert(positions.end(), chosen.begin(), chosen.end());
  OPDRIFT_TRY(const Dots dots, plan->at(positions));
  const BothSides both = run_both(dots, formats.precision.coarser());
  note_replayed(dots);

  std::vector<double> g;
  std::vector<double> t;
  OPDRIFT_CHECK_OK(take_pair(value, positions, g, t));
  Elements elements;
  elements.golden = g;
  elements.target = t;
  elements.golden_replay = both.golden.values;
  elements.target_replay = both.target.values;
  elements.positions = positions;
  elements.random = kRandomSample;
  elements.population = facts.golden_count;
  elements.inner =
      replay::inner_variance(*op_.kind, both.golden.terms, both.golden.values, formats.precision);
  elements.missing = missing_in_dots(dots, both.target.values);
  OPDRIFT_CHECK_OK(add_golden_spread(value, elements));
  Found fresh = surveyed(survey, formats);
  fresh.judgement.sampled = positions.size();
  const auto wider = [&]() -> Result<std::vector<double>> {
    return wider_in_dots(dots, both.target.values);
  };
  OPDRIFT_CHECK_OK(finish(formats, elements, wider, std::move(fresh), found));
  complete_classes(survey, found);
  return Unit{};
}

}  // namespace opdrift::verdict::judging
