#include "opdrift/verdict/statistics_tier.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

namespace opdrift::verdict {

namespace {

constexpr double kWatch = 2.0;
constexpr double kCulprit = 4.0;
constexpr double kHuge = 1e60;

double ratio(double part, double whole) {
  return part == 0.0 ? 0.0 : std::min(part / std::max(whole, 1e-300), kHuge);
}

std::uint64_t gap(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

}  // namespace

Judgement judge_statistics(const metrics::SideStats& golden, const metrics::SideStats& target,
                           std::uint64_t depth) {
  Judgement judgement;
  judgement.tier = Tier::statistics;
  const tensor::DType dtype = replay::coarser(golden.dtype, target.dtype);
  const double root = std::sqrt(static_cast<double>(std::max<std::uint64_t>(depth, 1)));
  const double u = std::max(replay::unit_roundoff(dtype), 0x1p-53);
  const double norm = std::sqrt(golden.sum_squares);
  judgement.new_classes = gap(golden.classes.nan, target.classes.nan) +
                          gap(golden.classes.positive_inf, target.classes.positive_inf) +
                          gap(golden.classes.negative_inf, target.classes.negative_inf);
  judgement.q_own = ratio(std::abs(std::sqrt(target.sum_squares) - norm), 0.42 * u * norm * root);
  const double largest = std::max(golden.max_abs(), target.max_abs());
  const double step = tensor::is_floating(dtype) && std::isfinite(largest)
                          ? replay::ulp(largest, dtype) / std::sqrt(12.0)
                          : 0.0;
  judgement.z = ratio(std::abs(target.max_abs() - golden.max_abs()),
                      step * root * replay::peak_factor(golden.finite));
  const double worst = std::max(judgement.q_own, judgement.z);
  if (judgement.new_classes > 0) {
    judgement.label = Label::culprit;
    judgement.cause = Cause::nan_made;
    judgement.sentence = "the numbers of NaN or infinite elements differ by " +
                         std::to_string(judgement.new_classes);
    return judgement;
  }
  if (golden.finite == 0 || std::isnan(judgement.q_own) || std::isnan(judgement.z)) {
    judgement.tier = Tier::none;
    judgement.sentence = "its statistics say nothing";
    return judgement;
  }
  judgement.label = !(worst <= kCulprit) ? Label::culprit
                    : !(worst <= kWatch) ? Label::watch
                                         : Label::healthy;
  judgement.cause = judgement.label == Label::healthy ? Cause::none
                    : judgement.q_own >= judgement.z  ? Cause::own_error
                                                      : Cause::local_error;
  judgement.sentence = judgement.label == Label::healthy
                           ? "its statistics agree within the precision"
                           : "its norm or largest magnitude is " + judging::number_text(worst) +
                                 " times further off than its precision explains";
  return judgement;
}

}  // namespace opdrift::verdict
