#include "opdrift/pipeline/judge/pair_values.hpp"

#include <utility>

#include "opdrift/metrics/resident.hpp"

namespace opdrift::pipeline {

using verdict::RunSide;
using verdict::ValueId;

PairValues::PairValues(const GraphProblem& problem, OpenPair open_pair, OpenGolden open_golden,
                       KnownPairs known)
    : problem_(problem),
      open_pairs_(std::move(open_pair)),
      open_golden_(std::move(open_golden)),
      known_(std::move(known)),
      users_(problem.problem.values.size()),
      pairs_(problem.problem.values.size()),
      rows_(problem.problem.values.size()),
      goldens_(problem.problem.values.size()) {
  for (const verdict::ProblemOperator& op : problem.problem.operators) {
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const ValueId value : *list) {
        if (value < users_.size()) {
          ++users_[value];
        }
      }
    }
  }
}

void PairValues::set_pair(ValueId value, std::size_t pair, std::optional<std::size_t> row) {
  if (!pairs_[value]) {
    pairs_[value] = pair;
    rows_[value] = row;
    open_pairs_.expect(pair, users_[value]);
  }
}

void PairValues::set_golden(ValueId value, std::size_t golden) {
  if (!goldens_[value]) {
    goldens_[value] = golden;
  }
}

std::optional<std::size_t> PairValues::row_of(ValueId value) const {
  return rows_[value];
}

const tensor::View* PairValues::given_for_target(ValueId value) const {
  const auto& given = problem_.target_parameters;
  return value < given.size() && given[value] ? &*given[value] : nullptr;
}

bool PairValues::has(RunSide side, ValueId value) const {
  if (side == RunSide::target && given_for_target(value) != nullptr) {
    return true;
  }
  if (is_pair(value)) {
    return true;
  }
  if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
    return side == RunSide::golden && is_stored(value);
  }
  return side == RunSide::golden && goldens_[value].has_value();
}

Result<tensor::View> PairValues::lone_view(RunSide side, ValueId value) const {
  if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
    if (!problem_.parameters[value]) {
      return Error{ErrorCode::not_found, "no data for parameter",
                   problem_.problem.values[value].name};
    }
    return metrics::resident_views(*problem_.parameters[value], {}, 0).front();
  }
  if (side == RunSide::golden && goldens_[value]) {
    return open_golden_(*goldens_[value]);
  }
  return Error{ErrorCode::not_found, "no tensor for value", problem_.problem.values[value].name};
}

// A parameter that the model holds, whatever the dumps make of it.
bool PairValues::is_stored(ValueId value) const {
  return problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter &&
         problem_.parameters[value].has_value();
}

bool PairValues::is_pair(ValueId value) const {
  return pairs_[value].has_value();
}

Result<tensor::View> PairValues::view(RunSide side, ValueId value) const {
  if (const tensor::View* given = given_for_target(value);
      side == RunSide::target && given != nullptr) {
    return metrics::resident_views(*given, {}, 0).front();
  }
  if (!is_pair(value)) {
    return lone_view(side, value);
  }
  auto both = open_pairs_.pair(*pairs_[value]);
  if (!both) {
    return side == RunSide::golden && is_stored(value) ? lone_view(side, value)
                                                       : Result<tensor::View>(both.error());
  }
  return side == RunSide::golden ? std::move(both->golden) : std::move(both->target);
}

Result<verdict::ValueOutline> PairValues::outline(RunSide side, ValueId value) const {
  if (!is_pair(value) || (side == RunSide::target && given_for_target(value) != nullptr) ||
      !known_.outline) {
    return ValueSource::outline(side, value);
  }
  auto both = known_.outline(*pairs_[value]);
  if (!both) {
    return side == RunSide::golden && is_stored(value)
               ? ValueSource::outline(side, value)
               : Result<verdict::ValueOutline>(both.error());
  }
  return side == RunSide::golden ? std::move(both->first) : std::move(both->second);
}

verdict::MeasuredValue PairValues::measured(ValueId value) const {
  if (!is_pair(value) || given_for_target(value) != nullptr || !known_.measured ||
      !open_pairs_.pair(*pairs_[value])) {
    return {};
  }
  return known_.measured(*pairs_[value]);
}

Result<tensor::View> PairValues::stored_target(ValueId value) const {
  return is_pair(value) && known_.stored_target ? known_.stored_target(*pairs_[value])
                                                : view(RunSide::target, value);
}

void PairValues::used(ValueId value) const {
  if (is_pair(value)) {
    open_pairs_.used(*pairs_[value]);
  }
}

namespace {

std::string operator_key(std::string_view name, std::uint32_t index) {
  return std::string(name) + '\n' + std::to_string(index);
}

}  // namespace

ValueNames::ValueNames(const GraphProblem& problem) : problem_(problem) {
  for (const auto& [name, value] : problem.constants) {
    by_operator_.emplace(operator_key(name, 0), value);
  }
  for (const verdict::ProblemOperator& op : problem.problem.operators) {
    for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
      if (op.outputs[i] == verdict::kAbsent) {
        continue;
      }
      by_operator_.emplace(operator_key(op.op->name, i), op.outputs[i]);
      const auto [found, added] =
          by_normalised_.emplace(operator_key(match::normalise(op.op->name), i), op.outputs[i]);
      if (!added) {
        found->second.reset();
      }
    }
  }
}

std::optional<ValueId> ValueNames::find(const match::NamedTensor& name) const {
  if (!name.tensor_name.empty()) {
    const auto exact = problem_.value_of.find(name.tensor_name);
    if (exact != problem_.value_of.end()) {
      return exact->second;
    }
  }
  if (!name.output) {
    return std::nullopt;
  }
  const auto by_operator = by_operator_.find(operator_key(name.operator_name, name.index));
  if (by_operator != by_operator_.end()) {
    return by_operator->second;
  }
  const auto input = problem_.value_of.find(name.operator_name);
  if (input != problem_.value_of.end() && name.index == 0) {
    return input->second;
  }
  const auto loose =
      by_normalised_.find(operator_key(match::normalise(name.operator_name), name.index));
  return loose == by_normalised_.end() ? std::nullopt : loose->second;
}

}  // namespace opdrift::pipeline
