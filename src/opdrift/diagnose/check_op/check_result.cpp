#include <algorithm>

#include "opdrift/diagnose/check_op/check_op.hpp"

namespace opdrift::diagnose {

using verdict::TensorResult;

namespace {

/// A tensor of another size than the operator makes is wrong; one that cannot be read tells
/// nothing.
bool has_other_size(const TensorResult& row) {
  return tensor::element_count(row.golden_shape).value_or(0U) !=
         tensor::element_count(row.target_shape).value_or(0U);
}

}  // namespace

Blame blame_of(const std::optional<TensorResult>& single,
               const std::optional<TensorResult>& entire) {
  if (!single) {
    return Blame::unknown;
  }
  if (!single->measurement) {
    return has_other_size(*single) ? Blame::own : Blame::unknown;
  }
  if (!single->passed) {
    return Blame::own;
  }
  const auto wrong = [](const TensorResult& row) {
    return !row.passed || (row.judgement && (row.judgement->label == verdict::Label::victim ||
                                             row.judgement->label == verdict::Label::drift));
  };
  return entire && wrong(*entire) ? Blame::inherited : Blame::none;
}

std::string_view to_string(Blame blame) {
  switch (blame) {
    case Blame::none: return "none";
    case Blame::own: return "own";
    case Blame::inherited: return "inherited";
    case Blame::unknown: return "unknown";
  }
  return "unknown";
}

Blame CheckedOperator::blame() const {
  for (const Blame blame : {Blame::own, Blame::inherited, Blame::unknown}) {
    const bool found = std::any_of(outputs.begin(), outputs.end(),
                                   [&](const CheckedOutput& o) { return o.blame == blame; });
    if (found) {
      return blame;
    }
  }
  return outputs.empty() ? Blame::unknown : Blame::none;
}

std::size_t CheckOpResult::count(Blame blame) const {
  return static_cast<std::size_t>(
      std::count_if(operators.begin(), operators.end(),
                    [&](const CheckedOperator& op) { return op.blame() == blame; }));
}

std::size_t CheckOpResult::checked() const {
  const auto known = [](const CheckedOutput& output) { return output.blame != Blame::unknown; };
  return static_cast<std::size_t>(
      std::count_if(operators.begin(), operators.end(), [&](const CheckedOperator& op) {
        return std::any_of(op.outputs.begin(), op.outputs.end(), known);
      }));
}

}  // namespace opdrift::diagnose
