#include "opdrift/verdict/lineage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/explain/number_format.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::verdict {

namespace {

using metrics::SideStats;
using refit::number;

constexpr std::size_t kNone = ~std::size_t{0};
constexpr double kRoom = 2.0;            // less than one binade to the limit is worth a word
constexpr double kNoRoom = 1.005;        // a factor of 1.00 says nothing
constexpr double kManySubnormals = 0.1;  // share of the elements

std::uint64_t infinities(const SideStats& stats) {
  return stats.classes.positive_inf + stats.classes.negative_inf;
}

bool nonfinite(const SideStats* stats) {
  return stats != nullptr && stats->classes.nan + infinities(*stats) > 0;
}

std::string named(const Problem& problem, std::size_t op) {
  const graph::Operator* described = problem.operators[op].op;
  return described == nullptr ? "operator " + std::to_string(op)
                              : described->type + " \"" + described->name + "\"";
}

std::string plural(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word;
}

/// The walk over one side.
class Tracer {
 public:
  Tracer(const Problem& problem, const StatsLookup& lookup, RunSide side)
      : problem_(&problem), lookup_(&lookup), side_(side), tainted_(problem.values.size(), false) {
    from_.resize(problem.values.size(), kNone);
  }

  OverflowLineage trace() {
    // A NaN in a network input or a parameter is nobody's fault here.
    for (ValueId value = 0; value < problem_->values.size(); ++value) {
      tainted_[value] = problem_->values[value].role != ProblemValue::Role::computed &&
                        nonfinite((*lookup_)(side_, value));
    }
    for (std::size_t op = 0; op < problem_->operators.size(); ++op) {
      visit(op);
    }
    if (!lineage_.origins.empty()) {
      find_path();
      lineage_.sentence = sentence();
    }
    return std::move(lineage_);
  }

 private:
  void visit(std::size_t op) {
    const ProblemOperator& node = problem_->operators[op];
    const bool carried = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return input != kAbsent && tainted_[input];
    });
    bool passes_on = false;
    for (const ValueId output : node.outputs) {
      if (output == kAbsent) {
        continue;
      }
      const SideStats* stats = (*lookup_)(side_, output);
      // What was not dumped may carry what came in.
      tainted_[output] = stats == nullptr ? carried : nonfinite(stats);
      passes_on = passes_on || (carried && tainted_[output]);
      from_[output] = op;
      if (nonfinite(stats) && !carried) {
        lineage_.origins.push_back(origin(op, output, *stats));
      }
    }
    if (passes_on) {
      lineage_.spread.push_back(op);
    }
  }

  OverflowOrigin origin(std::size_t op, ValueId output, const SideStats& stats) const {
    OverflowOrigin found{.op = op, .value = output, .nan = stats.classes.nan};
    found.inf = infinities(stats);
    found.inputs_known = true;
    found.largest_input = metrics::kNan;
    for (const ValueId input : problem_->operators[op].inputs) {
      if (input == kAbsent) {
        continue;
      }
      const SideStats* known = (*lookup_)(side_, input);
      found.inputs_known = found.inputs_known && known != nullptr;
      if (known != nullptr && known->finite > 0) {
        found.largest_input = std::fmax(found.largest_input, known->max_abs());
      }
    }
    found.in_golden = side_ == RunSide::target && nonfinite((*lookup_)(RunSide::golden, output));
    found.sentence = origin_text(found);
    return found;
  }

  std::string origin_text(const OverflowOrigin& found) const {
    std::string made = found.inf > 0 ? plural(found.inf, "Inf") : "";
    if (found.nan > 0) {
      made += (made.empty() ? "" : " and ") + plural(found.nan, "NaN");
    }
    std::string text =
        named(*problem_, found.op) + " makes " + made +
        (found.inputs_known ? " from finite inputs" : ", and some inputs were not dumped");
    if (!std::isnan(found.largest_input)) {
      text += " (largest |input| " + number(found.largest_input, 6) + ")";
    }
    const SideStats* golden = (*lookup_)(RunSide::golden, found.value);
    if (found.in_golden) {
      text += "; the golden has them as well";
    } else if (side_ == RunSide::target && golden != nullptr && golden->finite > 0) {
      text += "; the golden's largest |value| there is " + number(golden->max_abs(), 6);
    }
    return text;
  }

  // Breadth first from the origin's value along values that carry NaN or Inf.
  void find_path() {
    const OverflowOrigin& first = lineage_.origins.front();
    std::vector<std::size_t> previous(problem_->operators.size(), kNone);
    std::vector<bool> reached(problem_->values.size(), false);
    reached[first.value] = true;
    std::size_t last = problem_->values[first.value].network_output ? first.op : kNone;
    for (std::size_t op = first.op + 1; op < problem_->operators.size() && last == kNone; ++op) {
      const ProblemOperator& node = problem_->operators[op];
      for (const ValueId input : node.inputs) {
        if (input == kAbsent || !reached[input]) {
          continue;
        }
        previous[op] = from_[input];
        for (const ValueId output : node.outputs) {
          if (output != kAbsent && tainted_[output]) {
            reached[output] = true;
            last = problem_->values[output].network_output ? op : last;
          }
        }
        break;
      }
    }
    for (std::size_t op = last; op != kNone; op = op == first.op ? kNone : previous[op]) {
      lineage_.path.push_back(op);
    }
    std::reverse(lineage_.path.begin(), lineage_.path.end());
    find_turn();
  }

  void find_turn() {
    if (lineage_.origins.front().nan > 0) {
      return;
    }
    for (const std::size_t op : lineage_.path) {
      for (const ValueId output : problem_->operators[op].outputs) {
        const SideStats* stats = output == kAbsent ? nullptr : (*lookup_)(side_, output);
        if (stats != nullptr && stats->classes.nan > 0) {
          lineage_.turns_nan = op;
          return;
        }
      }
    }
  }

  std::string sentence() const {
    std::string text = lineage_.origins.front().sentence;
    if (lineage_.turns_nan.has_value()) {
      text += "; Inf becomes NaN in " + named(*problem_, *lineage_.turns_nan);
    }
    if (lineage_.path.size() > 1) {
      text += "; reaches the network's output through " +
              plural(lineage_.path.size() - 1,
                     lineage_.path.size() == 2 ? "operator, " : "operators, last ") +
              named(*problem_, lineage_.path.back());
    } else if (lineage_.path.empty()) {
      text += "; no network output is touched";
    }
    if (lineage_.origins.size() > 1) {
      const std::size_t others = lineage_.origins.size() - 1;
      text += "; " + plural(others, others == 1 ? "more operator does so on its own"
                                                : "more operators do so on their own");
    }
    return text;
  }

  const Problem* problem_;
  const StatsLookup* lookup_;
  RunSide side_;
  std::vector<bool> tainted_;      // values with NaN or Inf, or unknown behind one
  std::vector<std::size_t> from_;  // operator that makes a value
  OverflowLineage lineage_;
};

std::string headroom_text(const Problem& problem, const Headroom& row, bool supposed) {
  const std::string name = problem.values[row.value].name;
  const std::string type(tensor::name_of(row.dtype));
  if (row.ratio < 1.0) {
    return name + ": " + number(row.amax, 6) + " does not fit " + type + " (largest " +
           number(replay::largest_finite(row.dtype), 6) + ")";
  }
  if (row.saturated > 0 && !supposed) {
    return name + ": " + plural(row.saturated, "elements stand at the limit of ") + type;
  }
  if (row.ratio < kNoRoom) {
    return name + ": " + number(row.amax, 6) + " is at the limit of " + type + " (" +
           number(replay::largest_finite(row.dtype), 6) + ")";
  }
  if (row.ratio < kRoom) {
    return name + ": " + number(row.amax, 6) + " is within a factor of " + number(row.ratio, 3) +
           " of the limit of " + type;
  }
  if (row.subnormal_share > kManySubnormals) {
    return name + ": " + number(100.0 * row.subnormal_share, 3) +
           " % of the elements are subnormal in " + type;
  }
  return "";
}

/// Types that a constant goes to, and what it is there.
std::string constant_text(const Problem& problem, const LargeConstant& constant,
                          tensor::DType dtype) {
  std::string readers;
  for (const ProblemOperator& node : problem.operators) {
    if (readers.empty() && node.op != nullptr &&
        std::find(node.inputs.begin(), node.inputs.end(), constant.value) != node.inputs.end()) {
      readers = ", read by " + node.op->type + " \"" + node.op->name + "\"";
    }
  }
  const std::string type(tensor::name_of(dtype));
  const std::string fate = std::isinf(constant.becomes)
                               ? std::string(constant.becomes < 0.0 ? "-Inf" : "Inf")
                               : number(constant.becomes, 6);
  return "constant " + problem.values[constant.value].name + readers + " holds " +
         number(constant.extreme, 6) + ", which becomes " + fate + " in " + type +
         (constant.extreme < 0.0 ? "; a mask needs no more than -1e4" : "");
}

}  // namespace

OverflowLineage trace_overflow(const Problem& problem, const StatsLookup& lookup, RunSide side) {
  return Tracer(problem, lookup, side).trace();
}

std::vector<Headroom> headroom(const Problem& problem, const StatsLookup& lookup, RunSide side,
                               std::optional<tensor::DType> supposed) {
  std::vector<Headroom> rows;
  for (ValueId value = 0; value < problem.values.size(); ++value) {
    const SideStats* stats = lookup(side, value);
    const bool usable = stats != nullptr && stats->finite > 0 && tensor::is_floating(stats->dtype);
    const double limit = usable ? replay::largest_finite(supposed.value_or(stats->dtype)) : 0.0;
    if (!usable || !(limit > 0.0)) {
      continue;
    }
    Headroom row{.value = value, .dtype = supposed.value_or(stats->dtype)};
    row.amax = stats->max_abs();
    row.ratio = row.amax > 0.0 ? limit / row.amax : std::numeric_limits<double>::infinity();
    row.subnormal_share = supposed.has_value() ? metrics::kNan
                                               : static_cast<double>(stats->classes.subnormal) /
                                                     static_cast<double>(stats->finite);
    row.saturated = supposed.has_value() ? 0 : stats->classes.saturated;
    row.sentence = headroom_text(problem, row, supposed.has_value());
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Headroom& one, const Headroom& other) {
    return one.ratio < other.ratio;
  });
  return rows;
}

std::vector<LargeConstant> large_constants(const Problem& problem, const StatsLookup& lookup,
                                           tensor::DType dtype) {
  std::vector<LargeConstant> constants;
  for (ValueId value = 0; value < problem.values.size(); ++value) {
    if (problem.values[value].role != ProblemValue::Role::parameter) {
      continue;
    }
    const SideStats* stats = lookup(RunSide::golden, value);
    if (stats == nullptr || stats->finite == 0 || !tensor::is_floating(stats->dtype)) {
      continue;
    }
    LargeConstant constant{.value = value};
    constant.extreme = std::abs(stats->min) > std::abs(stats->max) ? stats->min : stats->max;
    constant.becomes = replay::round_to(constant.extreme, dtype);
    const double limit = replay::largest_finite(dtype);
    if (std::abs(constant.extreme) > limit) {
      constant.sentence = constant_text(problem, constant, dtype);
      constants.push_back(std::move(constant));
    }
  }
  return constants;
}

Result<NarrowingEffect> narrowing_effect(const tensor::View& view, tensor::DType dtype) {
  OPDRIFT_TRY(const refit::Values values, refit::Values::of(view));
  const refit::NumberFormat format = refit::format_of(dtype);
  const double smallest = replay::smallest_normal(dtype);
  NarrowingEffect effect;
  double error2 = 0.0;
  double norm2 = 0.0;
  std::array<double, refit::kTile> tile = {};
  for (std::uint64_t at = 0; at < values.count(); at += refit::kTile) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(refit::kTile, values.count() - at));
    values.read(at, count, tile.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(tile[i])) {
        continue;
      }
      ++effect.finite;
      const double rounded = refit::nearest(tile[i], format);
      if (format.max_finite > 0.0 && std::abs(rounded) > format.max_finite) {
        ++effect.overflows;
        continue;
      }
      effect.subnormals += tile[i] != 0.0 && std::abs(rounded) < smallest ? 1U : 0U;
      effect.flushed += tile[i] != 0.0 && rounded == 0.0 ? 1U : 0U;
      error2 += (rounded - tile[i]) * (rounded - tile[i]);
      norm2 += tile[i] * tile[i];
    }
  }
  effect.relative_l2 = norm2 > 0.0 ? std::sqrt(error2 / norm2) : 0.0;
  return effect;
}

}  // namespace opdrift::verdict
