#include "opdrift/verdict/judge/operator_judge.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/survey.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::Family;
using Role = ProblemValue::Role;

// Below this a weighted operator is replayed whole: it costs less than choosing elements.
constexpr std::uint64_t kCheapMultiplyAdds = std::uint64_t{1} << 20;

constexpr std::size_t kListsPerElement = 14;

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
      full_(full) {}

replay::Call OperatorJudge::call(const std::vector<const replay::Array*>& inputs,
                                 const std::vector<const replay::Array*>& deltas) const {
  return {*op_.op, inputs, deltas, limits_of(context_.options)};
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

bool OperatorJudge::sampled() const {
  if (full_ || op_.kind == nullptr || !op_.kind->weighted() || op_.outputs.size() != 1 ||
      context_.options.strongest == Tier::replay) {
    return false;
  }
  const ValueFacts& out = context_.facts.values[op_.outputs.front()];
  if (!out.both() || out.golden_count != out.target_count ||
      out.golden_count <= kRandomSample + kWorstSample || !tensor::is_floating(out.golden_dtype)) {
    return false;
  }
  std::vector<const tensor::Shape*> shapes;
  for (const ValueId input : op_.inputs) {
    shapes.push_back(input < context_.facts.values.size() ? &context_.facts.values[input].shape
                                                          : nullptr);
  }
  const std::vector<tensor::Shape> outputs = {out.shape};
  return replay::estimate(*op_.kind, shapes, outputs).multiply_adds > kCheapMultiplyAdds;
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
    if (output < context_.facts.values.size() && !sampled()) {
      bytes += 8 * kListsPerElement * context_.facts.values[output].golden_count;
    }
  }
  return bytes <= context_.options.memory_budget;
}

void OperatorJudge::run() {
  if (untouched()) {
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
  if (!fits_memory()) {
    return Error{ErrorCode::limit, "replaying the operator needs more than the memory budget"};
  }
  OPDRIFT_TRY(inputs_, load_inputs(context_, op_, stand_ins_));
  if (sampled()) {
    return judge_sampled(found_[op_.outputs.front()]);
  }
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

Status OperatorJudge::replay_sides() {
  const auto golden_inputs = pointers(inputs_.golden);
  OPDRIFT_TRY(golden_, replay::evaluate(*op_.kind, call(golden_inputs)));
  if (!inputs_.equal) {
    const auto target_inputs = pointers(inputs_.target);
    OPDRIFT_TRY(target_, replay::evaluate(*op_.kind, call(target_inputs)));
  }
  for (const ArrayList& list : inputs_.noisy) {
    const auto noisy_inputs = pointers(list);
    OPDRIFT_TRY(replay::Outputs outputs, replay::evaluate(*op_.kind, call(noisy_inputs)));
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

Result<std::vector<double>> OperatorJudge::inner_variance(std::size_t k, const Formats& formats) {
  const ArrayList deltas = narrowed(context_, op_, inputs_, formats.precision.coarser());
  const auto inputs = pointers(inputs_.golden);
  const auto narrow = pointers(deltas);
  OPDRIFT_TRY(const replay::Terms terms,
              replay::terms(*op_.kind, call(inputs, narrow), k, golden_[k]));
  weights_counted_ = !terms.weights.empty();
  return replay::inner_variance(*op_.kind, terms, golden_[k].values, formats.precision);
}

Result<std::vector<double>> OperatorJudge::missing_variance(std::size_t k, ValueId value) {
  std::vector<double> variance;
  if (!noisy_.empty()) {
    replay::SpreadSum spread(golden_[k].shape);
    for (const replay::Outputs& outputs : noisy_) {
      if (k >= outputs.size() || outputs[k].size() != golden_[k].size()) {
        return Error{ErrorCode::unsupported, "its results change their size with rounding"};
      }
      spread.add(outputs[k].values, target_outputs()[k].values);
    }
    variance = spread.finish();
  }
  for (const ValueSource* more : context_.options.more_goldens) {
    if (!more->has(RunSide::golden, value)) {
      continue;
    }
    OPDRIFT_TRY(const tensor::View view, more->view(RunSide::golden, value));
    OPDRIFT_TRY(const replay::Array other, replay::load(view, limits_of(context_.options)));
    OPDRIFT_TRY(const ArrayPtr golden, load_value(context_, RunSide::golden, value));
    if (other.size() != golden->size()) {
      continue;
    }
    replay::SpreadSum spread(golden->shape);
    spread.add(other.values, golden->values);
    const std::vector<double> runs = spread.finish();
    variance.resize(golden->size(), 0.0);
    for (std::size_t i = 0; i < variance.size(); ++i) {
      variance[i] += runs[i] / static_cast<double>(context_.options.more_goldens.size());
    }
  }
  return variance;
}

ArrayList OperatorJudge::widened_inputs(int draw) const {
  ArrayList list = inputs_.target;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ValueId value = op_.inputs[i];
    if (list[i] == nullptr || !tensor::is_floating(list[i]->dtype) ||
        context_.problem.values[value].role == Role::parameter) {
      continue;
    }
    const std::uint64_t seed = seed_of(value, 16 + static_cast<std::uint64_t>(draw));
    list[i] = std::make_shared<const replay::Array>(
        replay::widened(*list[i], formats_of(value).precision.coarser(), seed));
  }
  return list;
}

Result<std::vector<double>> OperatorJudge::wider_spread(std::size_t k) {
  replay::SpreadSum spread(target_outputs()[k].shape);
  for (int draw = 0; draw < replay::kWiderDraws; ++draw) {
    const ArrayList list = widened_inputs(draw);
    const auto inputs = pointers(list);
    OPDRIFT_TRY(const replay::Outputs outputs, replay::evaluate(*op_.kind, call(inputs)));
    if (k >= outputs.size() || outputs[k].size() != target_outputs()[k].size()) {
      return Error{ErrorCode::unsupported, "its results change their size with rounding"};
    }
    spread.add(outputs[k].values, target_outputs()[k].values);
  }
  return spread.finish();
}

// Parameters other than the weights of the table count only once the operator stands out.
Status OperatorJudge::add_parameter_variance(std::size_t k, const Formats& formats,
                                             Elements& elements) {
  const std::size_t first = weights_counted_ ? 2 : 0;
  const ArrayList deltas = narrowed(context_, op_, inputs_, formats.precision.coarser(), first);
  const auto inputs = pointers(inputs_.golden);
  const auto narrow = pointers(deltas);
  OPDRIFT_TRY(const std::vector<double> more,
              replay::replayed_weight_variance(*op_.kind, call(inputs, narrow), k, golden_[k]));
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
  note_norms(pair.golden->values, pair.target->values, found);
  Elements elements;
  elements.golden = pair.golden->values;
  elements.target = pair.target->values;
  elements.golden_replay = golden_[k].values;
  elements.target_replay = target_outputs()[k].values;
  elements.population = count;
  OPDRIFT_TRY(elements.inner, inner_variance(k, formats));
  OPDRIFT_TRY(elements.missing, missing_variance(k, value));
  Found fresh = found;
  fresh.dtype = formats.precision.coarser();
  fresh.count = count;
  fresh.judgement.tier = Tier::replay;
  note_group(fresh);
  compare_classes(elements, formats, fresh);
  const Found classes = fresh;
  weigh(elements, formats, {}, fresh);
  if (!fresh.equal && exceeds(fresh.judgement)) {
    OPDRIFT_CHECK_OK(add_parameter_variance(k, formats, elements));
    fresh = classes;
    const bool apart = !commutes_with_rounding(*op_.kind);
    weigh(elements, formats, apart ? WiderSpread([&] { return wider_spread(k); }) : WiderSpread(),
          fresh);
  }
  fresh.state = Found::State::judged;
  found = std::move(fresh);
  return Unit{};
}

Result<std::vector<double>> OperatorJudge::wider_spread_at(std::span<const std::uint64_t> positions,
                                                           std::span<const double> reference) {
  const ValueFacts& facts = context_.facts.values[op_.outputs.front()];
  replay::SpreadSum spread({positions.size()});
  for (int draw = 0; draw < replay::kWiderDraws; ++draw) {
    const ArrayList list = widened_inputs(draw);
    const auto inputs = pointers(list);
    OPDRIFT_TRY(const replay::Sample sample,
                replay::evaluate_at(*op_.kind, call(inputs), facts.shape, positions, false));
    spread.add(sample.values, reference);
  }
  return spread.finish();
}

Status OperatorJudge::judge_sampled(Found& found) {
  const ValueId value = op_.outputs.front();
  const ValueFacts& facts = context_.facts.values[value];
  const Formats formats = formats_of(value);
  OPDRIFT_TRY(const tensor::View golden, context_.source.view(RunSide::golden, value));
  OPDRIFT_TRY(const tensor::View target, context_.source.view(RunSide::target, value));
  OPDRIFT_TRY(const Survey surveyed, survey(golden, target));
  std::vector<std::uint64_t> positions =
      random_positions(facts.golden_count, kRandomSample, seed_of(value, 1));
  positions.insert(positions.end(), surveyed.worst.begin(), surveyed.worst.end());
  positions.insert(positions.end(), surveyed.mismatches.begin(), surveyed.mismatches.end());

  const ArrayList deltas = narrowed(context_, op_, inputs_, formats.precision.coarser());
  const auto golden_inputs = pointers(inputs_.golden);
  const auto narrow = pointers(deltas);
  OPDRIFT_TRY(const replay::Sample own, replay::evaluate_at(*op_.kind, call(golden_inputs, narrow),
                                                            facts.shape, positions, true));
  const auto target_inputs = pointers(inputs_.target);
  OPDRIFT_TRY(const replay::Sample other,
              replay::evaluate_at(*op_.kind, call(target_inputs), facts.shape, positions, false));
  const std::vector<double> g = values_at(golden, positions);
  const std::vector<double> t = values_at(target, positions);
  Elements elements;
  elements.golden = g;
  elements.target = t;
  elements.golden_replay = own.values;
  elements.target_replay = other.values;
  elements.positions = positions;
  elements.random = kRandomSample;
  elements.population = facts.golden_count;
  elements.inner = replay::inner_variance(*op_.kind, own.terms, own.values, formats.precision);
  if (!inputs_.noisy.empty()) {
    replay::SpreadSum spread({positions.size()});
    for (const ArrayList& list : inputs_.noisy) {
      const auto noisy_inputs = pointers(list);
      OPDRIFT_TRY(const replay::Sample sample, replay::evaluate_at(*op_.kind, call(noisy_inputs),
                                                                   facts.shape, positions, false));
      spread.add(sample.values, other.values);
    }
    elements.missing = spread.finish();
  }
  found.state = Found::State::judged;
  found.judgement.tier = Tier::sampled;
  found.judgement.sampled = positions.size();
  found.dtype = formats.precision.coarser();
  found.count = surveyed.count;
  found.finite = surveyed.finite;
  found.equal = surveyed.equal;
  found.golden_norm = surveyed.golden_norm;
  found.error_norm = surveyed.error_norm;
  note_group(found);
  compare_classes(elements, formats, found);
  found.shared_nonfinite = surveyed.shared_nonfinite;
  if (found.judgement.new_classes == 0) {
    found.judgement.inherited_classes = surveyed.class_mismatches;
  }
  weigh(
      elements, formats, [&] { return wider_spread_at(positions, other.values); }, found);
  return Unit{};
}

Status OperatorJudge::judge_integers(std::size_t k, const Pair& pair, Found& found) {
  const std::vector<double>& g = pair.golden->values;
  const std::vector<double>& t = pair.target->values;
  const std::vector<double>& fg = golden_[k].values;
  const std::vector<double>& ft = target_outputs()[k].values;
  found.state = Found::State::judged;
  found.exact = true;
  found.count = found.finite = g.size();
  found.dtype = pair.golden->dtype;
  found.judgement.tier = Tier::exact;
  found.equal = true;
  note_group(found);
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (g[i] == t[i]) {
      continue;
    }
    found.equal = false;
    if (t[i] == ft[i] || t[i] - ft[i] == g[i] - fg[i]) {
      ++found.judgement.inherited_classes;
    } else if (++found.judgement.new_classes == 1) {
      found.class_cause = Cause::different;
      found.judgement.worst = i;
      found.judgement.worst_golden = g[i];
      found.judgement.worst_target = t[i];
      found.judgement.worst_expected = ft[i];
    }
  }
  return Unit{};
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
