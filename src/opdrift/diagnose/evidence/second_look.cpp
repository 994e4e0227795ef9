#include "opdrift/diagnose/evidence/second_look.hpp"

#include "opdrift/diagnose/evidence/ranges.hpp"
#include "opdrift/diagnose/evidence/tensor_pair.hpp"
#include "opdrift/diagnose/flow/classes.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr std::size_t kMostOperators = 32;

void look_at(const verdict::TensorResult& row, bool places, flow::OperatorFacts& op) {
  const auto pair = load_pair(row);
  if (!pair) {
    return;
  }
  if (const auto counts = count_ranges(*pair)) {
    add_ranges(*counts, op.numbers);
  }
  if (!places) {
    return;
  }
  if (const auto found = describe_places(*pair)) {
    op.places.insert(op.places.end(), found->begin(), found->end());
  }
}

}  // namespace

void look_again(const verdict::RunResult& result, double limit, bool places,
                ComparedOperators& compared) {
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i < compared.operators.size() && looked_at < kMostOperators; ++i) {
    flow::OperatorFacts& op = compared.operators[i];
    if (!flow::is_different(op, limit)) {
      continue;
    }
    ++looked_at;
    for (const std::size_t row : compared.output_rows[i]) {
      if (!result.tensors[row].statistics_only) {
        look_at(result.tensors[row], places, op);
      }
    }
  }
}

}  // namespace opdrift::diagnose::evidence
