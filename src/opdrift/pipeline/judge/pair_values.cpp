#include "opdrift/pipeline/judge/pair_values.hpp"

#include <algorithm>
#include <utility>

namespace opdrift::pipeline {

using verdict::RunSide;
using verdict::ValueId;

namespace {

// Of tensors kept open: what operators that follow each other read. More memory would only take
// longer to be given.
constexpr std::uint64_t kOpenBytes = std::uint64_t{48} << 20U;
constexpr std::size_t kOpenAtLeast = 2;
constexpr std::size_t kOpenPairs = 256;

}  // namespace

PairValues::PairValues(const GraphProblem& problem, OpenPair open_pair, OpenGolden open_golden,
                       KnownPairs known)
    : problem_(problem),
      open_pair_(std::move(open_pair)),
      open_golden_(std::move(open_golden)),
      known_(std::move(known)),
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

std::shared_ptr<PairValues::Opened> PairValues::entry_of(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(opened_.begin(), opened_.end(),
                   [index](const std::shared_ptr<Opened>& one) { return one->index == index; });
  if (known != opened_.end()) {
    opened_.splice(opened_.begin(), opened_, known);
    return opened_.front();
  }
  opened_.push_front(std::make_shared<Opened>());
  opened_.front()->index = index;
  return opened_.front();
}

// Whoever still reads a pair that is closed here keeps its bytes.
void PairValues::make_room(const std::shared_ptr<Opened>& added) const {
  const std::lock_guard lock(mutex_);
  const bool kept = std::find(opened_.begin(), opened_.end(), added) != opened_.end();
  if (kept && *added->pair) {
    added->bytes = (**added->pair).golden.tensor.bytes.span.size() +
                   (**added->pair).target.tensor.bytes.span.size();
  }
  opened_bytes_ += added->bytes;
  while (opened_.size() > kOpenAtLeast &&
         (opened_bytes_ > kOpenBytes || opened_.size() > kOpenPairs)) {
    opened_bytes_ -= opened_.back()->bytes;
    opened_.pop_back();
  }
}

Result<AlignedPair> PairValues::pair(std::size_t index) const {
  const std::shared_ptr<Opened> entry = entry_of(index);
  std::call_once(entry->once, [&] {
    entry->pair = open_pair_(index);
    make_room(entry);
  });
  return *entry->pair;
}

Result<tensor::View> PairValues::lone_view(RunSide side, ValueId value) const {
  if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
    if (!problem_.parameters[value]) {
      return Error{ErrorCode::not_found, "no data for parameter",
                   problem_.problem.values[value].name};
    }
    return *problem_.parameters[value];
  }
  if (side == RunSide::golden && goldens_[value]) {
    return open_golden_(*goldens_[value]);
  }
  return Error{ErrorCode::not_found, "no tensor for value", problem_.problem.values[value].name};
}

bool PairValues::is_pair(ValueId value) const {
  return pairs_[value] &&
         problem_.problem.values[value].role != verdict::ProblemValue::Role::parameter;
}

Result<tensor::View> PairValues::view(RunSide side, ValueId value) const {
  if (!is_pair(value)) {
    return lone_view(side, value);
  }
  OPDRIFT_TRY(AlignedPair both, pair(*pairs_[value]));
  return side == RunSide::golden ? std::move(both.golden) : std::move(both.target);
}

Result<verdict::ValueOutline> PairValues::outline(RunSide side, ValueId value) const {
  if (!is_pair(value) || !known_.outline) {
    return ValueSource::outline(side, value);
  }
  OPDRIFT_TRY(auto both, known_.outline(*pairs_[value]));
  return side == RunSide::golden ? std::move(both.first) : std::move(both.second);
}

verdict::MeasuredValue PairValues::measured(ValueId value) const {
  if (!is_pair(value) || !known_.measured || !pair(*pairs_[value])) {
    return {};
  }
  return known_.measured(*pairs_[value]);
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
