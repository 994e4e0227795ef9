#include "opdrift/diagnose/evidence/second_look.hpp"

#include <algorithm>
#include <optional>

#include "opdrift/diagnose/evidence/foreign.hpp"
#include "opdrift/diagnose/evidence/ranges.hpp"
#include "opdrift/diagnose/evidence/tensor_pair.hpp"
#include "opdrift/diagnose/flow/classes.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr std::size_t kMostOperators = 32;
constexpr std::size_t kMostForeign = 8;
// An operator whose output is closer than this to the reference holds no other data.
constexpr double kForeignCosine = 0.9;

/// Its error is large and its own, so that its memory may hold something else.
bool may_be_foreign(const flow::OperatorFacts& op, double limit) {
  return flow::is_different(op, std::min(limit, kForeignCosine)) && !flow::has_bad_input(op, limit);
}

class Looker {
 public:
  Looker(const verdict::RunResult& result, const SecondLook& look, const CollectOptions& options)
      : result_(result), look_(look), options_(options) {}

  Status run(ComparedOperators& compared) {
    std::size_t looked_at = 0;
    for (std::size_t i = 0; i < compared.operators.size() && looked_at < kMostOperators; ++i) {
      flow::OperatorFacts& op = compared.operators[i];
      if (!flow::is_different(op, look_.limit)) {
        continue;
      }
      ++looked_at;
      const bool foreign =
          look_.foreign && may_be_foreign(op, look_.limit) && foreign_++ < kMostForeign;
      for (const std::size_t row : compared.output_rows[i]) {
        if (!result_.tensors[row].statistics_only) {
          OPDRIFT_CHECK_OK(look_at(result_.tensors[row], foreign, op));
        }
      }
    }
    return Unit{};
  }

 private:
  Status look_at(const verdict::TensorResult& row, bool foreign, flow::OperatorFacts& op) {
    const auto pair = load_pair(row);
    if (!pair) {
      return Unit{};
    }
    if (const auto counts = count_ranges(*pair)) {
      add_ranges(*counts, op.numbers);
    }
    const auto places = look_.places ? describe_places(*pair) : std::vector<std::string>{};
    if (places) {
      op.places.insert(op.places.end(), places->begin(), places->end());
    }
    return foreign ? add_foreign(*pair, row.label(), op) : Status(Unit{});
  }

  Status add_foreign(const pipeline::AlignedPair& pair, const std::string& label,
                     flow::OperatorFacts& op) {
    if (!known_) {
      auto read = DumpFingerprints::read(look_.candidate, options_.jobs, options_.cancel);
      if (!read) {
        return read.error();
      }
      known_ = std::move(*read);
    }
    const std::vector<std::string> found = known_->look_at(pair, label);
    op.foreign.insert(op.foreign.end(), found.begin(), found.end());
    return Unit{};
  }

  const verdict::RunResult& result_;
  const SecondLook& look_;
  const CollectOptions& options_;
  std::optional<DumpFingerprints> known_;
  std::size_t foreign_ = 0;
};

}  // namespace

Status look_again(const verdict::RunResult& result, const SecondLook& look,
                  const CollectOptions& options, ComparedOperators& compared) {
  return Looker(result, look, options).run(compared);
}

}  // namespace opdrift::diagnose::evidence
