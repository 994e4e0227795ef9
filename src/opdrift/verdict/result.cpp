#include "opdrift/verdict/result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace opdrift::verdict {

namespace {

int badness(Label label) {
  switch (label) {
    case Label::culprit: return 6;
    case Label::drift: return 5;
    case Label::victim: return 4;
    case Label::watch: return 3;
    case Label::unjudged: return 2;
    case Label::healthy: return 1;
  }
  return 0;
}

/// Sort key: larger is worse.
std::tuple<int, double> badness(const TensorResult& tensor) {
  if (!tensor.measurement) {
    return {7, 0.0};
  }
  if (tensor.judgement) {
    // Culprits keep the order of the graph: the first one made the others, if any did.
    const bool culprit = tensor.judgement->label == Label::culprit;
    const double error = tensor.measurement->relative_l2();
    const bool ordered = culprit || std::isnan(error);
    const bool failed = tensor.judgement->label == Label::unjudged && !tensor.passed;
    return {badness(failed ? Label::culprit : tensor.judgement->label), ordered ? 0.0 : error};
  }
  const double error = tensor.measurement->relative_l2();
  const double size = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  if (tensor.measurement->class_mismatches > 0) {
    return {2, size};
  }
  return {tensor.passed ? 0 : 1, size};
}

}  // namespace

const char* to_string(LedgerState state) {
  switch (state) {
    case LedgerState::compared: return "compared";
    case LedgerState::equal: return "equal";
    case LedgerState::unmatched: return "unmatched";
    case LedgerState::unreadable: return "unreadable";
    case LedgerState::superseded: return "superseded";
    case LedgerState::ignored: return "ignored";
    case LedgerState::skipped: return "skipped";
  }
  return "ignored";
}

const char* to_string(RunSide side) {
  return side == RunSide::golden ? "golden" : "target";
}

std::string TensorResult::label() const {
  return operator_name + ":" + role + ":" + std::to_string(index);
}

std::uint64_t LedgerTotals::all() const {
  return compared + equal + unmatched + unreadable + superseded + ignored + skipped;
}

LedgerTotals RunResult::totals(RunSide side) const {
  LedgerTotals totals;
  for (const LedgerEntry& entry : ledger) {
    if (entry.side != side) {
      continue;
    }
    switch (entry.state) {
      case LedgerState::compared: ++totals.compared; break;
      case LedgerState::equal: ++totals.equal; break;
      case LedgerState::unmatched: ++totals.unmatched; break;
      case LedgerState::unreadable: ++totals.unreadable; break;
      case LedgerState::superseded: ++totals.superseded; break;
      case LedgerState::ignored: ++totals.ignored; break;
      case LedgerState::skipped: ++totals.skipped; break;
    }
  }
  return totals;
}

std::uint64_t RunResult::failed() const {
  return static_cast<std::uint64_t>(std::count_if(
      tensors.begin(), tensors.end(), [](const TensorResult& tensor) { return !tensor.passed; }));
}

const TensorResult* RunResult::first_offender() const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [](const TensorResult& tensor) { return !tensor.passed; });
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<std::size_t> worst_first(const RunResult& result) {
  std::vector<std::size_t> order(result.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return badness(result.tensors[a]) > badness(result.tensors[b]);
  });
  return order;
}

}  // namespace opdrift::verdict
