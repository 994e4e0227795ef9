#include <algorithm>
#include <numeric>

#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/partial/plan.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::replay::partial {

namespace {

// y of a row = sum of x times weight; the weights are the second input.
Result<Outputs> weighted_rows(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* weights, call.need(1, "weights"));
  const std::size_t taps = x->shape.back();
  OPDRIFT_TRY(Array y, call.make({x->shape.front()}, x->dtype));
  for (std::size_t i = 0; i < x->size(); ++i) {
    // An infinity under a weight of zero must not become a NaN.
    if (weights->values[i] != 0.0) {
      y.values[i / taps] += weights->values[i] * x->values[i];
    }
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

Result<Terms> weighted_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* weights, call.need(1, "weights"));
  const std::size_t taps = x->shape.back();
  Terms terms;
  terms.n = static_cast<double>(taps);
  terms.a2.assign(y.size(), 0.0);
  for (std::size_t i = 0; i < x->size(); ++i) {
    const double product = weights->values[i] == 0.0 ? 0.0 : weights->values[i] * x->values[i];
    terms.a2[i / taps] += product * product;
  }
  return terms;
}

constexpr OperatorKind kWindowMean = {"AveragePool",
                                      "",
                                      "",
                                      "",
                                      "mean under a window",
                                      Family::mean,
                                      0.5,
                                      false,
                                      {},
                                      weighted_rows,
                                      nullptr,
                                      weighted_terms};
// The inputs behind the weights are what these change by as places round, axis by axis.
Result<Terms> resampled_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(Terms terms, weighted_terms(call, index, y));
  terms.extra.assign(y.size(), 0.0);
  for (std::size_t axis = 2; axis < call.inputs.size(); ++axis) {
    const std::vector<const Array*> inputs = {call.input(0), call.input(axis)};
    OPDRIFT_TRY(const Outputs changes, weighted_rows(Call{call.op, inputs, {}, call.limits}));
    for (std::size_t i = 0; i < y.size(); ++i) {
      terms.extra[i] += changes.front().values[i] * changes.front().values[i];
    }
  }
  return terms;
}

constexpr OperatorKind kResampled = {"Resize",    "",
                                     "",          "",
                                     "resamples", Family::add_like,
                                     4.0,         false,
                                     {},          weighted_rows,
                                     nullptr,     resampled_terms};

/// Elements under the windows of all wanted positions, one row each, rows filled up with their
/// first element.
struct Rows {
  std::size_t taps = 0;
  std::vector<std::uint64_t> positions;
  std::vector<double> weights;
  std::vector<std::vector<double>> slopes;  ///< per resampled axis, like the weights

  void add(std::span<const std::uint64_t> places, std::span<const double> factors) {
    for (std::size_t k = 0; k < taps; ++k) {
      const bool filled = k < places.size();
      positions.push_back(filled ? places[k] : places.front());
      weights.push_back(filled && k < factors.size() ? factors[k] : 0.0);
    }
  }
};

PartialInput rows_of(const Request& request, std::size_t source, Rows& rows) {
  PartialInput input = gathered(source, std::move(rows.positions));
  input.shape = {request.random.size() + request.chosen.size(), rows.taps};
  return input;
}

std::optional<Partial> weighted(const Request& request, const OperatorKind& kind, Rows rows) {
  Partial partial = request.start_at_all();
  partial.kind = &kind;
  partial.inputs.push_back(rows_of(request, 0, rows));
  rows.slopes.insert(rows.slopes.begin(), std::move(rows.weights));
  for (std::vector<double>& factors : rows.slopes) {
    PartialInput weights;
    weights.present = true;
    weights.literal = std::move(factors);
    weights.shape = partial.inputs.front().shape;
    partial.inputs.push_back(std::move(weights));
  }
  return partial;
}

// Gathers the taps of every wanted position; false where one has none.
bool gather_taps(const Request& request, const Pool& pool, bool mean, Rows& rows) {
  rows.taps = pool.window.kernel_count();
  const std::uint64_t outputs = pool.window.output_count();
  const std::uint64_t inputs = pool.window.input_count();
  std::vector<Tap> taps;
  std::vector<std::uint64_t> places;
  std::vector<double> factors;
  for (const std::uint64_t position : request.all()) {
    const auto place = static_cast<std::size_t>(position % outputs);
    taps_at(pool.window, place, taps);
    if (taps.empty()) {
      return false;
    }
    places.clear();
    for (const Tap& tap : taps) {
      places.push_back(position / outputs * inputs + tap.input);
    }
    factors.assign(mean ? taps.size() : 0, mean ? 1.0 / pool_divisor(pool, taps, place) : 0.0);
    rows.add(places, factors);
  }
  return true;
}

std::optional<Rows> pool_rows(const Request& request, bool mean) {
  constexpr std::uint64_t kLargestWindow = 1024;
  const Result<Pool> pool = plan_pool(request.call);
  if (!pool || pool->shape != request.output || pool->window.kernel_count() > kLargestWindow) {
    return std::nullopt;
  }
  Rows rows;
  return gather_taps(request, *pool, mean, rows) ? std::optional(std::move(rows)) : std::nullopt;
}

}  // namespace

std::optional<Partial> plan_max_pool(const Request& request) {
  std::optional<Rows> rows = pool_rows(request, false);
  if (!rows) {
    return std::nullopt;
  }
  Partial partial = request.start_at_all();
  partial.kind = find_kind("ReduceMax", Dialect::onnx);
  partial.op = graph::Operator{};
  partial.op.name = request.call.op.name;
  partial.op.type = "ReduceMax";
  partial.op.outputs.resize(1);
  set_axis(partial.op, "axes", 1, true);
  graph::Attribute keep;
  keep.kind = graph::Attribute::Kind::integer;
  keep.integers = {0};
  partial.op.attributes["keepdims"] = keep;
  partial.inputs.push_back(rows_of(request, 0, *rows));
  return partial;
}

std::optional<Partial> plan_average_pool(const Request& request) {
  std::optional<Rows> rows = pool_rows(request, true);
  return rows ? weighted(request, kWindowMean, std::move(*rows)) : std::nullopt;
}

namespace {

/// One tap of the product of all axes.
struct Spot {
  std::uint64_t place = 0;
  double weight = 1.0;
  std::vector<double> slopes;  ///< per resampled axis
};

constexpr std::size_t kKept = ~std::size_t{0};

// Multiplies the spots by the taps of one more axis, the `number`-th that is resampled or kKept;
// false where a tap lies outside.
bool spread_over(std::vector<Spot>& spots, const AxisTaps& taps, std::uint64_t stride,
                 std::size_t number) {
  std::vector<Spot> wider;
  for (const Spot& spot : spots) {
    for (std::size_t k = 0; k < taps.at.size(); ++k) {
      Spot next{spot.place + taps.at[k] * stride, spot.weight * taps.weight[k], spot.slopes};
      for (std::size_t i = 0; i < next.slopes.size(); ++i) {
        next.slopes[i] *= i == number ? taps.slope[k] : taps.weight[k];
      }
      wider.push_back(std::move(next));
    }
  }
  spots = std::move(wider);
  return !taps.outside;
}

void add_spots(const std::vector<Spot>& spots, Rows& rows) {
  std::vector<std::uint64_t> places;
  std::vector<double> factors;
  for (const Spot& spot : spots) {
    places.push_back(spot.place);
    factors.push_back(spot.weight);
  }
  rows.add(places, factors);
  for (std::size_t axis = 0; axis < rows.slopes.size(); ++axis) {
    for (std::size_t k = 0; k < rows.taps; ++k) {
      rows.slopes[axis].push_back(k < spots.size() ? spots[k].slopes[axis] : 0.0);
    }
  }
}

}  // namespace

std::optional<Partial> plan_resize(const Request& request) {
  constexpr std::size_t kMostTaps = 64;
  const Array* x = request.call.input(0);
  const Result<Resampling> resampling = resampling_of(request.call);
  if (!resampling || x == nullptr || x->shape.size() != request.output.size()) {
    return std::nullopt;
  }
  const Strides strides = strides_of(x->shape);
  Rows rows;
  rows.taps = 1;
  std::size_t resampled = 0;
  for (std::size_t axis = 0; axis < x->shape.size(); ++axis) {
    const std::vector<AxisTaps>& taps = resampling->axes[axis];
    if ((taps.empty() ? x->shape[axis] : taps.size()) != request.output[axis]) {
      return std::nullopt;
    }
    std::size_t count = 1;
    for (const AxisTaps& own : taps) {
      count = std::max(count, own.at.size());
    }
    rows.taps *= count;
    resampled += taps.empty() ? 0U : 1U;
  }
  rows.slopes.resize(resampling->nearest ? 0 : resampled);
  if (rows.taps > kMostTaps) {
    return std::nullopt;
  }
  for (std::uint64_t position : request.all()) {
    std::vector<Spot> spots(1);
    spots.front().slopes.assign(rows.slopes.size(), 1.0);
    std::size_t number = 0;
    for (std::size_t axis = x->shape.size(); axis-- > 0;) {
      const std::uint64_t at = position % request.output[axis];
      position /= request.output[axis];
      const AxisTaps kept{{at}, {1.0}, {0.0}};
      const std::vector<AxisTaps>& taps = resampling->axes[axis];
      if (!spread_over(spots, taps.empty() ? kept : taps[at],
                       static_cast<std::uint64_t>(strides[axis]), taps.empty() ? kKept : number)) {
        return std::nullopt;
      }
      number += taps.empty() ? 0U : 1U;
    }
    add_spots(spots, rows);
  }
  if (rows.taps == 1 && resampling->nearest) {
    return as_identity(request, gathered(0, std::move(rows.positions)));
  }
  return weighted(request, kResampled, std::move(rows));
}

}  // namespace opdrift::replay::partial
