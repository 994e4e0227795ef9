#include "opdrift/verdict/judge/operator_judge.hpp"

#include <algorithm>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/leaf.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

namespace opdrift::verdict::judging {

namespace {

using Role = ProblemValue::Role;

constexpr std::size_t kListsPerElement = 14;

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

bool OperatorJudge::same_on_both(ValueId value) const {
  if (value >= context_.problem.values.size()) {
    return true;
  }
  const ValueFacts& facts = context_.facts.values[value];
  if (!facts.both() || facts.golden_dtype != facts.target_dtype ||
      facts.golden_count != facts.target_count) {
    return false;
  }
  const metrics::Measurement* known = context_.source.measured(value).measurement;
  if (known != nullptr && known->count == facts.golden_count) {
    return known->equal_bits == known->count;
  }
  const Result<tensor::View> golden = context_.source.view(RunSide::golden, value);
  const Result<tensor::View> target = context_.source.view(RunSide::target, value);
  return golden && target && same_bytes(*golden, *target);
}

bool OperatorJudge::untouched() const {
  return std::all_of(op_.outputs.begin(), op_.outputs.end(),
                     [&](ValueId value) { return same_on_both(value); }) &&
         std::all_of(op_.inputs.begin(), op_.inputs.end(), [&](ValueId value) {
           const bool own = value < context_.problem.values.size() &&
                            context_.problem.values[value].role != Role::computed &&
                            !context_.facts.values[value].both();
           return own || same_on_both(value);
         });
}

// What f makes of the inputs decides about integers only where the sides differ.
bool OperatorJudge::same_integers() const {
  return std::all_of(op_.outputs.begin(), op_.outputs.end(), [&](ValueId value) {
    return value >= context_.problem.values.size() ||
           (!tensor::is_floating(context_.facts.values[value].golden_dtype) && same_on_both(value));
  });
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
  if (same_integers() || untouched()) {
    note_untouched();
    return;
  }
  const Status done = replay();
  if (!done) {
    give_up(done.error().message);
  }
  stand_ins_.release(op_);
}

// Before its inputs: workers that judge operators which follow each other then bring in different
// tensors instead of waiting for the same one.
void OperatorJudge::open_outputs() const {
  for (const ValueId value : op_.outputs) {
    if (value < found_.size() && context_.facts.values[value].both()) {
      static_cast<void>(context_.source.measured(value));
    }
  }
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
  OPDRIFT_CHECK_OK(check_inputs());
  open_outputs();
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

// What is in neither run is told before anything is read in vain.
Status OperatorJudge::check_inputs() const {
  if (op_.kind->weighted() && op_.inputs.size() < 2) {
    return Error{ErrorCode::not_found, "its weights are not in the graph"};
  }
  for (const ValueId input : op_.inputs) {
    if (input >= context_.problem.values.size() ||
        is_missing(context_.problem, context_.facts, input)) {
      continue;
    }
    const ValueFacts& facts = context_.facts.values[input];
    const bool parameter = context_.problem.values[input].role == Role::parameter;
    if (parameter && !facts.golden) {
      return lacking_parameter(context_, input);
    }
    if (!facts.golden && !facts.target) {
      return lacking(context_, input, facts.trouble);
    }
  }
  return Unit{};
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
        if (!full_) {
          compare_sides(context_, value, found);  // while its bytes are at hand
        }
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
