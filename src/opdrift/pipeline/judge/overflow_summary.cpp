#include "opdrift/pipeline/judge/overflow_summary.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "opdrift/metrics/measure.hpp"
#include "opdrift/verdict/lineage.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::RunSide;
using verdict::ValueId;

constexpr std::size_t kMostNotes = 20;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 22;

/// Statistics of the values of a graph: of rows from their measurements, of parameters measured
/// when they are first asked for.
class Statistics {
 public:
  Statistics(const GraphProblem& problem, const PairValues& values,
             const verdict::RunResult& result)
      : problem_(problem), values_(values), result_(result) {}

  const metrics::SideStats* of(RunSide side, ValueId value) {
    if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
      return of_parameter(value);
    }
    const auto row = values_.row_of(value);
    if (!row || !result_.tensors[*row].measurement) {
      return nullptr;
    }
    const metrics::Measurement& measurement = *result_.tensors[*row].measurement;
    return side == RunSide::golden ? &measurement.golden : &measurement.target;
  }

  /// The type most of the target's float tensors are stored in.
  tensor::DType target_type() const {
    std::map<tensor::DType, std::size_t> counts;
    for (const verdict::TensorResult& row : result_.tensors) {
      if (row.measurement && tensor::info(row.measurement->target.dtype).unit_roundoff > 0.0) {
        ++counts[row.measurement->target.dtype];
      }
    }
    tensor::DType most = tensor::DType::f32;
    std::size_t largest = 0;
    for (const auto& [dtype, count] : counts) {
      if (count > largest) {
        most = dtype;
        largest = count;
      }
    }
    return most;
  }

 private:
  const metrics::SideStats* of_parameter(ValueId value) {
    const auto [known, added] = parameters_.try_emplace(value);
    if (added && problem_.parameters[value] &&
        problem_.parameters[value]->count() <= kMostElements) {
      if (auto stats = metrics::measure_side(*problem_.parameters[value])) {
        known->second = *stats;
      }
    }
    return known->second ? &*known->second : nullptr;
  }

  const GraphProblem& problem_;
  const PairValues& values_;
  const verdict::RunResult& result_;
  std::unordered_map<ValueId, std::optional<metrics::SideStats>> parameters_;
};

}  // namespace

verdict::OverflowSummary overflow_summary(const GraphProblem& problem, const PairValues& values,
                                          const verdict::RunResult& result) {
  Statistics statistics(problem, values, result);
  const verdict::StatsLookup lookup = [&](RunSide side, ValueId value) {
    return statistics.of(side, value);
  };
  verdict::OverflowSummary summary;
  const verdict::OverflowLineage lineage =
      verdict::trace_overflow(problem.problem, lookup, RunSide::target);
  summary.sentence = lineage.sentence;
  for (const std::size_t op : lineage.path) {
    summary.path.push_back(problem.problem.operators[op].op->name);
  }
  for (verdict::Headroom& room : verdict::headroom(problem.problem, lookup, RunSide::target)) {
    const auto role = problem.problem.values[room.value].role;
    if (!room.sentence.empty() && summary.headroom.size() < kMostNotes &&
        role != verdict::ProblemValue::Role::parameter) {
      summary.headroom.push_back({problem.problem.values[room.value].name, room.amax, room.ratio,
                                  std::move(room.sentence)});
    }
  }
  const tensor::DType type = statistics.target_type();
  for (verdict::LargeConstant& constant : verdict::large_constants(problem.problem, lookup, type)) {
    if (summary.constants.size() < kMostNotes) {
      summary.constants.push_back({problem.problem.values[constant.value].name, constant.extreme,
                                   0.0, std::move(constant.sentence)});
    }
  }
  return summary;
}

}  // namespace opdrift::pipeline
