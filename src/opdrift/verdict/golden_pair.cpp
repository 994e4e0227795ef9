#include "opdrift/verdict/golden_pair.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

namespace opdrift::verdict {

namespace {

constexpr double kPass = 2.0;
constexpr double kPassCoarse = 3.0;
constexpr double kWatch = 4.0;
constexpr std::uint64_t kFewElements = 1000;
constexpr double kHuge = 1e60;

void point_at(const metrics::Worst& worst, Judgement& judgement) {
  if (worst.index != metrics::kNoIndex) {
    judgement.worst = worst.index;
    judgement.worst_golden = judgement.worst_expected = worst.golden;
    judgement.worst_target = worst.target;
  }
}

Judgement without_words(const metrics::Measurement& target, const metrics::Measurement& baseline) {
  Judgement judgement;
  judgement.tier = Tier::golden_pair;
  point_at(target.max_scaled, judgement);
  if (target.equal_bits == target.count && baseline.count == target.count) {
    judgement.tier = Tier::exact;
    judgement.label = Label::healthy;
    judgement.q_cum = 0.0;
    return judgement;
  }
  if (baseline.count != target.count) {
    judgement.cause = Cause::shape;
    return judgement;
  }
  judgement.new_classes =
      target.class_mismatches - std::min(target.class_mismatches, baseline.class_mismatches);
  const double u = replay::unit_roundoff(target.target.dtype);
  const double golden = std::sqrt(target.sum_golden2);
  const double least = 0.42 * u * golden;
  const double error = std::sqrt(target.sum_d2);
  const double fair = std::max({std::sqrt(baseline.sum_d2), least, 1e-300});
  judgement.q_cum = std::min(error / fair, kHuge);
  judgement.relative = golden > 0.0 ? error / golden : 0.0;
  judgement.depth = golden > 0.0 ? fair / golden : 0.0;
  const bool coarse = target.target.dtype == tensor::DType::bf16 || target.count < kFewElements;
  if (judgement.new_classes > 0) {
    judgement.label = Label::culprit;
    judgement.cause = Cause::nan_made;
  } else if (judgement.q_cum <= (coarse ? kPassCoarse : kPass)) {
    judgement.label = Label::healthy;
  } else if (judgement.q_cum <= kWatch) {
    judgement.label = Label::watch;
    judgement.cause = Cause::above_budget;
  } else {
    judgement.label = Label::culprit;
    judgement.cause = Cause::own_error;
  }
  return judgement;
}

}  // namespace

bool same_precision(const metrics::Measurement& target, const metrics::Measurement& baseline) {
  return replay::unit_roundoff(baseline.target.dtype) >= replay::unit_roundoff(target.target.dtype);
}

Judgement judge_golden_pair(const metrics::Measurement& target,
                            const metrics::Measurement& baseline, FairRun fair) {
  Judgement judgement = without_words(target, baseline);
  if (judgement.tier == Tier::exact) {
    judgement.sentence = "equal";
  } else if (judgement.cause == Cause::shape) {
    judgement.sentence = "the baseline has another number of elements";
  } else if (judgement.new_classes > 0) {
    judgement.sentence = std::to_string(judgement.new_classes) +
                         " more elements NaN or infinite than in the baseline";
  } else {
    judgement.sentence =
        "is " + judging::number_text(judgement.q_cum) +
        (fair == FairRun::baseline
             ? " times as far from the golden as the baseline of the same precision"
             : " times as far from the golden as the goldens are from each other");
  }
  return judgement;
}

}  // namespace opdrift::verdict
