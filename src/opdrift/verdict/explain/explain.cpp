#include "opdrift/verdict/explain/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "opdrift/verdict/explain/alternatives.hpp"
#include "opdrift/verdict/explain/boxes.hpp"
#include "opdrift/verdict/explain/channels.hpp"
#include "opdrift/verdict/explain/order.hpp"
#include "opdrift/verdict/explain/place.hpp"
#include "opdrift/verdict/explain/regions.hpp"
#include "opdrift/verdict/explain/shift.hpp"
#include "opdrift/verdict/explain/value_maps.hpp"

namespace opdrift::verdict {

namespace {

using refit::Candidate;
using refit::Candidates;
using refit::Evidence;
using refit::number;
using refit::Rest;
using refit::Values;

constexpr std::size_t kMostExplanations = 3;
constexpr std::size_t kMostPerStage = 4;

struct Proved {
  Explanation explanation;
  bool exact = false;
};

std::string fit_text(const Rest& rest) {
  return " (residual " + number(rest.residual(), 3) + " of the golden's norm, " +
         number(100.0 * rest.explained(), 5) + " % of the squared error explained)";
}

Proved proved(ExplanationKind kind, const std::string& sentence, const Rest& rest) {
  return {{kind, sentence + fit_text(rest), rest.residual(), rest.explained()}, rest.exact()};
}

/// Finds explanations, simple ones first, until one leaves nothing but rounding.
class Search {
 public:
  Search(const Evidence& evidence, const ExplainContext& context)
      : evidence_(&evidence), context_(&context) {}

  Status run() {
    const refit::Profile& profile = evidence_->profile;
    if (!(profile.all.dd > 0.0) && profile.class_mismatches == 0) {
      return Unit{};
    }
    // Nothing leaves the rounding of the dtype: only its direction can be wrong.
    if (evidence_->bad.count == 0 && profile.all.dd <= 4.0 * profile.budget2) {
      return stage(refit::truncation_candidates(*evidence_));
    }
    OPDRIFT_CHECK_OK(values());
    OPDRIFT_CHECK_OK(orders());
    return parts();
  }

  std::vector<Explanation> take() {
    std::stable_sort(proved_.begin(), proved_.end(), [](const Proved& one, const Proved& other) {
      return one.exact && !other.exact;
    });
    std::vector<Explanation> best;
    for (std::size_t i = 0; i < std::min(kMostExplanations, proved_.size()); ++i) {
      best.push_back(std::move(proved_[i].explanation));
    }
    return best;
  }

 private:
  refit::KnownTensors known() const {
    return {context_->fingerprints, context_->without, context_->inputs};
  }

  Status values() {
    OPDRIFT_CHECK_OK(stage(refit::constant_candidates(*evidence_)));
    OPDRIFT_CHECK_OK(stage(refit::other_tensor_candidates(*evidence_, known())));
    alternatives();
    using Generator = Candidates (*)(const Evidence&);
    for (const Generator generator :
         {&refit::clamp_candidates, &refit::rounding_candidates, &refit::truncation_candidates,
          &refit::scale_candidates, &refit::offset_candidates}) {
      OPDRIFT_CHECK_OK(stage(generator));
    }
    return Unit{};
  }

  Status orders() {
    using Generator = Candidates (*)(const Evidence&);
    for (const Generator generator :
         {&refit::permutation_candidates, &refit::reversal_candidates, &refit::shift_candidates,
          &refit::reorder_candidates, &refit::box_swap_candidates, &refit::box_copy_candidates}) {
      OPDRIFT_CHECK_OK(stage(generator));
    }
    return Unit{};
  }

  Status parts() {
    OPDRIFT_CHECK_OK(stage(&refit::affine_candidates));
    OPDRIFT_CHECK_OK(last_resort(&refit::zero_padding_candidates));
    OPDRIFT_CHECK_OK(stage(&refit::channel_affine_candidates));
    if (proved_.empty()) {
      OPDRIFT_CHECK_OK(stage(refit::overwritten_candidates(*evidence_, known())));
    }
    return last_resort(&refit::padding_candidates);
  }

  // A part that may hold anything leaves less than any formula does, and says less.
  Status last_resort(Candidates (*generator)(const Evidence&)) {
    return proved_.empty() ? stage(generator) : Status(Unit{});
  }

  Status stage(Candidates (*generator)(const Evidence&)) {
    return done_ ? Status(Unit{}) : stage(generator(*evidence_));
  }

  Status stage(const Candidates& candidates) {
    std::size_t tried = 0;
    for (const Candidate& candidate : candidates) {
      if (done_ || tried++ == kMostPerStage) {
        break;
      }
      OPDRIFT_TRY(const Rest rest, refit::confirm(*evidence_, *candidate.refit));
      if (rest.unsaid * 4 > evidence_->count()) {
        continue;
      }
      bool accepted = rest.exact() || rest.most();
      if (!accepted && candidate.stored_as.has_value()) {
        OPDRIFT_TRY(accepted, explained_by_storage(candidate));
      }
      if (accepted && much_better(rest)) {
        keep(proved(candidate.kind, candidate.sentence, rest), rest.left2);
      }
    }
    return Unit{};
  }

  /// True when every value is a number of the narrow format and the error is what rounding to it
  /// makes: the values before rounding are not known, so they cannot be met one by one.
  Result<bool> explained_by_storage(const Candidate& candidate) const {
    double budget2 = 0.0;
    for (std::size_t i = evidence_->sample.focus; i < evidence_->sample.index.size(); ++i) {
      const double step = refit::ulp(evidence_->sample.t[i], *candidate.stored_as);
      budget2 += step * step / 12.0;
    }
    const auto even = static_cast<double>(evidence_->sample.index.size() - evidence_->sample.focus);
    const refit::IndexSums& all = evidence_->profile.all;
    if (!(even > 0.0) || all.dd / all.n > 4.0 * budget2 / even ||
        evidence_->profile.class_mismatches > 0) {
      return false;
    }
    return refit::holds_numbers_of(*evidence_, *candidate.stored_as);
  }

  void alternatives() {
    for (const Alternative& alternative : context_->alternatives) {
      if (done_) {
        return;
      }
      const std::optional<Rest> rest = refit::try_alternative(*evidence_, alternative);
      if (rest.has_value() && (rest->exact() || rest->most())) {
        keep(proved(alternative.kind, alternative.sentence + ", at sampled elements", *rest),
             rest->left2);
      }
    }
  }

  // A less simple explanation must leave much less than those before it.
  bool much_better(const Rest& rest) const {
    return proved_.empty() || rest.left2 <= least_left2_ / 4.0;
  }

  void keep(Proved proved, double left2) {
    least_left2_ = proved_.empty() ? left2 : std::min(least_left2_, left2);
    done_ = done_ || proved.exact;
    proved_.push_back(std::move(proved));
  }

  const Evidence* evidence_;
  const ExplainContext* context_;
  std::vector<Proved> proved_;
  double least_left2_ = 0.0;
  bool done_ = false;
};

std::vector<std::string> names_of(const Values& base, const ExplainContext& context) {
  const std::vector<tensor::AxisMap>& axes = base.view().axes;
  static constexpr std::array<const char*, 4> kImage = {"N", "C", "H", "W"};
  std::vector<std::string> names;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].extent == 1) {
      continue;
    }
    if (k < context.axis_names.size() && !context.axis_names[k].empty()) {
      names.push_back(context.axis_names[k]);
    } else {
      names.push_back(context.axis_names.empty() && axes.size() == 4 ? kImage[k]
                                                                     : std::to_string(k));
    }
  }
  if (names.empty()) {
    names.emplace_back("0");
  }
  return names;
}

tensor::Shape long_extents(const tensor::Shape& shape) {
  tensor::Shape extents;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(extents),
               [](std::uint64_t extent) { return extent != 1; });
  if (extents.empty()) {
    extents.push_back(1);
  }
  return extents;
}

Result<Evidence> evidence_of(const Values& golden, const Values& target, const Values* expected,
                             const ExplainContext& context) {
  Evidence evidence{.base = expected != nullptr ? *expected : golden, .target = target};
  evidence.shape = long_extents(golden.view().shape());
  evidence.axis_names = names_of(golden, context);
  const refit::NumberFormat of_golden = refit::format_of(golden.dtype());
  evidence.format = refit::format_of(target.dtype());
  if (!of_golden.integer && !evidence.format.integer &&
      of_golden.mantissa_bits < evidence.format.mantissa_bits) {
    evidence.format = of_golden;
  }
  // What is expected was computed in double: only the target rounded.
  evidence.sides = expected == nullptr && golden.dtype() == target.dtype() ? 2.0 : 1.0;
  evidence.sigma = &context.sigma;
  evidence.jobs = context.jobs;
  evidence.cancel = context.cancel;
  return evidence;
}

std::string crop_text(const refit::Crop& crop, bool padded) {
  if (crop.offsets.empty()) {
    return padded ? "the golden is the head of the target, read flat"
                  : "the target is the head of the golden, read flat";
  }
  std::string offsets;
  for (const std::uint64_t offset : crop.offsets) {
    offsets += (offsets.empty() ? "" : ", ") + std::to_string(offset);
  }
  return (padded ? "the golden is a part of the target at offsets ("
                 : "the target is a part of the golden at offsets (") +
         offsets + ")";
}

/// Sides of unequal counts: one is a part of the other.
Result<std::vector<Explanation>> explain_crop(const Values& golden, const Values& target,
                                              const ExplainContext& context) {
  const bool padded = golden.count() < target.count();
  std::vector<Explanation> found;
  for (const refit::Crop& crop :
       padded ? refit::find_crops(target, golden) : refit::find_crops(golden, target)) {
    OPDRIFT_TRY(const Values part, Values::of(crop.view));
    OPDRIFT_TRY(Evidence evidence,
                evidence_of(padded ? golden : part, padded ? part : target, nullptr, context));
    const auto same = refit::pointwise([](double b) { return b; });
    OPDRIFT_TRY(const Rest rest, refit::confirm(evidence, *same));
    const double n = static_cast<double>(std::max<std::uint64_t>(rest.pairs, 1));
    const double spread = rest.sum_t2 - rest.sum_t / n * rest.sum_t;
    if (rest.classes_left > 0 ||
        !(rest.left2 <= 16.0 * rest.budget2 || rest.left2 <= spread / 100.0)) {
      continue;
    }
    const double explained = spread > 0.0 ? std::clamp(1.0 - rest.left2 / spread, 0.0, 1.0) : 1.0;
    found.push_back({ExplanationKind::cropped,
                     crop_text(crop, padded) + " (residual " + number(rest.residual(), 3) +
                         " of the golden's norm)",
                     rest.residual(), explained});
  }
  return found;
}

/// A target that is the golden, rounded, although its own inputs would have made something else of
/// it: what the operator read is not what was dumped.
Result<std::vector<Explanation>> explain_golden(const Values& golden, const Values& target,
                                                const ExplainContext& context) {
  OPDRIFT_TRY(Evidence evidence, evidence_of(golden, target, nullptr, context));
  OPDRIFT_CHECK_OK(refit::gather_evidence(evidence));
  const refit::Profile& profile = evidence.profile;
  std::vector<Explanation> found;
  if (evidence.bad.count == 0 && profile.class_mismatches == 0 &&
      profile.all.dd <= 4.0 * profile.budget2 && profile.all.bb > 0.0) {
    const double residual = std::sqrt(profile.all.dd / profile.all.bb);
    const std::string type(tensor::name_of(target.dtype()));
    found.push_back({ExplanationKind::rounded,
                     "equals the golden as " + type +
                         " holds it, which the inputs as dumped do not make: others were read" +
                         std::string(" (residual ") + number(residual, 3) +
                         " of the golden's norm)",
                     residual, 1.0});
  }
  return found;
}

Result<Examination> examine_parts(const tensor::View& golden, const tensor::View& target,
                                  const tensor::View* expected, const ExplainContext& context,
                                  bool with_explanations) {
  OPDRIFT_TRY(const Values golden_values, Values::of(golden));
  OPDRIFT_TRY(const Values target_values, Values::of(target));
  Examination examination;
  if (golden_values.count() != target_values.count()) {
    if (with_explanations) {
      OPDRIFT_TRY(examination.explanations, explain_crop(golden_values, target_values, context));
    }
    return examination;
  }
  if (golden_values.count() == 0) {
    return examination;
  }
  std::optional<Values> expected_values;
  if (expected != nullptr && expected->count() == golden_values.count()) {
    OPDRIFT_TRY(expected_values, Values::of(*expected));
  }
  OPDRIFT_TRY(Evidence evidence,
              evidence_of(golden_values, target_values,
                          expected_values.has_value() ? &*expected_values : nullptr, context));
  OPDRIFT_CHECK_OK(refit::gather_evidence(evidence));
  examination.place = refit::place_of(evidence, golden_values.view().shape());
  if (with_explanations) {
    Search search(evidence, context);
    OPDRIFT_CHECK_OK(search.run());
    examination.explanations = search.take();
    if (examination.explanations.empty() && expected_values.has_value()) {
      OPDRIFT_TRY(examination.explanations, explain_golden(golden_values, target_values, context));
    }
  }
  return examination;
}

}  // namespace

Result<Examination> examine(const tensor::View& golden, const tensor::View& target,
                            const tensor::View* expected, const ExplainContext& context) {
  return examine_parts(golden, target, expected, context, true);
}

Result<std::vector<Explanation>> explain(const tensor::View& golden, const tensor::View& target,
                                         const tensor::View* expected,
                                         const ExplainContext& context) {
  OPDRIFT_TRY(Examination examination, examine(golden, target, expected, context));
  return std::move(examination.explanations);
}

Result<ErrorPlace> locate(const tensor::View& golden, const tensor::View& target,
                          const ExplainContext& context) {
  OPDRIFT_TRY(Examination examination, examine_parts(golden, target, nullptr, context, false));
  return std::move(examination.place);
}

}  // namespace opdrift::verdict
