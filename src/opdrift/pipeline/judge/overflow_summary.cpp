#include "opdrift/pipeline/judge/overflow_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "opdrift/base/parallel.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/lineage.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::RunSide;
using verdict::ValueId;

constexpr std::size_t kMostNotes = 20;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 17;  // elements looked at together
constexpr std::uint64_t kGlance = std::uint64_t{1} << 12;
constexpr std::uint64_t kGlances = 64;

/// `count` elements of a tensor whose logical order is the stored one.
Result<tensor::View> piece_of(const tensor::View& view, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t width = tensor::info(view.tensor.desc.dtype).bits / 8;
  tensor::Tensor piece;
  piece.desc.dtype = view.tensor.desc.dtype;
  piece.desc.big_endian = view.tensor.desc.big_endian;
  piece.desc.shape = {count};
  piece.bytes = view.tensor.bytes;
  piece.bytes.span = piece.bytes.span.subspan(first * width, count * width);
  return tensor::stored_view(piece);
}

/// Extremes and classes of a tensor, piece by piece so that it passes through the cache; `glance`:
/// of pieces spread over a large one, enough for a mask or a scale that is out of range.
std::optional<metrics::SideStats> range_of(const tensor::View& view, bool glance) {
  const bool apart =
      view.contiguous() && view.offset == 0 && tensor::info(view.tensor.desc.dtype).bits % 8 == 0;
  const bool spread = glance && apart && view.count() > kGlance * kGlances;
  const std::uint64_t piece = spread ? kGlance : apart ? kPiece : view.count();
  const std::uint64_t step = spread ? view.count() / kGlances : piece;
  metrics::SideStats all;
  all.dtype = view.tensor.desc.dtype;
  for (std::uint64_t first = 0; first < view.count(); first += step) {
    const std::uint64_t count = std::min(piece, view.count() - first);
    const auto part = apart ? piece_of(view, first, count) : Result<tensor::View>(view);
    const auto stats =
        part ? metrics::measure_side(*part) : Result<metrics::SideStats>(part.error());
    if (!stats) {
      return std::nullopt;
    }
    all.finite += stats->finite;
    all.min = std::fmin(all.min, stats->min);
    all.max = std::fmax(all.max, stats->max);
    all.classes.nan += stats->classes.nan;
    all.classes.positive_inf += stats->classes.positive_inf;
    all.classes.negative_inf += stats->classes.negative_inf;
  }
  return all;
}

/// Statistics of the values of a graph: of rows from their measurements, of parameters from one
/// look at them.
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

  /// Looks at the parameters that something may be said about: what the target's type cannot hold,
  /// and, where the target has NaN or Inf, where these come from; those are then read whole.
  void measure_parameters(std::size_t jobs) {
    const double limit = replay::largest_finite(target_type());
    const bool all = has_nonfinite();
    std::vector<ValueId> wanted;
    for (ValueId value = 0; value < problem_.problem.values.size(); ++value) {
      const auto& view = problem_.parameters[value];
      if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter && view &&
          (all || exceeds(view->tensor.desc.dtype, limit))) {
        wanted.push_back(value);
      }
    }
    std::vector<std::optional<metrics::SideStats>> found(wanted.size());
    parallel_for(wanted.size(), jobs, [&](std::size_t i) {
      found[i] = range_of(*problem_.parameters[wanted[i]], !all);
    });
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      parameters_[wanted[i]] = found[i];
    }
  }

 private:
  static bool exceeds(tensor::DType dtype, double limit) {
    return tensor::is_floating(dtype) && replay::largest_finite(dtype) > limit;
  }

  bool has_nonfinite() const {
    return std::any_of(
        result_.tensors.begin(), result_.tensors.end(), [](const verdict::TensorResult& row) {
          return row.measurement && row.measurement->target.finite < row.measurement->count;
        });
  }

  const metrics::SideStats* of_parameter(ValueId value) const {
    const auto known = parameters_.find(value);
    return known != parameters_.end() && known->second ? &*known->second : nullptr;
  }

  const GraphProblem& problem_;
  const PairValues& values_;
  const verdict::RunResult& result_;
  std::unordered_map<ValueId, std::optional<metrics::SideStats>> parameters_;
};

}  // namespace

verdict::OverflowSummary overflow_summary(const GraphProblem& problem, const PairValues& values,
                                          const verdict::RunResult& result, std::size_t jobs) {
  Statistics statistics(problem, values, result);
  statistics.measure_parameters(jobs);
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
