#include "opdrift/pipeline/judge/pair_values.hpp"

#include <utility>

namespace opdrift::pipeline {

using verdict::RunSide;
using verdict::ValueId;

namespace {

// Of tensors kept open; more than a few layers of a large network.
constexpr std::uint64_t kOpenBytes = std::uint64_t{128} << 20U;
constexpr std::size_t kOpenPairs = 256;

}  // namespace

PairValues::PairValues(const GraphProblem& problem, OpenPair open_pair, OpenGolden open_golden)
    : problem_(problem),
      open_pair_(std::move(open_pair)),
      open_golden_(std::move(open_golden)),
      pairs_(problem.problem.values.size()),
      rows_(problem.problem.values.size()),
      goldens_(problem.problem.values.size()) {}

void PairValues::set_pair(ValueId value, std::size_t pair, std::optional<std::size_t> row) {
  if (!pairs_[value]) {
    pairs_[value] = pair;
    rows_[value] = row;
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

bool PairValues::has(RunSide side, ValueId value) const {
  if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
    return side == RunSide::golden && problem_.parameters[value].has_value();
  }
  return pairs_[value] || (side == RunSide::golden && goldens_[value]);
}

Result<AlignedPair> PairValues::pair(std::size_t index) const {
  {
    const std::lock_guard lock(mutex_);
    for (auto entry = opened_.begin(); entry != opened_.end(); ++entry) {
      if (entry->index == index) {
        opened_.splice(opened_.begin(), opened_, entry);
        return entry->pair;
      }
    }
  }
  OPDRIFT_TRY(AlignedPair fresh, open_pair_(index));
  const std::uint64_t bytes =
      fresh.golden.tensor.bytes.span.size() + fresh.target.tensor.bytes.span.size();
  const std::lock_guard lock(mutex_);
  opened_.push_front({index, bytes, fresh});
  opened_bytes_ += bytes;
  while (opened_.size() > 1 && (opened_bytes_ > kOpenBytes || opened_.size() > kOpenPairs)) {
    opened_bytes_ -= opened_.back().bytes;
    opened_.pop_back();
  }
  return fresh;
}

Result<tensor::View> PairValues::view(RunSide side, ValueId value) const {
  if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
    if (!problem_.parameters[value]) {
      return Error{ErrorCode::not_found, "no data for parameter",
                   problem_.problem.values[value].name};
    }
    return *problem_.parameters[value];
  }
  if (pairs_[value]) {
    OPDRIFT_TRY(AlignedPair both, pair(*pairs_[value]));
    return side == RunSide::golden ? std::move(both.golden) : std::move(both.target);
  }
  if (side == RunSide::golden && goldens_[value]) {
    return open_golden_(*goldens_[value]);
  }
  return Error{ErrorCode::not_found, "no tensor for value", problem_.problem.values[value].name};
}

namespace {

std::string operator_key(std::string_view name, std::uint32_t index) {
  return std::string(name) + '\n' + std::to_string(index);
}

}  // namespace

ValueNames::ValueNames(const GraphProblem& problem) : problem_(problem) {
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
