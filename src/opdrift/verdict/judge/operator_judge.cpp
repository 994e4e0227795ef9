#include "opdrift/verdict/judge/operator_judge.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::Family;
using Role = ProblemValue::Role;

constexpr std::size_t kListsPerElement = 14;
constexpr double kNotModelled = 10.0;  // the self check beyond which a replay is not believed

// Rounding before these gives the same as rounding after them, so wider inputs explain nothing.
bool commutes_with_rounding(const replay::OperatorKind& kind) {
  constexpr std::string_view kPickers[] = {"Relu",    "Relu6",         "Clip",      "Max", "Min",
                                           "MaxPool", "ReduceMax",     "ReduceMin", "Neg", "Abs",
                                           "Where",   "GlobalMaxPool", "Hardmax"};
  return kind.family == Family::movement ||
         std::find(std::begin(kPickers), std::end(kPickers), kind.name) != std::end(kPickers);
}

std::uint64_t seed_of(ValueId value, std::uint64_t purpose) {
  return (std::uint64_t{value} << 8U) + purpose;
}

double sum_of_squares_root(std::span<const double> variances) {
  double sum = 0.0;
  for (const double v : variances) {
    sum += v;
  }
  return std::sqrt(sum);
}

double distance(std::span<const double> one, std::span<const double> other) {
  std::vector<double> difference(one.size(), 0.0);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double d = one[i] - other[i];
    difference[i] = std::isfinite(d) ? d : 0.0;
  }
  return replay::norm(difference);
}

double finite_norm(std::span<const double> values) {
  std::vector<double> kept(values.begin(), values.end());
  for (double& value : kept) {
    value = std::isfinite(value) ? value : 0.0;
  }
  return replay::norm(kept);
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

OperatorJudge::OperatorJudge(const Context& context, std::uint32_t index, StandIns& stand_ins,
                             std::vector<Found>& found, bool full)
    : context_(context),
      index_(index),
      op_(context.problem.operators[index]),
      stand_ins_(stand_ins),
      found_(found),
      full_(full),
      model_(op_.op),
      kind_(op_.kind),
      input_ids_(op_.inputs),
      readers_(op_.inputs.size()) {}

replay::Call OperatorJudge::call(const std::vector<const replay::Array*>& inputs,
                                 const std::vector<const replay::Array*>& deltas) const {
  return {*model_, inputs, deltas, limits_of(context_.options)};
}

Formats OperatorJudge::formats_of(ValueId value) const {
  const ValueFacts& facts = context_.facts.values[value];
  Formats formats;
  formats.target = facts.target ? facts.target_dtype : context_.facts.target_dtype;
  formats.golden = facts.golden ? facts.golden_dtype : formats.target;
  // A float kept as an integer on one side has no roundoff of its own.
  replay::Precision& precision = formats.precision;
  precision.golden = formats.golden;
  precision.target = formats.target;
  const double storage = replay::unit_roundoff(precision.coarser());
  const bool doubles = formats.golden == tensor::DType::f64 && formats.target == tensor::DType::f64;
  precision.compute = doubles ? 0x1p-53 : 0x1p-24;
  precision.accumulator =
      context_.assume.half_accumulators ? std::max(storage, precision.compute) : precision.compute;
  precision.inexact_sides = formats.golden == tensor::DType::f64 && !doubles ? 1.0 : 2.0;
  precision.operands = context_.assume.operands;
  precision.truncates = context_.assume.truncation;
  return formats;
}

void OperatorJudge::note_group(Found& found) const {
  found.judgement.inputs_replayed = inputs_.replayed;
  if (inputs_.group.empty()) {
    return;
  }
  for (const std::uint32_t member : inputs_.group) {
    found.judgement.group.push_back(context_.problem.operators[member].op->name);
  }
  found.judgement.group.push_back(op_.op->name);
}

bool OperatorJudge::concerns(ValueId value) const {
  return value < found_.size() && (context_.facts.values[value].both() ||
                                   is_missing(context_.problem, context_.facts, value));
}

bool OperatorJudge::untouched() const {
  const auto same = [&](ValueId value, bool input) {
    if (value >= context_.problem.values.size()) {
      return true;
    }
    const ValueFacts& facts = context_.facts.values[value];
    if (input && context_.problem.values[value].role != Role::computed && !facts.both()) {
      return true;
    }
    if (!facts.both()) {
      return false;
    }
    const Result<tensor::View> golden = context_.source.view(RunSide::golden, value);
    const Result<tensor::View> target = context_.source.view(RunSide::target, value);
    return golden && target && same_bytes(*golden, *target);
  };
  return std::all_of(op_.outputs.begin(), op_.outputs.end(),
                     [&](ValueId value) { return same(value, false); }) &&
         std::all_of(op_.inputs.begin(), op_.inputs.end(),
                     [&](ValueId value) { return same(value, true); });
}

bool OperatorJudge::fits_memory() const {
  std::uint64_t bytes = 0;
  for (const ValueId input : op_.inputs) {
    bytes += input < context_.facts.values.size()
                 ? 16 * std::max(context_.facts.values[input].golden_count,
                                 context_.facts.values[input].target_count)
                 : 0;
  }
  for (const ValueId output : op_.outputs) {
    if (output < context_.facts.values.size()) {
      bytes += 8 * kListsPerElement * context_.facts.values[output].golden_count;
    }
  }
  return bytes <= context_.options.memory_budget;
}

void OperatorJudge::note_untouched() {
  for (const ValueId value : op_.outputs) {
    if (value >= found_.size()) {
      continue;
    }
    Found& found = found_[value];
    found.state = Found::State::judged;
    found.equal = true;
    found.dtype = formats_of(value).precision.coarser();
    found.exact = !tensor::is_floating(found.dtype);
    found.count = found.finite = context_.facts.values[value].golden_count;
    found.judgement.tier = Tier::exact;
    found.judgement.q_own = found.judgement.z = 0.0;
  }
}

void OperatorJudge::run() {
  if (untouched()) {
    note_untouched();
    return;
  }
  const Status done = replay();
  if (!done) {
    give_up(done.error().message);
  }
  stand_ins_.release(op_);
}

Status OperatorJudge::replay() {
  if (op_.kind == nullptr) {
    return Error{ErrorCode::unsupported, "there is no model of the operator type " + op_.op->type};
  }
  if (op_.kind->evaluate == nullptr) {
    return Error{ErrorCode::unsupported, "the operator's result is random"};
  }
  if (op_.kind->weighted() &&
      (context_.options.strongest == Tier::norms || context_.options.strongest == Tier::shape)) {
    return Error{ErrorCode::unsupported, "its weights are not to be used"};
  }
  if (samples_dots() || samples_parts()) {
    Found& found = found_[op_.outputs.front()];
    const Status done = samples_dots() ? judge_dots(found) : judge_part(found);
    const bool settled = done && found.state == Found::State::judged &&
                         (samples_dots() || found.equal || !exceeds(found.judgement) ||
                          beyond_doubt(found.judgement) || !fits_memory());
    if (settled) {
      return Unit{};
    }
    // The golden strays from the model at random elements: it does so at the others.
    if (!done && found.judgement.self_check > kNotModelled) {
      return done;
    }
    found = Found{};
    forget_part();
  }
  return replay_whole();
}

Status OperatorJudge::replay_whole() {
  if (!fits_memory()) {
    return Error{ErrorCode::limit, "replaying the operator needs more than the memory budget"};
  }
  OPDRIFT_TRY(inputs_, load_inputs(context_, op_, stand_ins_));
  OPDRIFT_CHECK_OK(replay_sides());
  for (std::size_t k = 0; k < op_.outputs.size(); ++k) {
    if (!concerns(op_.outputs[k])) {
      continue;
    }
    if (k >= golden_.size() || k >= target_outputs().size()) {
      return Error{ErrorCode::unsupported, "the model of the operator has fewer outputs"};
    }
    OPDRIFT_CHECK_OK(context_.facts.values[op_.outputs[k]].both() ? judge_output(k)
                                                                  : make_stand_in(k));
  }
  return Unit{};
}

void OperatorJudge::forget_part() {
  model_ = op_.op;
  kind_ = op_.kind;
  input_ids_ = op_.inputs;
  inputs_ = Inputs{};
  golden_.clear();
  target_.clear();
  noisy_.clear();
  weights_counted_ = false;
}

Status OperatorJudge::replay_sides() {
  const auto golden_inputs = pointers(inputs_.golden);
  OPDRIFT_TRY(golden_, replay::evaluate(*kind_, call(golden_inputs)));
  if (!inputs_.equal) {
    const auto target_inputs = pointers(inputs_.target);
    OPDRIFT_TRY(target_, replay::evaluate(*kind_, call(target_inputs)));
  }
  for (const ArrayList& list : inputs_.noisy) {
    const auto noisy_inputs = pointers(list);
    OPDRIFT_TRY(replay::Outputs outputs, replay::evaluate(*kind_, call(noisy_inputs)));
    noisy_.push_back(std::move(outputs));
  }
  return Unit{};
}

Status OperatorJudge::judge_output(std::size_t k) {
  const ValueId value = op_.outputs[k];
  const ValueFacts& facts = context_.facts.values[value];
  Found& found = found_[value];
  if (facts.golden_count != facts.target_count) {
    found.state = Found::State::judged;
    found.judgement.tier = Tier::exact;
    found.class_cause = Cause::shape;
    found.judgement.new_classes = std::max(facts.golden_count, facts.target_count);
    return Unit{};
  }
  return judge_whole(k, found);
}

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

Status OperatorJudge::make_stand_in(std::size_t k) {
  const ValueId value = op_.outputs[k];
  const ValueFacts& facts = context_.facts.values[value];
  const Formats formats = formats_of(value);
  StandIn& stand_in = stand_ins_.at(value);
  const std::uint32_t readers = stand_in.readers;
  stand_in = StandIn{};
  stand_in.readers = readers;
  stand_in.group = inputs_.group;
  stand_in.group.push_back(index_);

  ArrayPtr y;
  if (facts.golden) {
    OPDRIFT_TRY(y, load_value(context_, RunSide::golden, value));
  } else {
    y = std::make_shared<const replay::Array>(golden_[k]);
    stand_in.golden = y;
  }
  if (y->size() != golden_[k].size() || y->size() != target_outputs()[k].size()) {
    return Error{ErrorCode::unsupported, "its results change their size"};
  }
  const auto carry = [&](const replay::Array& replayed) {
    replay::Array array = replayed;
    array.values = replay::carried(y->values, golden_[k].values, replayed.values);
    return array;
  };
  replay::Array target = carry(target_outputs()[k]);
  Found& found = found_[value];
  found.state = Found::State::replayed;
  found.dtype = formats.precision.coarser();
  found.count = y->size();
  found.exact = !tensor::is_floating(y->dtype);
  found.golden_norm = finite_norm(y->values);
  found.error_norm = distance(target.values, y->values);
  if (!facts.target && !found.exact) {
    OPDRIFT_TRY(std::vector<double> sigma2, inner_variance(k, formats));
    for (std::size_t i = 0; i < sigma2.size(); ++i) {
      sigma2[i] += replay::storage_variance(y->values[i], y->values[i], formats.precision);
    }
    found.budget = sum_of_squares_root(sigma2);
    for (int draw = 0; draw < replay::kMissingDraws; ++draw) {
      const auto at = static_cast<std::size_t>(draw);
      replay::Array noisy =
          carry(at < noisy_.size() && k < noisy_[at].size() && noisy_[at][k].size() == y->size()
                    ? noisy_[at][k]
                    : target_outputs()[k]);
      noisy.values = replay::with_noise(noisy.values, sigma2,
                                        seed_of(value, 32 + static_cast<std::uint64_t>(draw)));
      stand_in.noisy.push_back(std::make_shared<const replay::Array>(std::move(noisy)));
    }
    found.error_norm = distance(stand_in.noisy.front()->values, y->values);
  }
  if (!facts.target) {
    stand_in.target = std::make_shared<const replay::Array>(std::move(target));
  }
  return Unit{};
}

void OperatorJudge::give_up(const std::string& reason) {
  for (const ValueId value : op_.outputs) {
    if (!concerns(value)) {
      continue;
    }
    Found& found = found_[value];
    if (context_.facts.values[value].both()) {
      if (found.state != Found::State::judged) {
        found.state = Found::State::compared;
        found.reason = reason;
        note_group(found);
      }
    } else if (stand_ins_.at(value).target == nullptr || stand_ins_.at(value).golden == nullptr) {
      StandIn& stand_in = stand_ins_.at(value);
      const bool enough = (stand_in.target != nullptr || context_.facts.values[value].target) &&
                          (stand_in.golden != nullptr || context_.facts.values[value].golden);
      if (!enough) {
        stand_in.trouble = reason;
      }
    }
  }
}

}  // namespace opdrift::verdict::judging
