#include "opdrift/diagnose/evidence/dump_checks.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "opdrift/match/name_match.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kMostMissing = 0.1;
constexpr double kUnrelatedCosine = 0.5;

/// Types that are in a graph and are no work of the device: they leave no dump.
constexpr std::array<std::string_view, 7> kNotDumped = {
    "Data", "Const", "Constant", "NetOutput", "Variable", "PartitionedCall", "NoOp"};

/// Every bit, or every number: 0 and -0 are one.
bool is_equal(const metrics::Measurement& m) {
  return m.equal_bits == m.count || (m.class_mismatches == 0 && m.max_abs.value == 0.0);
}

}  // namespace

std::string completeness(const pipeline::DumpIndex& dump, const Edges& edges) {
  std::unordered_set<std::string> dumped;
  for (const pipeline::IndexedTensor& tensor : dump.tensors) {
    dumped.insert(match::normalise(tensor.name.operator_name));
  }
  std::size_t wanted = 0;
  std::vector<std::string> missing;
  std::unordered_set<std::string> known;
  for (const graph::Operator& op : edges.graph().operators) {
    known.insert(match::normalise(op.name));
    if (std::find(kNotDumped.begin(), kNotDumped.end(), op.type) != kNotDumped.end()) {
      continue;
    }
    ++wanted;
    if (dumped.count(match::normalise(op.name)) == 0) {
      missing.push_back(op.name);
    }
  }
  if (wanted == 0 ||
      static_cast<double>(missing.size()) <= kMostMissing * static_cast<double>(wanted)) {
    return "";
  }
  const auto strangers = std::count_if(dumped.begin(), dumped.end(), [&](const std::string& name) {
    return known.count(name) == 0;
  });
  return std::to_string(missing.size()) + " of " + std::to_string(wanted) +
         " operators have no dump (" + missing.front() + " is the first), " +
         std::to_string(strangers) + " dumps belong to no operator";
}

flow::RepeatFacts compare_repeat(const verdict::RunResult& result) {
  flow::RepeatFacts repeat;
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (!tensor.measurement || is_equal(*tensor.measurement)) {
      continue;
    }
    if (repeat.identical) {
      repeat.identical = false;
      repeat.first_difference = tensor.operator_name;
    }
    repeat.unrelated = repeat.unrelated || tensor.measurement->cosine() < kUnrelatedCosine;
  }
  return repeat;
}

}  // namespace opdrift::diagnose::evidence
