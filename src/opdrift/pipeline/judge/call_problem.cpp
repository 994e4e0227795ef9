#include "opdrift/pipeline/judge/call_problem.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "opdrift/pipeline/judge/judge_run.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::Cause;
using verdict::Judgement;
using verdict::kAbsent;
using verdict::Label;
using verdict::ProblemValue;
using verdict::Tier;
using verdict::ValueId;

/// True when two views hold the same elements, bit by bit, in the same shape.
bool same_elements(const tensor::View& one, const tensor::View& other) {
  const unsigned bits = tensor::info(one.tensor.desc.dtype).bits;
  if (one.tensor.desc.dtype != other.tensor.desc.dtype || bits % 8 != 0 || bits == 0 ||
      one.shape() != other.shape() || one.tensor.desc.big_endian != other.tensor.desc.big_endian) {
    return false;
  }
  constexpr std::uint64_t kChunk = 4096;
  std::vector<std::byte> left(kChunk * (bits / 8) + 16);
  std::vector<std::byte> right(left.size());
  const std::uint64_t count = one.count();
  for (std::uint64_t first = 0; first < count; first += kChunk) {
    const auto part = static_cast<std::size_t>(std::min(kChunk, count - first));
    tensor::gather(one, first, part, left.data());
    tensor::gather(other, first, part, right.data());
    if (std::memcmp(left.data(), right.data(), part * (bits / 8)) != 0) {
      return false;
    }
  }
  return true;
}

void add_side(const metrics::SideStats& side, std::vector<double>& numbers) {
  numbers.insert(numbers.end(), {static_cast<double>(side.dtype), side.min, side.max, side.sum,
                                 side.sum_squares, static_cast<double>(side.finite)});
}

/// No replay decided: there was none, or only the shape of an error without a model.
bool undecided(const Judgement& judgement) {
  return judgement.label == Label::unjudged || judgement.cause == Cause::not_modelled;
}

}  // namespace

CallProblem::CallProblem(const MeasuredPairs& measured, const verdict::RunResult& result)
    : measured_(measured), result_(result) {}

/// What a pass over both sides left of them: equal for equal tensors, and hardly ever for others.
/// Empty for what should not be linked: single elements repeat by chance.
std::string CallProblem::fingerprint(std::size_t pair) const {
  const auto row = measured_.row_of_pair[pair];
  if (!row || !result_.tensors[*row].measurement || result_.tensors[*row].statistics_only ||
      result_.tensors[*row].measurement->count < 2) {
    return {};
  }
  const metrics::Measurement& m = *result_.tensors[*row].measurement;
  std::vector<double> numbers = {static_cast<double>(m.count), m.sum_d2};
  add_side(m.golden, numbers);
  add_side(m.target, numbers);
  std::string key(numbers.size() * sizeof(double), '\0');
  std::memcpy(key.data(), numbers.data(), key.size());
  return key;
}

Result<AlignedPair> CallProblem::open_pair(std::size_t pair) const {
  const std::size_t usual = measured_.pairing.pairs.size();
  const IndexPair& both = pair < usual ? measured_.pairing.pairs[pair] : more_pairs_[pair - usual];
  OPDRIFT_TRY(const tensor::Tensor golden, load(measured_.golden.tensors[both.golden]));
  OPDRIFT_TRY(const tensor::Tensor target, load(measured_.target.tensors[both.target]));
  OPDRIFT_TRY(AlignedPair aligned, align_pair(golden, target));
  keep_rows(both.rows, aligned);
  return aligned;
}

bool CallProblem::same_bytes(std::size_t one, std::size_t other) const {
  const auto left = open_pair(one);
  const auto right = open_pair(other);
  return left && right && same_elements(left->golden, right->golden) &&
         same_elements(left->target, right->target);
}

ValueId CallProblem::value_of_pair(std::size_t pair, ProblemValue::Role role) {
  const auto known = own_.find(pair);
  if (known != own_.end()) {
    return known->second;
  }
  const IndexedTensor& golden = measured_.golden.tensors[measured_.pairing.pairs[pair].golden];
  const std::string& given = golden.name.tensor_name;
  const std::string name = given.empty() ? golden.label() : given;
  const auto value = static_cast<ValueId>(problem_.problem.values.size());
  problem_.problem.values.push_back({name, role, false});
  problem_.parameters.emplace_back();
  problem_.value_of.emplace(name, value);
  own_.emplace(pair, value);
  pair_of_.resize(value + 1, kNoPair);
  pair_of_[value] = pair;
  return value;
}

ValueId CallProblem::read(std::size_t pair, bool network_input) {
  const auto found = made_.find(fingerprint(pair));
  if (found != made_.end() && same_bytes(found->second.pair, pair)) {
    is_copy(pair);
    return found->second.value;
  }
  const auto role =
      network_input ? ProblemValue::Role::network_input : ProblemValue::Role::computed;
  const ValueId value = value_of_pair(pair, role);
  placed_.push_back({value, pair, network_input});
  if (!network_input) {
    leave_to_limits(pair, "no recorded call made it");
  }
  return value;
}

ValueId CallProblem::make(std::size_t pair) {
  return value_of_pair(pair, ProblemValue::Role::computed);
}

std::optional<ValueId> CallProblem::made_before(std::size_t pair) const {
  const auto found = made_.find(fingerprint(pair));
  if (found == made_.end() || !found->second.judged || !same_bytes(found->second.pair, pair)) {
    return std::nullopt;
  }
  return found->second.value;
}

ValueId CallProblem::parameter(const std::string& name, tensor::View view) {
  const ValueId value = add_value(problem_, name, ProblemValue::Role::parameter);
  problem_.parameters[value] = std::move(view);
  return value;
}

ValueId CallProblem::beside(const std::string& name, std::size_t golden, std::size_t target) {
  const ValueId value = add_value(problem_, name, ProblemValue::Role::computed);
  placed_.push_back({value, measured_.pairing.pairs.size() + more_pairs_.size(), false});
  more_pairs_.push_back({golden, target, "", false});
  return value;
}

ValueId CallProblem::hidden(const std::string& name, std::optional<std::size_t> golden) {
  const ValueId value = add_value(problem_, name, ProblemValue::Role::computed);
  if (golden) {
    goldens_.emplace_back(value, *golden);
  }
  return value;
}

void CallProblem::note_made(ValueId value, bool judged, const std::string& why) {
  const std::size_t pair = value < pair_of_.size() ? pair_of_[value] : kNoPair;
  if (pair == kNoPair) {
    return;
  }
  placed_.push_back({value, pair, judged});
  if (!judged) {
    leave_to_limits(pair, why);
  }
  const std::string key = fingerprint(pair);
  if (key.empty()) {
    return;
  }
  const auto [known, added] = made_.try_emplace(key, Made{value, pair, judged});
  if (!added && (judged || !known->second.judged)) {
    known->second = {value, pair, judged};
  }
}

void CallProblem::add(graph::Operator op, const replay::OperatorKind* kind,
                      std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                      const std::string& why) {
  const bool judged = kind != nullptr;
  modelled_ += judged ? 1 : 0;
  for (const ValueId value : outputs) {
    if (value != kAbsent) {
      note_made(value, judged, why);
    }
  }
  op.outputs.resize(std::max(op.outputs.size(), outputs.size()));
  operators_.push_back(std::move(op));
  problem_.problem.operators.push_back(
      {&operators_.back(), kind, std::move(inputs), std::move(outputs), judged});
}

void CallProblem::leave_to_limits(std::size_t pair, std::string why) {
  limited_.emplace(pair, std::move(why));
}

void CallProblem::is_copy(std::size_t pair) {
  copies_.push_back(pair);
}

std::vector<std::optional<CallProblem::Limited>> CallProblem::said_by_limits(
    const verdict::RunResult& result) const {
  std::vector<std::optional<Limited>> said(result.tensors.size());
  for (const Placed& placed : placed_) {
    const auto row = placed.row ? measured_.row_of_pair[placed.pair] : std::nullopt;
    if (row) {
      said[*row] = Limited{result.tensors[*row].passed, result.tensors[*row].reason};
    }
  }
  return said;
}

/// Rows that no replay decided, in the words of the limits.
void CallProblem::judge_leftovers(const std::vector<std::optional<Limited>>& limits,
                                  verdict::RunResult& result) const {
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    verdict::TensorResult& row = result.tensors[i];
    if (!limits[i] || !row.judgement || !undecided(*row.judgement)) {
      continue;
    }
    const std::string why = row.judgement->sentence;
    row.passed = limits[i]->passed;
    row.reason = limits[i]->reason;
    row.judgement = by_limits(row, why);
  }
  for (const auto& [pair, why] : limited_) {
    const auto row = measured_.row_of_pair[pair];
    if (row && !result.tensors[*row].judgement) {
      result.tensors[*row].judgement = by_limits(result.tensors[*row], why);
    }
  }
  for (const std::size_t pair : copies_) {
    if (const auto row = measured_.row_of_pair[pair]) {
      verdict::TensorResult& copy = result.tensors[*row];
      copy.judgement = Judgement{};
      copy.judgement->sentence = "judged where it was made";
      copy.passed = true;
      copy.reason = copy.judgement->sentence;
    }
  }
}

Status CallProblem::judge(verdict::RunResult& result) {
  const auto open = [this](std::size_t pair) -> Result<AlignedPair> {
    OPDRIFT_TRY(AlignedPair opened, open_pair(pair));
    read_in(opened);
    return opened;
  };
  const auto open_golden = [this](std::size_t position) -> Result<tensor::View> {
    OPDRIFT_TRY(const tensor::Tensor golden, load(measured_.golden.tensors[position]));
    return tensor::stored_view(golden);
  };
  KnownPairs known;
  known.outline = [this](std::size_t pair) -> Result<OutlinedPair> {
    OPDRIFT_TRY(const AlignedPair opened, open_pair(pair));
    return outline_of(opened);
  };
  known.measured = [this](std::size_t pair) {
    const auto row =
        pair < measured_.row_of_pair.size() ? measured_.row_of_pair[pair] : std::nullopt;
    return row ? measured_.measured(*row) : verdict::MeasuredValue{};
  };
  PairValues values(problem_, open, open_golden, known);
  for (const Placed& placed : placed_) {
    const auto row = placed.row ? measured_.row_of_pair[placed.pair] : std::nullopt;
    values.set_pair(placed.value, placed.pair, row);
  }
  for (const auto& [value, golden] : goldens_) {
    values.set_golden(value, golden);
  }
  const auto limits = said_by_limits(result);
  result.verdict.reset();
  OPDRIFT_CHECK_OK(judge_run(problem_, values, judge_run_options(measured_.options), result));
  if (result.verdict) {
    judge_leftovers(limits, result);
  }
  return Unit{};
}

}  // namespace opdrift::pipeline
