#include "opdrift/verdict/judge/leaf.hpp"

#include <cmath>
#include <new>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/norms_tier.hpp"
#include "opdrift/verdict/judge/shape_tier.hpp"
#include "opdrift/verdict/judge/survey.hpp"

namespace opdrift::verdict::judging {

namespace {

void note(const tensor::View& golden, const tensor::View& target, std::uint64_t at, Found& found) {
  const std::vector<std::uint64_t> place = {at};
  found.judgement.worst = at;
  found.judgement.worst_golden = found.judgement.worst_expected = values_at(golden, place).front();
  found.judgement.worst_target = values_at(target, place).front();
}

// What becomes of a parameter that the target's type cannot hold.
Cause cause_beyond_range(double golden, double target, tensor::DType dtype) {
  if (!std::isfinite(golden) || std::isfinite(replay::round_to(golden, dtype))) {
    return Cause::none;
  }
  return std::isinf(target)                                  ? Cause::overflow
         : std::abs(target) == replay::largest_finite(dtype) ? Cause::saturated
                                                             : Cause::none;
}

// Another class, or more than one step of the coarser type apart.
bool beyond_rounding(double golden, double target, tensor::DType coarser) {
  return !(std::abs(target - golden) <=
           replay::ulp(std::max(std::abs(golden), std::abs(target)), coarser));
}

// Returns the elements that stand out.
Result<std::vector<std::uint64_t>> compare(const ValueFacts& facts, const tensor::View& golden,
                                           const tensor::View& target, const MeasuredValue& known,
                                           Found& found) {
  OPDRIFT_TRY(Survey surveyed, survey(golden, target, known));
  const bool exact =
      !tensor::is_floating(facts.golden_dtype) && !tensor::is_floating(facts.target_dtype);
  found.exact = exact;
  found.dtype = replay::coarser(facts.golden_dtype, facts.target_dtype);
  found.count = surveyed.count;
  found.finite = surveyed.finite;
  found.equal = surveyed.equal;
  found.golden_norm = surveyed.golden_norm;
  found.error_norm = surveyed.error_norm;
  found.shared_nonfinite = surveyed.shared_nonfinite;
  found.judgement.tier = Tier::exact;
  found.judgement.new_classes = surveyed.class_mismatches;
  if (surveyed.class_mismatches > 0) {
    note(golden, target, surveyed.mismatches.front(), found);
    const Cause beyond = cause_beyond_range(found.judgement.worst_golden,
                                            found.judgement.worst_target, facts.target_dtype);
    found.class_cause = beyond != Cause::none                         ? beyond
                        : std::isfinite(found.judgement.worst_golden) ? Cause::nan_made
                                                                      : Cause::golden_overflow;
    return std::move(surveyed.worst);
  }
  // A score is an error over the scale of its row: the worst ones are among the worst steps.
  for (const std::uint64_t at : surveyed.worst) {
    const std::vector<std::uint64_t> place = {at};
    const double g = values_at(golden, place).front();
    const double t = values_at(target, place).front();
    if (exact || beyond_rounding(g, t, found.dtype)) {
      const Cause beyond = exact ? Cause::none : cause_beyond_range(g, t, facts.target_dtype);
      found.judgement.cause = beyond == Cause::none ? Cause::different : beyond;
      note(golden, target, at, found);
      break;
    }
  }
  return std::move(surveyed.worst);
}

// Both sides are brought in once: looking for them again may mean reading them again.
Status compare_and_judge(const Context& context, ValueId value, Found& found) {
  const ValueFacts& facts = context.facts.values[value];
  if (facts.golden_count != facts.target_count) {
    found.class_cause = Cause::shape;
    found.judgement.new_classes = std::max(facts.golden_count, facts.target_count);
    return Unit{};
  }
  OPDRIFT_TRY(tensor::View golden, context.source.view(RunSide::golden, value));
  OPDRIFT_TRY(tensor::View target, context.source.view(RunSide::target, value));
  OPDRIFT_TRY(const std::vector<std::uint64_t> standing_out,
              compare(facts, golden, target, context.source.measured(value), found));
  if (facts.producer == kNobody || !context.problem.operators[facts.producer].judged ||
      found.equal || found.exact) {
    return Unit{};
  }
  judge_by_shape(context, value, Reader(std::move(golden)), Reader(std::move(target)), standing_out,
                 found);
  if (context.options.strongest == Tier::shape) {
    return Unit{};
  }
  Status done = judge_by_norms(context, value, found);
  const bool too_large = !done && done.error().code == ErrorCode::limit;
  return too_large ? Status(Unit{}) : done;  // what is known of the shape stands
}

}  // namespace

void compare_sides(const Context& context, ValueId value, Found& found) {
  const auto failed = [&](std::string reason) {
    found.state = Found::State::unreadable;
    found.reason = std::move(reason);
  };
  try {
    const Status done = compare_and_judge(context, value, found);
    if (!done) {
      failed(done.error().to_string());
    }
  } catch (const std::bad_alloc&) {
    failed("not enough memory");
  }
}

void compare_leaves(const Context& context, std::vector<Found>& found) {
  const auto body = [&](std::size_t i) {
    const auto value = static_cast<ValueId>(i);
    const ValueFacts& facts = context.facts.values[value];
    if (facts.both() && facts.producer == kNobody &&
        !context.problem.values[value].given_for_target) {
      found[value].state = Found::State::judged;
      compare_sides(context, value, found[value]);
    }
  };
  parallel_for(found.size(), context.options.jobs, body, context.options.cancel);
}

}  // namespace opdrift::verdict::judging
