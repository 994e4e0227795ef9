#include "unit/metrics/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::metrics::testing {

namespace {

using tensor::DType;

using Wide = long double;

Wide wide(double value) {
  return static_cast<Wide>(value);
}

struct Pair {
  double golden;
  double target;
  std::uint64_t index;
};

bool finite(const Pair& pair) {
  return std::isfinite(pair.golden) && std::isfinite(pair.target);
}

int class_of(double v) {
  return std::isnan(v) ? 0 : std::isinf(v) ? (v > 0 ? 1 : 2) : 3;
}

void add_side(SideStats& stats, const std::vector<double>& values) {
  const tensor::DTypeInfo& row = tensor::info(tensor::component_dtype(stats.dtype));
  const bool floating = row.kind == tensor::DTypeKind::floating;
  Wide sum = 0;
  Wide squares = 0;
  for (const double v : values) {
    stats.classes.nan += std::isnan(v) ? 1U : 0U;
    stats.classes.positive_inf += std::isinf(v) && v > 0 ? 1U : 0U;
    stats.classes.negative_inf += std::isinf(v) && v < 0 ? 1U : 0U;
    if (!std::isfinite(v)) {
      continue;
    }
    stats.classes.zero += v == 0 ? 1U : 0U;
    stats.classes.subnormal += floating && v != 0 && std::abs(v) < row.min_normal ? 1U : 0U;
    stats.classes.saturated += floating && std::abs(v) == row.max_finite ? 1U : 0U;
    stats.min = stats.finite == 0 ? v : std::min(stats.min, v);
    stats.max = stats.finite == 0 ? v : std::max(stats.max, v);
    ++stats.finite;
    sum += wide(v);
    squares += wide(v) * wide(v);
  }
  stats.sum = static_cast<double>(sum);
  stats.sum_squares = static_cast<double>(squares);
  const Wide mean = stats.finite == 0 ? 0 : sum / static_cast<Wide>(stats.finite);
  Wide centred = 0;
  for (const double v : values) {
    centred += std::isfinite(v) ? (wide(v) - mean) * (wide(v) - mean) : 0;
  }
  stats.sum_centred_squares = static_cast<double>(centred);
}

/// Bit pattern of `value` on the number line of a format, found by encoding and, for the small
/// formats, by ranking all patterns.
std::int64_t rank_of(DType dtype, double value) {
  const double limit = tensor::info(dtype).max_finite;
  if (dtype == DType::f64) {
    const auto bits = std::bit_cast<std::int64_t>(std::abs(value));
    return value < 0 ? -bits : bits;
  }
  const auto stored = tensor::round_through(dtype, std::abs(value));
  std::int64_t rank = 0;
  if (dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16) {
    std::byte raw[4] = {};
    tensor::encode(dtype, &stored, 1, raw);
    std::uint32_t bits = 0;
    std::memcpy(&bits, raw, 4);
    rank = bits;
  } else {
    const auto codes = tensor::small_float_values(dtype);
    const bool beyond = !(stored <= limit);
    std::vector<double> below;
    for (const double v : codes) {
      if (std::isfinite(v) && v > 0 && (beyond || v <= stored)) {
        below.push_back(v);
      }
    }
    std::sort(below.begin(), below.end());
    rank = std::unique(below.begin(), below.end()) - below.begin() + (beyond ? 1 : 0);
  }
  return value < 0 ? -rank : rank;
}

DType unit_dtype(DType golden, DType target) {
  const tensor::DTypeInfo& g = tensor::info(tensor::component_dtype(golden));
  const tensor::DTypeInfo& t = tensor::info(tensor::component_dtype(target));
  const bool g_floats = g.kind == tensor::DTypeKind::floating;
  const bool t_floats = t.kind == tensor::DTypeKind::floating;
  if (g_floats && t_floats) {
    if (g.unit_roundoff != t.unit_roundoff) {
      return g.unit_roundoff > t.unit_roundoff ? g.dtype : t.dtype;
    }
    return g.max_finite < t.max_finite ? g.dtype : t.dtype;
  }
  return g_floats ? g.dtype : t_floats ? t.dtype : DType::raw;
}

void add_pair_counts(Measurement& m, const Pair& pair) {
  const double g = pair.golden;
  const double t = pair.target;
  m.class_mismatches += class_of(g) != class_of(t) ? 1U : 0U;
  m.equal_bits += std::bit_cast<std::uint64_t>(g) == std::bit_cast<std::uint64_t>(t) ? 1U : 0U;
  if (finite(pair)) {
    const double size = std::abs(t - g);
    m.within_1e3 += size == 0 || size / std::abs(g) <= 1e-3 ? 1U : 0U;
    m.within_5e3 += size == 0 || size / std::abs(g) <= 5e-3 ? 1U : 0U;
    return;
  }
  const int golden_row = std::isnan(g)                      ? 5
                         : std::isinf(g)                    ? (g > 0 ? 3 : 4)
                         : g == 0                           ? 0
                         : std::abs(g) <= kReferenceEpsilon ? 1
                                                            : 2;
  const int target_column = std::isnan(t) ? 3 : std::isinf(t) ? (t > 0 ? 1 : 2) : 0;
  ++m.nonfinite
        .counts[static_cast<std::size_t>(golden_row)][static_cast<std::size_t>(target_column)];
}

/// A tile: the multiple of 64 elements of a block, or what is left of it. Pairs that are not finite
/// are taken out, and the rest is cut again.
void add_tile(Measurement& m, std::vector<Pair> pairs, double& seen_squares, double& seen) {
  const std::size_t whole = pairs.size() / 64 * 64;
  const std::vector<Pair> parts[] = {{pairs.begin(), pairs.begin() + static_cast<long>(whole)},
                                     {pairs.begin() + static_cast<long>(whole), pairs.end()}};
  for (std::vector<Pair> part : parts) {
    if (!std::all_of(part.begin(), part.end(), finite)) {
      std::erase_if(part, [](const Pair& pair) { return !finite(pair); });
      add_tile(m, part, seen_squares, seen);
      continue;
    }
    double squares = 0;
    for (const Pair& pair : part) {
      squares += pair.golden * pair.golden;
    }
    const auto n = static_cast<double>(part.size());
    const double scale = squares > 0 ? std::sqrt(squares / n)
                         : seen > 0  ? std::sqrt(seen_squares / seen)
                                     : 0.0;
    for (const Pair& pair : part) {
      const double size = std::abs(pair.target - pair.golden);
      const double scaled = size == 0 ? 0 : size / std::max(std::abs(pair.golden), scale);
      if (m.max_scaled.index == kNoIndex || scaled > m.max_scaled.value) {
        m.max_scaled = {scaled, pair.index, pair.golden, pair.target};
      }
      if (m.max_abs.index == kNoIndex || size > m.max_abs.value) {
        m.max_abs = {size, pair.index, pair.golden, pair.target};
      }
    }
    seen_squares += squares;
    seen += n;
  }
}

double divergence(const std::vector<double>& golden, const std::vector<double>& target) {
  const auto normalised = [](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double range = *high - *low;
    const double shift = *low;
    std::vector<Wide> result;
    Wide sum = 0;
    for (const double v : values) {
      const Wide x = range != 0 ? (wide(v) - wide(shift)) / wide(range) : wide(v);
      result.push_back(std::max(x, 0x1p-23L));
      sum += result.back();
    }
    for (Wide& v : result) {
      v /= sum;
    }
    return result;
  };
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!std::isfinite(golden[i]) || !std::isfinite(target[i])) {
      return kNan;
    }
  }
  if (golden.empty()) {
    return kNan;
  }
  const auto q = normalised(golden);
  const auto p = normalised(target);
  Wide sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += p[i] * std::log(p[i] / q[i]);
  }
  return std::abs(sum) < 0x1p-52L ? 0.0 : static_cast<double>(sum);
}

void add_ulp(Measurement& m, const Pair& pair) {
  const std::int64_t g = rank_of(m.ulp_dtype, pair.golden);
  const std::int64_t t = rank_of(m.ulp_dtype, pair.target);
  const std::uint64_t distance =
      static_cast<std::uint64_t>(std::max(g, t)) - static_cast<std::uint64_t>(std::min(g, t));
  std::size_t bucket = 0;
  while (bucket + 1 < Measurement::kUlpBuckets && distance >> bucket != 0) {
    ++bucket;
  }
  ++m.ulp_histogram[bucket];
  m.max_ulp = std::max(m.max_ulp, distance);
}

/// |actual - expected| within `relative` of `scale`; NaN equals NaN, infinities themselves.
void near(const char* name, double actual, double expected, double relative, double scale) {
  if (std::isnan(expected) || std::isinf(expected)) {
    EXPECT_TRUE((std::isnan(expected) && std::isnan(actual)) || actual == expected)
        << name << " is " << actual << ", expected " << expected;
    return;
  }
  EXPECT_LE(std::abs(actual - expected), relative * std::abs(scale))
      << name << " is " << actual << ", expected " << expected;
}

void expect_same_classes(const SideStats& actual, const SideStats& expected) {
  EXPECT_EQ(actual.dtype, expected.dtype);
  EXPECT_EQ(actual.finite, expected.finite);
  EXPECT_EQ(actual.classes.nan, expected.classes.nan);
  EXPECT_EQ(actual.classes.positive_inf, expected.classes.positive_inf);
  EXPECT_EQ(actual.classes.negative_inf, expected.classes.negative_inf);
  EXPECT_EQ(actual.classes.zero, expected.classes.zero);
  EXPECT_EQ(actual.classes.subnormal, expected.classes.subnormal);
  EXPECT_EQ(actual.classes.saturated, expected.classes.saturated);
  near("min", actual.min, expected.min, 0.0, 1.0);
  near("max", actual.max, expected.max, 0.0, 1.0);
}

void expect_close_side(const SideStats& actual, const SideStats& expected) {
  expect_same_classes(actual, expected);
  const double norm = std::sqrt(expected.sum_squares * static_cast<double>(expected.finite));
  near("sum", actual.sum, expected.sum, 0x1p-36, norm);
  near("sum_squares", actual.sum_squares, expected.sum_squares, 0x1p-36, expected.sum_squares);
  near("sum_centred_squares", actual.sum_centred_squares, expected.sum_centred_squares, 0x1p-30,
       expected.sum_centred_squares + 0x1p-60 * expected.sum_squares);
}

}  // namespace

std::uint64_t Random::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_ * 0x2545f4914f6cdd1dULL;
}

double Random::uniform() {
  return static_cast<double>(static_cast<std::int64_t>(next())) * 0x1p-63;
}

Measurement oracle(DType golden_dtype, const std::vector<double>& golden, DType target_dtype,
                   const std::vector<double>& target, const OracleOptions& options) {
  Measurement m;
  m.count = golden.size();
  m.golden.dtype = golden_dtype;
  m.target.dtype = target_dtype;
  m.ulp_dtype = unit_dtype(golden_dtype, target_dtype);
  add_side(m.golden, golden);
  add_side(m.target, target);
  Wide sums[8] = {};
  Wide relative = 0;
  Wide above = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const Pair pair = {golden[i], target[i], i};
    add_pair_counts(m, pair);
    if (!finite(pair)) {
      continue;
    }
    ++m.finite_pairs;
    const double d = target[i] - golden[i];
    const Wide g = wide(golden[i]);
    const Wide t = wide(target[i]);
    const Wide e = wide(d);
    const Wide terms[] = {e, wide(std::abs(d)), e * e, g * g, t * t, g * t, g, t};
    for (std::size_t k = 0; k < 8; ++k) {
      sums[k] += terms[k];
    }
    if (golden[i] != 0) {
      const double r = std::abs(d) / std::abs(golden[i]);
      ++m.relative_pairs;
      relative += wide(r);
      m.max_relative = std::max(m.max_relative, r);
      if (std::abs(golden[i]) > kReferenceEpsilon) {
        above += wide(r);
        m.max_relative_above_epsilon = std::max(m.max_relative_above_epsilon, r);
      }
    }
    if (options.ulp && m.ulp_dtype != DType::raw) {
      add_ulp(m, pair);
    }
  }
  double* const fields[] = {&m.sum_d,       &m.sum_abs_d,   &m.sum_d2,     &m.sum_golden2,
                            &m.sum_target2, &m.sum_product, &m.sum_golden, &m.sum_target};
  for (std::size_t k = 0; k < 8; ++k) {
    *fields[k] = static_cast<double>(sums[k]);
  }
  m.sum_relative = static_cast<double>(relative);
  m.sum_relative_above_epsilon = static_cast<double>(above);
  double seen_squares = 0;
  double seen = 0;
  for (std::size_t first = 0; first < golden.size(); first += kTileElements) {
    std::vector<Pair> tile;
    for (std::size_t i = first; i < std::min(golden.size(), first + kTileElements); ++i) {
      tile.push_back({golden[i], target[i], i});
    }
    add_tile(m, tile, seen_squares, seen);
  }
  if (options.kl) {
    m.kl_divergence = divergence(golden, target);
  }
  return m;
}

void expect_close(const Measurement& actual, const Measurement& expected) {
  EXPECT_EQ(actual.count, expected.count);
  EXPECT_EQ(actual.finite_pairs, expected.finite_pairs);
  EXPECT_EQ(actual.class_mismatches, expected.class_mismatches);
  EXPECT_EQ(actual.equal_bits, expected.equal_bits);
  EXPECT_EQ(actual.relative_pairs, expected.relative_pairs);
  EXPECT_EQ(actual.nonfinite.counts, expected.nonfinite.counts);
  EXPECT_EQ(actual.ulp_dtype, expected.ulp_dtype);
  EXPECT_EQ(actual.ulp_histogram, expected.ulp_histogram);
  EXPECT_EQ(actual.max_ulp, expected.max_ulp);
  expect_close_side(actual.golden, expected.golden);
  expect_close_side(actual.target, expected.target);
  const double n = static_cast<double>(expected.finite_pairs);
  const double norms = std::sqrt(expected.sum_golden2) * std::sqrt(expected.sum_target2);
  near("sum_d", actual.sum_d, expected.sum_d, 0x1p-40, expected.sum_abs_d);
  near("sum_abs_d", actual.sum_abs_d, expected.sum_abs_d, 0x1p-40, expected.sum_abs_d);
  near("sum_d2", actual.sum_d2, expected.sum_d2, 0x1p-40, expected.sum_d2);
  near("sum_golden2", actual.sum_golden2, expected.sum_golden2, 0x1p-40, expected.sum_golden2);
  near("sum_target2", actual.sum_target2, expected.sum_target2, 0x1p-36, expected.sum_target2);
  near("sum_product", actual.sum_product, expected.sum_product, 0x1p-36, norms);
  near("sum_golden", actual.sum_golden, expected.sum_golden, 0x1p-40,
       std::sqrt(n * expected.sum_golden2));
  near("sum_target", actual.sum_target, expected.sum_target, 0x1p-36,
       std::sqrt(n * expected.sum_target2));
  near("sum_relative", actual.sum_relative, expected.sum_relative, 0x1p-21, expected.sum_relative);
  near("max_relative", actual.max_relative, expected.max_relative, 0x1p-22, expected.max_relative);
  near("sum_relative_above", actual.sum_relative_above_epsilon, expected.sum_relative_above_epsilon,
       0x1p-21, expected.sum_relative_above_epsilon);
  near("max_relative_above", actual.max_relative_above_epsilon, expected.max_relative_above_epsilon,
       0x1p-22, expected.max_relative_above_epsilon);
  // Membership is decided within 2^-23 of a limit, so a pair in a million may fall either way.
  near("within_1e3", static_cast<double>(actual.within_1e3),
       static_cast<double>(expected.within_1e3), 1.0, 1.0 + 1e-5 * n);
  near("within_5e3", static_cast<double>(actual.within_5e3),
       static_cast<double>(expected.within_5e3), 1.0, 1.0 + 1e-5 * n);
  near("max_abs", actual.max_abs.value, expected.max_abs.value, 0x1p-23, expected.max_abs.value);
  near("max_scaled", actual.max_scaled.value, expected.max_scaled.value, 0x1p-19,
       expected.max_scaled.value);
  near("kl", actual.kl_divergence, expected.kl_divergence, 1.0,
       0x1p-15 * std::abs(expected.kl_divergence) + 0x1p-34);
}

void expect_identical(const Measurement& left, const Measurement& right) {
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  EXPECT_TRUE(same(left.sum_d, right.sum_d));
  EXPECT_TRUE(same(left.sum_abs_d, right.sum_abs_d));
  EXPECT_TRUE(same(left.sum_d2, right.sum_d2));
  EXPECT_TRUE(same(left.sum_golden2, right.sum_golden2));
  EXPECT_TRUE(same(left.sum_target2, right.sum_target2));
  EXPECT_TRUE(same(left.sum_product, right.sum_product));
  EXPECT_TRUE(same(left.sum_golden, right.sum_golden));
  EXPECT_TRUE(same(left.sum_target, right.sum_target));
  EXPECT_TRUE(same(left.sum_relative, right.sum_relative));
  EXPECT_TRUE(same(left.max_relative, right.max_relative));
  EXPECT_TRUE(same(left.golden.sum_centred_squares, right.golden.sum_centred_squares));
  EXPECT_TRUE(same(left.target.sum_centred_squares, right.target.sum_centred_squares));
  EXPECT_TRUE(same(left.max_abs.value, right.max_abs.value));
  EXPECT_TRUE(same(left.max_scaled.value, right.max_scaled.value));
  EXPECT_TRUE(same(left.kl_divergence, right.kl_divergence));
  EXPECT_EQ(left.max_abs.index, right.max_abs.index);
  EXPECT_EQ(left.max_scaled.index, right.max_scaled.index);
  EXPECT_EQ(left.equal_bits, right.equal_bits);
  EXPECT_EQ(left.within_1e3, right.within_1e3);
  EXPECT_EQ(left.ulp_histogram, right.ulp_histogram);
}

tensor::View view_of(DType dtype, const std::vector<double>& values, std::size_t shift) {
  const std::uint64_t bytes = tensor::storage_bytes(dtype, values.size()).value();
  std::vector<std::byte> buffer(bytes + shift);
  tensor::encode(dtype, values.data(), values.size(), buffer.data() + shift);
  tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = {values.size()};
  tensor.bytes = own_bytes(std::move(buffer)).part(shift, bytes);
  return std::move(tensor::stored_view(tensor)).value();
}

std::vector<double> stored_values(DType dtype, const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    result.push_back(tensor::round_through(dtype, value));
  }
  return result;
}

}  // namespace opdrift::metrics::testing
