#include "opdrift/replay/budget.hpp"

#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay::test {
namespace {

using tensor::DType;
using testing::ElementsAre;

TEST(Ulp, NormalSubnormalAndZero) {
  EXPECT_EQ(ulp(1.0, DType::f32), 0x1p-23);
  EXPECT_EQ(ulp(-1.5, DType::f16), 0x1p-10);
  EXPECT_EQ(ulp(2048.0, DType::f16), 2.0);
  EXPECT_EQ(ulp(1.0, DType::bf16), 0x1p-7);
  EXPECT_EQ(ulp(0.0, DType::f16), 0x1p-24);
  EXPECT_EQ(ulp(0x1p-20, DType::f16), 0x1p-24);
  EXPECT_EQ(ulp(0.0, DType::f32), 0x1p-149);
  EXPECT_EQ(ulp(256.0, DType::e4m3fn), 32.0);
  EXPECT_EQ(ulp(0.0, DType::e4m3fn), 0x1p-9);
  EXPECT_EQ(ulp(1.0, DType::e5m2), 0.25);
  EXPECT_EQ(ulp(1.0, DType::e2m1), 0.5);
  EXPECT_EQ(ulp(1.0, DType::f64), 0x1p-52);
  EXPECT_EQ(ulp(7.0, DType::i8), 1.0);
  EXPECT_TRUE(std::isnan(ulp(std::nan(""), DType::f16)));
}

// HiF8 has 3 mantissa bits up to 2^3, 2 up to 2^7, 1 up to 2^15.
TEST(Ulp, TaperedFormat) {
  EXPECT_EQ(ulp(1.0, DType::hif8), 0.125);
  EXPECT_EQ(ulp(16.0, DType::hif8), 4.0);
  EXPECT_EQ(ulp(256.0, DType::hif8), 128.0);
}

// Borders of fp16: 65504 is the largest, 65520 is the tie that goes to infinity.
TEST(RoundTo, TiesOverflowAndSubnormals) {
  EXPECT_EQ(round_to(2049.0, DType::f16), 2048.0);
  EXPECT_EQ(round_to(2051.0, DType::f16), 2052.0);
  EXPECT_EQ(round_to(65519.0, DType::f16), 65504.0);
  EXPECT_EQ(round_to(65520.0, DType::f16), HUGE_VAL);
  EXPECT_EQ(round_to(-65520.0, DType::f16, Overflow::saturate), -65504.0);
  EXPECT_EQ(round_to(1000.0, DType::e4m3fn), 448.0);
  EXPECT_EQ(round_to(0x1p-25, DType::f16), 0.0);
  EXPECT_EQ(round_to(0x1.8p-25, DType::f16), 0x1p-24);
  EXPECT_EQ(round_to(0.1, DType::f32), static_cast<double>(0.1F));
  EXPECT_EQ(round_to(300.5, DType::u8), 255.0);
  EXPECT_EQ(round_to(2.5, DType::i8), 2.0);
}

TEST(PeakFactor, GrowsWithTheLogarithm) {
  EXPECT_DOUBLE_EQ(peak_factor(100000), 4.0 + std::sqrt(2.0 * std::log(1e5)));
  EXPECT_EQ(peak_factor(0), peak_factor(2));
}

TEST(OwnError, TakesTheGoldensOwnErrorOut) {
  const Values g = {1.5, 2};
  const Values fg = {1.25, 2};
  const Values t = {2, 3};
  const Values ft = {1.75, 2.5};
  const OwnError own = own_error({g, t, fg, ft}, DType::f16);
  EXPECT_THAT(own.d, ElementsAre(0, 0.5));
  EXPECT_DOUBLE_EQ(own.self_check, 0.25);
}

TEST(OwnError, FlushedSubnormalsAndClassesTakeNoPart) {
  const Values g = {0x1p-16, 1, HUGE_VAL};
  const Values t = {0, std::nan(""), HUGE_VAL};
  const OwnError own = own_error({g, t, g, g}, DType::f16);
  EXPECT_THAT(own.d, ElementsAre(0, 0, 0));
  EXPECT_THAT(own.part, ElementsAre(1, 0, 0));
  EXPECT_EQ(own.flushed, 1U);
}

// 2^-10 / sqrt(12) for fp16 at 1; both sides for fp32 against fp32.
TEST(Storage, OneSideOrBoth) {
  const Precision half;
  EXPECT_DOUBLE_EQ(storage_variance(1.0, 1.0, half), 0x1p-20 / 12);
  Precision single;
  single.target = DType::f32;
  EXPECT_DOUBLE_EQ(storage_variance(1.0, 1.5, single), 2 * 0x1p-46 / 12);
  EXPECT_EQ(storage_variance(HUGE_VAL, 1.0, half), 0.0);
}

TEST(InnerVariance, SumsItsTerms) {
  OperatorKind kind;
  kind.ulps = 3;
  kind.saturating = true;
  Terms terms;
  terms.n = 4;
  terms.a2 = {2};
  terms.weights = {0.5};
  terms.extra = {7};
  Precision precision;
  precision.operands = 0x1p-11;
  const double u = 0x1p-24;
  const double expected = 36 * u * u * 25 / 3 + 9 * u * u / 3 + 7 * u * u + 0.5 +
                          2 * 4 * u * u * (0.09 * 2 + 0.06 * 25) +
                          2 * std::pow(0.42 * 0x1p-11, 2) * 2;
  const Values y = {5};
  EXPECT_DOUBLE_EQ(inner_variance(kind, terms, y, precision)[0], expected);
}

TEST(Ratios, SampledPopulationAndWorst) {
  const Values d = {0, 3, -8};
  const Values sigma2 = {4, 1, 4};
  const Ratios r = ratios(d, sigma2, {}, 1000);
  EXPECT_DOUBLE_EQ(r.q_own, std::sqrt(73.0) / 3);
  EXPECT_DOUBLE_EQ(r.z, 4);
  EXPECT_EQ(r.worst, 2U);
  EXPECT_DOUBLE_EQ(r.z_scaled, 4 / peak_factor(1000));
  EXPECT_EQ(ratios(Values{0}, Values{0}, {}, 1).q_own, 0);
  EXPECT_EQ(ratios(Values{1}, Values{0}, {}, 1).q_own, HUGE_VAL);
}

TEST(Ratios, NanNeverPassesAsSmall) {
  const Values d = {1, std::nan(""), 2};
  const Ratios r = ratios(d, Values{1, 1, 1}, {}, 3);
  EXPECT_FALSE(r.z <= 4.0);
  EXPECT_FALSE(r.q_own <= 4.0);
}

TEST(Noise, IsNormalAndRepeatable) {
  double sum = 0.0;
  double squares = 0.0;
  double product = 0.0;
  constexpr std::uint64_t kCount = 200000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = normal_noise(5, i);
    sum += x;
    squares += x * x;
    product += x * normal_noise(6, i);
  }
  const auto n = static_cast<double>(kCount);
  EXPECT_NEAR(sum / n, 0.0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(product / n, 0.0, 4 / std::sqrt(n));
  EXPECT_EQ(normal_noise(5, 17), normal_noise(5, 17));
}

// One draw of (1, 3): mean square (1, 9), a sixteenth of the mean 5 on top.
TEST(SpreadSum, TopsUpFromTheChannel) {
  SpreadSum one({2});
  one.add(Values{1, 3}, Values{0, 0});
  EXPECT_THAT(one.finish(), ElementsAre(1 + 5.0 / 16, 9 + 5.0 / 16));
  SpreadSum channels({1, 2, 1, 1});
  channels.add(Values{1, 3}, Values{0, 0});
  EXPECT_THAT(channels.finish(), ElementsAre(17.0 / 16, 153.0 / 16));
}

TEST(Truncation, BiasOfMinusHalf) {
  Values t;
  Values d;
  for (int i = 0; i < 1000; ++i) {
    const double exact = (1.0 + (i + 0.5) / 1000.0) * (i % 2 == 0 ? 1 : -1);
    const double step = ulp(exact, DType::f16);
    t.push_back(std::trunc(exact / step) * step);
    d.push_back(t.back() - exact);
  }
  EXPECT_NEAR(truncation_bias(t, d, DType::f16).mean, -0.5, 0.05);
}

TEST(TruncationBias, CountsAConstantOnce) {
  const Values t(18, 1.0);
  const Values d(18, -0.0004);
  EXPECT_EQ(truncation_bias(t, d, DType::f16).count, 1U);
}

TEST(Carried, AddsTheGoldensOwnError) {
  const Values g = {1.5, HUGE_VAL};
  const Values fg = {1.25, HUGE_VAL};
  const Values ft = {3, 4};
  EXPECT_THAT(carried(g, fg, ft), ElementsAre(3.25, 4));
}

// The budget is a prediction, not a bound: with inputs given, storage rounding alone makes
// q_own = 1. Random data, rounding emulated exactly.
TEST(Budget, PredictsStorageRounding) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Array x = noise({200, 64}, 1);
    const Array w = noise({64, 50}, 2);
    Array x_target = x;
    for (double& value : x_target.values) {
      value = round_to(value, dtype);
    }
    const Bench golden = Bench("MatMul").in(x).in(w);
    const Bench target = Bench("MatMul").in(x_target).in(w);
    const Values g = golden.values();
    const Values ft = target.values();
    Values t = ft;
    for (double& value : t) {
      value = round_to(value, dtype);
    }
    Precision precision;
    precision.target = dtype;
    const Evidence evidence{g, t, g, ft};
    const OwnError own = own_error(evidence, dtype);
    const Values inner = inner_variance(golden.kind(), golden.terms_of(), g, precision);
    const Ratios r =
        ratios(own.d, variance(evidence, inner, precision), finite_pairs(g, t), g.size());
    EXPECT_NEAR(r.q_own, 1.0, 0.04) << static_cast<int>(dtype);
    EXPECT_LT(r.z_scaled, 1.0);
  }
}

// Weights stored as fp16 or bf16 and results kept wide: W alone predicts the error.
TEST(Budget, PredictsNarrowedWeights) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Array x = noise({1, 8, 40, 40}, 1);
    const Array w = noise({32, 8, 3, 3}, 2);
    Array delta = w;
    delta.values = rounding_errors(w.values, dtype);
    Array stored = w;
    for (std::size_t i = 0; i < w.size(); ++i) {
      stored.values[i] += delta.values[i];
    }
    const Bench golden = Bench("Conv").in(x).in(w).delta(1, delta);
    const Values g = golden.values();
    const Values t = Bench("Conv").in(x).in(stored).values();
    const Terms terms = golden.terms_of();
    double error = 0.0;
    double predicted = 0.0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      error += (t[i] - g[i]) * (t[i] - g[i]);
      predicted += terms.weights[i];
    }
    EXPECT_NEAR(std::sqrt(error / predicted), 1.0, 0.05);
  }
}

// A sum in plain order in single precision errs as A says, within the spread of its constants.
TEST(Budget, PredictsAccumulation) {
  const std::size_t n = 512;
  const Array x = noise({256, n}, 1);
  const Array w = noise({n, 1}, 2);
  const Bench bench = Bench("MatMul").in(x).in(w);
  const Values exact = bench.values();
  const Terms terms = bench.terms_of();
  double error = 0.0;
  double predicted = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    float sum = 0.0F;
    double narrow = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto a = static_cast<float>(x.values[i * n + k]);
      const auto b = static_cast<float>(w.values[k]);
      sum = sum + a * b;
      narrow += static_cast<double>(a) * static_cast<double>(b);
    }
    error += std::pow(static_cast<double>(sum) - narrow, 2);
    predicted +=
        static_cast<double>(n) * 0x1p-48 * (0.09 * terms.a2[i] + 0.06 * exact[i] * exact[i]);
  }
  EXPECT_GT(std::sqrt(error / predicted), 0.5);
  EXPECT_LT(std::sqrt(error / predicted), 2.0);
}

// Inputs read wider than dumped: replaying with half an ulp of noise covers the difference.
TEST(Budget, WiderInputsAreCovered) {
  const Array x = noise({100, 64}, 1);
  const Array w = noise({64, 20}, 2);
  Array dumped = x;
  for (double& value : dumped.values) {
    value = round_to(value, DType::f16);
  }
  const Values t = Bench("MatMul").in(x).in(w).values();
  const Values ft = Bench("MatMul").in(dumped).in(w).values();
  SpreadSum spread({100, 20});
  for (std::uint64_t draw = 0; draw < kWiderDraws; ++draw) {
    spread.add(Bench("MatMul").in(widened(dumped, DType::f16, draw)).in(w).values(), ft);
  }
  Values d(t.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    d[i] = t[i] - ft[i];
  }
  EXPECT_NEAR(ratios(d, spread.finish(), {}, d.size()).q_own, 1.0, 0.1);
}

}  // namespace
}  // namespace opdrift::replay::test
