#include <algorithm>
#include <utility>

#include "opdrift/verdict/judge/device_parts.hpp"
#include "opdrift/verdict/judge/median.hpp"

namespace opdrift::verdict::judging {

namespace {

using State = Found::State;

constexpr std::uint64_t kBiasElements = 64;
constexpr std::size_t kBiasOperators = 3;
// Small networks: all operators that round, weighted ones too.
constexpr std::uint64_t kFewBiasElements = 16;
constexpr std::size_t kFewBiasOperators = 2;
// In units of the last place: cutting off costs half of one, more than one is something else.
constexpr double kBiasLimit = -0.25;
constexpr double kMostBias = -1.0;
// Cutting off makes twice the error that rounding makes; many times that is something else.
constexpr double kMostCut = 4.0;
constexpr std::uint64_t kFlushedElements = 16;
constexpr std::size_t kWiderOperators = 3;

// Kinds that only pick tell nothing: a constant stored narrow is off by the same everywhere.
std::vector<double> biases_of(const Context& context, const std::vector<Found>& found,
                              bool weighted, std::uint64_t elements) {
  std::vector<double> biases;
  for (std::uint32_t op = 0; op < context.problem.operators.size(); ++op) {
    const Found* own = main_output(context, found, op);
    const ProblemOperator& node = context.problem.operators[op];
    if (own != nullptr && (weighted || !is_weighted(node)) && !node.kind->bitwise() &&
        !own->judgement.inputs_replayed && own->judgement.bias_count >= elements &&
        own->class_cause != Cause::saturated && own->judgement.q_own <= kMostCut) {
      biases.push_back(own->judgement.bias);
    }
  }
  return biases;
}

bool has_ratios(const Found& found) {
  return found.state == State::judged && !found.exact && !found.equal;
}

std::string sentence_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::tf32_products: return "the device multiplies in TF32";
    case FindingKind::bf16_products: return "the device multiplies in bf16";
    case FindingKind::half_accumulators:
      return "the device sums products in its storage type instead of float32";
    case FindingKind::truncation: return "the device rounds towards zero";
    case FindingKind::wider_inputs:
      return "the device reads its inputs with more digits than it dumps";
    default: return "";
  }
}

}  // namespace

const Found* main_output(const Context& context, const std::vector<Found>& found,
                         std::uint32_t op) {
  const std::vector<ValueId>& outputs = context.problem.operators[op].outputs;
  const bool known = !outputs.empty() && outputs.front() < found.size();
  return known && has_ratios(found[outputs.front()]) ? &found[outputs.front()] : nullptr;
}

Finding finding_of(FindingKind kind, double value, std::size_t operators, bool assumed) {
  Finding finding;
  finding.kind = kind;
  finding.sentence = sentence_of(kind) + (assumed ? " (as declared)" : "");
  finding.value = value;
  finding.operators = operators;
  finding.assumed = assumed;
  return finding;
}

std::optional<Finding> find_truncation(const Context& context, const std::vector<Found>& found) {
  std::vector<double> biases = biases_of(context, found, false, kBiasElements);
  if (biases.size() < kBiasOperators) {
    biases = biases_of(context, found, true, kFewBiasElements);
    if (biases.size() < kFewBiasOperators) {
      return std::nullopt;
    }
  }
  const std::size_t operators = biases.size();
  const double median = median_of(biases);
  if (!(median < kBiasLimit && median > kMostBias)) {
    return std::nullopt;
  }
  return finding_of(FindingKind::truncation, median, operators);
}

std::optional<Finding> find_flushed(const Context& context, const std::vector<Found>& found) {
  std::uint64_t flushed = 0;
  std::uint64_t kept = 0;
  std::size_t operators = 0;
  for (std::uint32_t op = 0; op < context.problem.operators.size(); ++op) {
    const Found* own = main_output(context, found, op);
    if (own != nullptr) {
      flushed += own->judgement.flushed;
      kept += own->subnormals;
      operators += own->judgement.flushed > 0 ? 1U : 0U;
    }
  }
  if (flushed < kFlushedElements || flushed <= kept) {
    return std::nullopt;
  }
  const double share = static_cast<double>(flushed) / static_cast<double>(flushed + kept);
  Finding finding = finding_of(FindingKind::flushed_subnormals, share, operators);
  finding.sentence =
      "the device sets subnormal results to 0 (" + std::to_string(flushed) + " elements)";
  return finding;
}

std::optional<Finding> find_wider_inputs(const Context& context, const std::vector<Found>& found) {
  std::size_t rounding = 0;
  std::size_t wider = 0;
  for (std::uint32_t op = 0; op < context.problem.operators.size(); ++op) {
    const Found* own = main_output(context, found, op);
    if (own != nullptr && own->judgement.bias_count > 0) {
      ++rounding;
      wider += own->judgement.wider_inputs ? 1U : 0U;
    }
  }
  if (wider < kWiderOperators || 2 * wider <= rounding) {
    return std::nullopt;
  }
  return finding_of(FindingKind::wider_inputs,
                    static_cast<double>(wider) / static_cast<double>(rounding), wider);
}

std::vector<Finding> declared(const Assumptions& assume) {
  std::vector<Finding> findings;
  if (assume.truncation) {
    findings.push_back(finding_of(FindingKind::truncation, 0.0, 0, true));
  }
  if (assume.operands > 0.0) {
    const FindingKind kind =
        assume.operands > 0x1p-10 ? FindingKind::bf16_products : FindingKind::tf32_products;
    findings.push_back(finding_of(kind, assume.operands, 0, true));
  }
  if (assume.half_accumulators) {
    findings.push_back(finding_of(FindingKind::half_accumulators, 0.0, 0, true));
  }
  if (assume.wider_inputs) {
    findings.push_back(finding_of(FindingKind::wider_inputs, 0.0, 0, true));
  }
  return findings;
}

}  // namespace opdrift::verdict::judging
