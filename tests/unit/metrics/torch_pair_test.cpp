#include "opdrift/metrics/algorithms/torch_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "opdrift/metrics/algorithms/float_sum.hpp"
#include "opdrift/metrics/algorithms/torch_pair_kernels.hpp"
#include "opdrift/metrics/sketch.hpp"

namespace opdrift::metrics {

namespace {

template <typename T>
tensor::View view_of(const std::vector<T>& values, tensor::DType dtype) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor::View view;
  view.tensor.desc.dtype = dtype;
  view.tensor.desc.shape = {values.size()};
  view.tensor.bytes = own_bytes(std::move(bytes));
  view.axes.push_back({values.size(), 1, 1, 0});
  return view;
}

tensor::View floats(const std::vector<float>& values) {
  return view_of(values, tensor::DType::f32);
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

}  // namespace

// By hand: g = (3, 4), m = (3, 5).
TEST(TorchPair, SumsOfTwoElements) {
  const auto sums = measure_torch_pair(floats({3, 4}), floats({3, 5}));
  ASSERT_TRUE(sums);
  EXPECT_DOUBLE_EQ(sums->product, 29.0);
  EXPECT_DOUBLE_EQ(sums->golden2, 25.0);
  EXPECT_DOUBLE_EQ(sums->distance2, 1.0);
  EXPECT_DOUBLE_EQ(sums->max_abs, 1.0);
  EXPECT_DOUBLE_EQ(sums->max_relative, 0.25);
  EXPECT_EQ(sums->within_1e3, 1U);
}

// eps is added to both sides where the golden is zero: 1 / 2^-23 in float, 1 / 2^-52 in double.
TEST(TorchPair, ZeroGoldensDivideByEpsilon) {
  EXPECT_DOUBLE_EQ(measure_torch_pair(floats({0}), floats({1}))->max_relative, 8388608.0);
  const auto ints = measure_torch_pair(view_of<std::int32_t>({0}, tensor::DType::i32),
                                       view_of<std::int32_t>({1}, tensor::DType::i32));
  EXPECT_DOUBLE_EQ(ints->max_relative, 4503599627370496.0);
}

TEST(TorchPair, PlacesOfNanAndInfinityAreTold) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto same = measure_torch_pair(floats({nan, 1, inf}), floats({nan, 1, -inf}));
  EXPECT_FALSE(same->nan_places_differ);
  EXPECT_FALSE(same->inf_places_differ);
  EXPECT_TRUE(same->inf_signs_differ);
  EXPECT_DOUBLE_EQ(same->distance2, 0.0);
  const auto other = measure_torch_pair(floats({nan, 1}), floats({1, 1}));
  EXPECT_TRUE(other->nan_places_differ);
  EXPECT_EQ(other->golden_nonfinite, 1U);
}

TEST(TorchPair, DifferentCountsAreRefused) {
  EXPECT_EQ(measure_torch_pair(floats({1}), floats({1, 2})).error().code, ErrorCode::mismatch);
}

// Goldens of at most 2^-23 do not count in ratio and difference, as in the reference.
TEST(TorchPair, TinyGoldensAreLeftOutOfTheRatio) {
  TorchPairOptions options;
  options.float32 = true;
  const auto sums = measure_torch_pair(floats({0, 2}), floats({5, 3}), options);
  EXPECT_DOUBLE_EQ(sums->max_ratio, 0.5);
  EXPECT_DOUBLE_EQ(sums->max_difference, 1.0);
  EXPECT_DOUBLE_EQ(sums->max_abs, 5.0);
}

// p = softmax(0, ln 3) = (1/4, 3/4), q = softmax(0, 0): sum p ln(p / q) = 0.130812...
TEST(TorchPair, DivergenceOfTwoSoftmaxes) {
  TorchPairOptions options;
  options.float32 = true;
  const auto sums = measure_torch_pair(floats({0, std::log(3.0F)}), floats({0, 0}), options);
  EXPECT_NEAR(sums->divergence, 0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-7);
}

// Plain double code is the oracle; lengths around the vector widths and the block size.
TEST(TorchPair, VectorCodeAgreesWithPlainCode) {
  for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 127U, 1000U, 4096U, 5000U, 100003U}) {
    const std::vector<float> g = random_floats(count, 1);
    const std::vector<float> m = random_floats(count, 2);
    kernels::TorchBlock oracle;
    kernels::torch_block_plain(g.data(), m.data(), count, true, kernels::RelativeIn::float32,
                               oracle);
    TorchPairOptions options;
    options.float32 = true;
    const auto sums = measure_torch_pair(floats(g), floats(m), options);
    ASSERT_TRUE(sums);
    EXPECT_NEAR(sums->product, oracle.product, 1e-12 * static_cast<double>(count)) << count;
    EXPECT_NEAR(sums->distance2, oracle.distance2, 1e-12 * oracle.distance2) << count;
    EXPECT_EQ(sums->max_abs, oracle.max_abs) << count;
    EXPECT_EQ(sums->max_relative, oracle.max_relative) << count;
    EXPECT_EQ(sums->within_1e3, oracle.within_1e3) << count;
    EXPECT_EQ(sums->within_5e3, oracle.within_5e3) << count;
    EXPECT_EQ(sums->max_ratio, oracle.max_ratio) << count;
    EXPECT_NEAR(sums->sum_ratio, oracle.sum_ratio, 1e-6 * oracle.sum_ratio) << count;
    EXPECT_EQ(sums->golden_max, oracle.golden_max) << count;
    EXPECT_EQ(sums->target_min, oracle.target_min) << count;
    double top_g = oracle.golden_max;
    double top_m = oracle.target_max;
    kernels::SoftmaxBlock soft;
    kernels::softmax_block_plain(g.data(), m.data(), count, static_cast<float>(top_g),
                                 static_cast<float>(top_m), soft);
    const double divergence =
        std::max(0.0, soft.cross / soft.golden + std::log(soft.target) - std::log(soft.golden));
    EXPECT_NEAR(sums->divergence, divergence, 1e-6 + 1e-6 * divergence) << count;
  }
}

TEST(TorchPair, ThreadsDoNotChangeTheResult) {
  const std::vector<float> g = random_floats(9'000'000, 3);
  const std::vector<float> m = random_floats(9'000'000, 4);
  TorchPairOptions one;
  one.float32 = true;
  TorchPairOptions four = one;
  four.jobs = 4;
  const auto a = measure_torch_pair(floats(g), floats(m), one);
  const auto b = measure_torch_pair(floats(g), floats(m), four);
  EXPECT_EQ(a->product, b->product);
  EXPECT_EQ(a->divergence, b->divergence);
}

TEST(TorchPair, ComplexElementsCountByModulusOrRealPart) {
  const auto g = view_of<float>({3, 4}, tensor::DType::c64);
  tensor::View golden = g;
  golden.axes = {{1, 1, 1, 0}};
  golden.tensor.desc.shape = {1};
  EXPECT_DOUBLE_EQ(measure_torch_pair(golden, golden)->golden2, 25.0);
  TorchPairOptions real;
  real.real_part = true;
  EXPECT_DOUBLE_EQ(measure_torch_pair(golden, golden, real)->golden2, 9.0);
}

// torch 1.13 on AVX2: torch.tensor([...]).sum() of these five floats, where adding from left to
// right gives another last bit.
TEST(FloatSum, FollowsTorchsOrder) {
  const std::vector<float> values = {0.4695681035518646F, -1.0338667631149292F, 0.6658894419670105F,
                                     1.523937463760376F, -1.5246859788894653F};
  EXPECT_EQ(torch_float_sum(values) / 5.0F, 0.020168494433164597F);
}

TEST(FloatSum, IsExactForSmallIntegers) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 31U, 32U, 1000U, 32768U}) {
    std::vector<float> values(count);
    double expected = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(i % 8);
      expected += static_cast<double>(i % 8);
    }
    EXPECT_EQ(static_cast<double>(torch_float_sum(values)), expected) << count;
  }
}

TEST(Sketch, EqualTensorsHaveEqualSketches) {
  const std::vector<float> g = random_floats(20000, 5);
  const auto a = sketch_of(floats(g));
  const auto b = sketch_of(floats(g));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->buckets, b->buckets);
  EXPECT_EQ(estimate_distance(*a, *b)->relative_l2, 0.0);
}

// Noise of 1 %: the estimate is right within four standard deviations of 4.4 %.
TEST(Sketch, EstimatesTheDistance) {
  const std::vector<float> g = random_floats(50000, 6);
  const std::vector<float> noise = random_floats(50000, 7);
  std::vector<float> m = g;
  for (std::size_t i = 0; i < m.size(); ++i) {
    m[i] += 0.01F * noise[i];
  }
  const auto distance = estimate_distance(*sketch_of(floats(g)), *sketch_of(floats(m)));
  ASSERT_TRUE(distance);
  EXPECT_NEAR(distance->relative_l2, 0.01, 4.0 * distance->deviation * 0.01 * 2.0);
  EXPECT_FALSE(estimate_distance(*sketch_of(floats({1})), *sketch_of(floats({1, 2}))));
}

}  // namespace opdrift::metrics
