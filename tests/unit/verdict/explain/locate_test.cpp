#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verdict/explain/made_data.hpp"

#include "opdrift/verdict/explain/explain.hpp"

namespace opdrift::verdict {
namespace {

using tensor::DType;
using tensor::Shape;
using testing::activations;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_view;

using Values = std::vector<double>;

ErrorPlace located(const Values& golden, const Values& target, const Shape& shape, DType dtype) {
  auto place = locate(made_view(golden, shape, DType::f32), made_view(target, shape, dtype), {});
  EXPECT_TRUE(place.has_value());
  return place.has_value() ? *place : ErrorPlace{};
}

TEST(Locate, OneChannel) {
  const Shape shape = {2, 64, 7, 9};
  const Values golden = activations(shape, 1);
  Values target = golden;
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] += i / 63 % 64 == 17 ? 1.0 : 0.0;
  }
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_THAT(place.sentence, HasSubstr("of the error lies in channel 17 (of 64)"));
  EXPECT_EQ(place.first_bad, 17U * 63U);
  EXPECT_THAT(place.first_bad_index, ElementsAre(0, 17, 0, 0));
  ASSERT_EQ(place.axes.size(), 4U);
  EXPECT_EQ(place.axes[1].top.front().first, 17U);
  EXPECT_GT(place.axes[1].top.front().share, 0.999);
  EXPECT_EQ(place.axes[1].block.first, 16U);
  EXPECT_EQ(place.axes[1].block.count, 16U);
}

// Every element is wrong, some by much more than others: no part of the tensor holds the error.
TEST(Locate, WhatIsWrongEverywhereIsNotTakenForNoise) {
  const Shape shape = {32, 6, 96};
  Values golden = activations(shape, 1);
  Values target(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = std::max(golden[i], 0.0);
  }
  std::rotate_copy(golden.begin(), golden.begin() + 1000, golden.end(), target.begin());
  golden.back() = 40.0;  // stands out of everything
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_LT(place.first_bad, 20U);
  EXPECT_EQ(place.sentence, "");
}

TEST(Locate, NothingButNaN) {
  const Values golden = activations({4, 8}, 1);
  const Values target(golden.size(), std::nan(""));
  EXPECT_EQ(located(golden, target, {4, 8}, DType::f16).sentence,
            "every element of the target is NaN or infinite");
}

TEST(Locate, TailOfElements) {
  const Shape shape = {1000};
  const Values golden = activations(shape, 1);
  Values target = golden;
  std::fill(target.end() - 24, target.end(), 9.0);
  const ErrorPlace place = located(golden, target, shape, DType::bf16);
  EXPECT_THAT(place.sentence, HasSubstr("last 24 of 1000"));
  EXPECT_EQ(place.first_bad, 976U);
}

TEST(Locate, TailThatEndsNoAxis) {
  const Shape shape = {10, 100};
  const Values golden = activations(shape, 1);
  Values target = golden;
  std::fill(target.end() - 130, target.end(), 9.0);
  EXPECT_THAT(located(golden, target, shape, DType::f16).sentence,
              HasSubstr("last 2 of 10 indices of axis 0"));
}

TEST(Locate, OneElement) {
  const Shape shape = {1, 3, 5, 7};
  const Values golden = activations(shape, 1);
  Values target = golden;
  target[52] += 0.5;
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_EQ(place.sentence, "one element is wrong, at (0, 1, 2, 3)");
  EXPECT_EQ(place.axes.size(), 4U);
}

TEST(Locate, NewNanCountsMoreThanAnySquare) {
  const Shape shape = {4, 50};
  const Values golden = activations(shape, 1);
  Values target = golden;
  target[3 * 50 + 7] = std::nan("");
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_EQ(place.sentence, "one element is wrong, at (3, 7)");
}

TEST(Locate, BlockStandsOut) {
  const Shape shape = {64, 256};
  const Values golden = activations(shape, 1);
  Values target = golden;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t column = i % 256;
    target[i] += column >= 96 && column < 128 ? 0.5 : 0.0;
  }
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_EQ(place.axes[1].block.first, 96U);
  EXPECT_EQ(place.axes[1].block.count, 32U);
  EXPECT_THAT(place.sentence, HasSubstr("96 to 127 of axis 1"));
}

TEST(Locate, EvenErrorHasNoPlace) {
  const Shape shape = {64, 256};
  const Values golden = activations(shape, 1);
  Values target = golden;
  for (double& value : target) {
    value *= 1.1;
  }
  EXPECT_EQ(located(golden, target, shape, DType::f16).sentence, "");
}

TEST(Locate, InheritedNoiseDoesNotHideTheFault) {
  const Shape shape = {40, 500};
  const Values golden = activations(shape, 1);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Values target = golden;
  for (double& value : target) {
    value *= 1.0 + 3e-3 * normal(random);
  }
  for (std::size_t i = 23 * 500 + 100; i < 23 * 500 + 150; ++i) {
    target[i] += 2.0;
  }
  const ErrorPlace place = located(golden, target, shape, DType::f16);
  EXPECT_EQ(place.first_bad, 23U * 500U + 100U);
  EXPECT_EQ(place.axes[0].top.front().first, 23U);
}

TEST(Locate, EqualTensorsHaveNoBadElement) {
  const Values golden = activations({3, 4}, 1);
  const ErrorPlace place = located(golden, golden, {3, 4}, DType::f32);
  EXPECT_EQ(place.sentence, "");
  EXPECT_EQ(place.first_bad, ~std::uint64_t{0});
  EXPECT_TRUE(place.first_bad_index.empty());
}

TEST(Locate, OddShapesDoNoHarm) {
  EXPECT_EQ(located({1.0}, {2.0}, {}, DType::f32).first_bad, 0U);
  EXPECT_EQ(located({}, {}, {0}, DType::f32).sentence, "");
  const auto place =
      locate(made_view({1, 2}, {2}, DType::f32), made_view({1}, {1}, DType::f32), {});
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->axes.empty());
}

// sigma of the caller decides what is bad: ten times the error planted, nothing is.
TEST(Locate, GivenSigmaDecides) {
  const Shape shape = {500};
  const Values golden = activations(shape, 1);
  Values target = golden;
  target[77] += 0.01;
  ExplainContext context;
  context.sigma = [](std::uint64_t, std::size_t count, double* out) {
    std::fill_n(out, count, 0.1);
  };
  const auto place =
      locate(made_view(golden, shape, DType::f32), made_view(target, shape, DType::f32), context);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->first_bad, ~std::uint64_t{0});
}

}  // namespace
}  // namespace opdrift::verdict
