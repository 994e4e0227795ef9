#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

// Steps B to D over all elements of an output.

namespace opdrift::verdict::judging {

namespace {

using replay::Family;
using Role = ProblemValue::Role;

// Rounding before these gives the same as rounding after them, so wider inputs explain nothing.
bool commutes_with_rounding(const replay::OperatorKind& kind) {
  constexpr std::string_view kPickers[] = {"Relu",    "Relu6",         "Clip",      "Max", "Min",
                                           "MaxPool", "ReduceMax",     "ReduceMin", "Neg", "Abs",
                                           "Where",   "GlobalMaxPool", "Hardmax"};
  return kind.family == Family::movement ||
         std::find(std::begin(kPickers), std::end(kPickers), kind.name) != std::end(kPickers);
}

void note_norms(std::span<const double> golden, std::span<const double> target, Found& found) {
  std::vector<double> g(golden.size(), 0.0);
  std::vector<double> e(golden.size(), 0.0);
  found.equal = true;
  found.finite = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (std::isfinite(golden[i]) && std::isfinite(target[i])) {
      g[i] = golden[i];
      e[i] = target[i] - golden[i];
      ++found.finite;
    }
    found.equal =
        found.equal && (golden[i] == target[i] || (std::isnan(golden[i]) && std::isnan(target[i])));
  }
  found.golden_norm = replay::norm(g);
  found.error_norm = replay::norm(e);
}

}  // namespace

// Where the golden's inputs are 0 and the target's are not, the golden's terms would leave nothing
// to either side.
void take_larger(replay::Terms& terms, const replay::Terms& other) {
  const auto take = [](std::vector<double>& mine, const std::vector<double>& others) {
    for (std::size_t i = 0; i < std::min(mine.size(), others.size()); ++i) {
      mine[i] = others[i] > mine[i] && std::isfinite(others[i]) ? others[i] : mine[i];
    }
  };
  take(terms.a2, other.a2);
  take(terms.weights, other.weights);
}

Result<std::vector<double>> OperatorJudge::inner_variance(std::size_t k, const Formats& formats) {
  const ArrayList deltas = narrowed(context_, input_ids_, inputs_, formats.precision.coarser());
  const auto inputs = pointers(inputs_.golden);
  const auto narrow = pointers(deltas);
  OPDRIFT_TRY(replay::Terms terms, replay::terms(*kind_, call(inputs, narrow), k, golden_[k]));
  if (kind_->weighted() && !inputs_.equal) {
    const auto target_inputs = pointers(inputs_.target);
    OPDRIFT_TRY(const replay::Terms other,
                replay::terms(*kind_, call(target_inputs, narrow), k, target_outputs()[k]));
    take_larger(terms, other);
  }
  weights_counted_ = !terms.weights.empty();
  return replay::inner_variance(*kind_, terms, golden_[k].values, formats.precision);
}

Result<std::vector<double>> OperatorJudge::missing_variance(std::size_t k) const {
  if (noisy_.empty()) {
    return std::vector<double>{};
  }
  replay::SpreadSum spread(golden_[k].shape);
  for (const replay::Outputs& outputs : noisy_) {
    if (k >= outputs.size() || outputs[k].size() != golden_[k].size()) {
      return Error{ErrorCode::unsupported, "its results change their size with rounding"};
    }
    spread.add(outputs[k].values, target_outputs()[k].values);
  }
  return spread.finish();
}

// Further goldens: the mean square of what they differ by.
Status OperatorJudge::add_golden_spread(ValueId value, Elements& elements) const {
  const std::vector<const ValueSource*>& runs = context_.options.more_goldens;
  const std::size_t count = elements.golden.size();
  std::vector<double> other(count);
  for (const ValueSource* run : runs) {
    if (!run->has(RunSide::golden, value)) {
      continue;
    }
    OPDRIFT_TRY(tensor::View view, run->view(RunSide::golden, value));
    if (view.count() != elements.population) {
      continue;
    }
    const Reader reader(std::move(view));
    for (std::size_t i = 0; i < count; ++i) {
      other[i] = reader.at(elements.position(i));
    }
    replay::SpreadSum spread({count});
    spread.add(other, elements.golden);
    const std::vector<double> own = spread.finish();
    elements.missing.resize(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      elements.missing[i] += own[i] / static_cast<double>(runs.size());
    }
  }
  return Unit{};
}

ArrayList OperatorJudge::widened_inputs(int draw) const {
  ArrayList list = inputs_.target;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ValueId value = input_ids_[i];
    if (list[i] == nullptr || !tensor::is_floating(list[i]->dtype) ||
        value >= context_.problem.values.size() ||
        context_.problem.values[value].role == Role::parameter) {
      continue;
    }
    const std::uint64_t seed = seed_of(value, 16 + static_cast<std::uint64_t>(draw));
    list[i] = std::make_shared<const replay::Array>(
        replay::widened(*list[i], formats_of(value).precision.coarser(), seed));
  }
  return list;
}

Result<std::vector<double>> OperatorJudge::wider_spread(std::size_t k) const {
  replay::SpreadSum spread(target_outputs()[k].shape);
  for (int draw = 0; draw < replay::kWiderDraws; ++draw) {
    const ArrayList list = widened_inputs(draw);
    const auto inputs = pointers(list);
    OPDRIFT_TRY(const replay::Outputs outputs, replay::evaluate(*kind_, call(inputs)));
    if (k >= outputs.size() || outputs[k].size() != target_outputs()[k].size()) {
      return Error{ErrorCode::unsupported, "its results change their size with rounding"};
    }
    spread.add(outputs[k].values, target_outputs()[k].values);
  }
  return spread.finish();
}

// Parameters other than the weights of the table count only once the operator stands out.
Status OperatorJudge::add_parameter_variance(std::size_t k, const Formats& formats,
                                             Elements& elements) const {
  const std::size_t first = weights_counted_ ? 2 : 0;
  const ArrayList deltas =
      narrowed(context_, input_ids_, inputs_, formats.precision.coarser(), first);
  const auto inputs = pointers(inputs_.golden);
  const auto narrow = pointers(deltas);
  OPDRIFT_TRY(const std::vector<double> more,
              replay::replayed_weight_variance(*kind_, call(inputs, narrow), k, golden_[k]));
  for (std::size_t i = 0; i < more.size() && i < elements.inner.size(); ++i) {
    elements.inner[i] += std::isfinite(more[i]) ? more[i] : 0.0;
  }
  return Unit{};
}

Status OperatorJudge::judge_whole(std::size_t k, Found& found) {
  const ValueId value = op_.outputs[k];
  OPDRIFT_TRY(const Pair pair, load_pair(context_, value));
  const std::size_t count = pair.golden->size();
  if (golden_[k].size() != count || target_outputs()[k].size() != count) {
    return Error{ErrorCode::unsupported, "the model of the operator gives " +
                                             std::to_string(golden_[k].size()) +
                                             " elements, the dump holds " + std::to_string(count)};
  }
  if (!tensor::is_floating(pair.golden->dtype) && !tensor::is_floating(pair.target->dtype)) {
    return judge_integers(k, pair, found);
  }
  const Formats formats = formats_of(value);
  Found fresh;
  note_norms(pair.golden->values, pair.target->values, fresh);
  fresh.dtype = formats.precision.coarser();
  fresh.count = count;
  fresh.judgement.tier = Tier::replay;
  Elements elements;
  elements.golden = pair.golden->values;
  elements.target = pair.target->values;
  elements.population = count;
  return conclude(k, formats, elements, std::move(fresh), found);
}

// Steps A to D on what replay_sides() gave.
Status OperatorJudge::conclude(std::size_t k, const Formats& formats, Elements& elements,
                               Found fresh, Found& found) {
  elements.golden_replay = golden_[k].values;
  elements.target_replay = target_outputs()[k].values;
  OPDRIFT_TRY(elements.inner, inner_variance(k, formats));
  OPDRIFT_TRY(elements.missing, missing_variance(k));
  OPDRIFT_CHECK_OK(add_golden_spread(op_.outputs[k], elements));
  Found first = fresh;
  OPDRIFT_CHECK_OK(finish(formats, elements, {}, std::move(first), found));
  if (found.equal || !exceeds(found.judgement)) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(add_parameter_variance(k, formats, elements));
  const WiderSpread wider = commutes_with_rounding(*kind_)
                                ? WiderSpread()
                                : WiderSpread([this, k] { return wider_spread(k); });
  return finish(formats, elements, wider, std::move(fresh), found);
}

Status OperatorJudge::finish(const Formats& formats, const Elements& elements,
                             const WiderSpread& wider, Found fresh, Found& found) {
  note_group(fresh);
  compare_classes(elements, formats, fresh);
  weigh(elements, formats, wider, fresh);
  OPDRIFT_CHECK_OK(check_model(fresh, found));
  fresh.state = Found::State::judged;
  found = std::move(fresh);
  return Unit{};
}

// A replay that does not give what the golden dumped is no yardstick.
Status OperatorJudge::check_model(const Found& fresh, Found& found) const {
  if (fresh.judgement.self_check <= kNotModelled) {
    return Unit{};
  }
  found = Found{};
  found.judgement.self_check = fresh.judgement.self_check;
  return Error{ErrorCode::unsupported, "operator not modelled: the golden itself strays " +
                                           number_text(fresh.judgement.self_check) +
                                           " times the budget from the replay"};
}

}  // namespace opdrift::verdict::judging
