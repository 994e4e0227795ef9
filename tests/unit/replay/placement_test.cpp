#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

// Kinds that lay elements somewhere else: numbers by hand, and inputs that do not fit.

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kHuge = 9e15;

// Two columns of two taps over three places: the middle one is added twice.
TEST(Col2Im, AddsWhatOverlaps) {
  const Bench bench =
      Bench("Col2Im").in(array({1, 2, 2}, {1, 2, 10, 20})).in(integers({3})).in(integers({2}));
  EXPECT_THAT(bench.values(), ElementsAre(1, 12, 20));
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(1, 104, 400));
  EXPECT_EQ(bench.terms_of().n, 2);
}

TEST(Col2Im, RefusesBlocksThatDoNotFit) {
  const auto with = [](Values image, Values block) {
    return Bench("Col2Im")
        .in(array({1, 2, 2}, {1, 2, 10, 20}))
        .in(integers(std::move(image)))
        .in(integers(std::move(block)))
        .failure();
  };
  EXPECT_THAT(with({4}, {2}), HasSubstr("expected 3 blocks"));
  EXPECT_THAT(with({3}, {3}), HasSubstr("do not divide"));
  EXPECT_THAT(with({3}, {0}), HasSubstr("out of range"));
  EXPECT_THAT(with({kHuge}, {2}), HasSubstr("out of range"));
  EXPECT_THAT(with({3, 3}, {2}), HasSubstr("do not fit"));
  EXPECT_THAT(with({}, {}), HasSubstr("do not fit"));
}

TEST(MaxUnpool, RefusesIndicesOutside) {
  const auto with = [](Values places, Values shape) {
    return Bench("MaxUnpool")
        .in(array({1, 1, 2}, {1, 2}))
        .in(integers(std::move(places)))
        .in(integers(std::move(shape)))
        .ints("kernel_shape", {2})
        .failure();
  };
  EXPECT_THAT(with({0, 3}, {1, 1, 3}), HasSubstr("an index is out of range"));
  EXPECT_THAT(with({0, -1}, {1, 1, 3}), HasSubstr("an index is out of range"));
  EXPECT_THAT(with({0}, {1, 1, 3}), HasSubstr("one index per element"));
  EXPECT_THAT(with({0, 1}, {1, 3}), HasSubstr("does not fit"));
  EXPECT_THAT(with({0, 1}, {1, 1, -3}), HasSubstr("does not fit"));
  EXPECT_THAT(with({0, 1}, {1, 1, kHuge}), HasSubstr("elements"));
}

TEST(CenterCropPad, TheOddElementIsBehind) {
  const Array x = array({4}, {1, 2, 3, 4});
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({1})).values(), ElementsAre(2));
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({7})).values(),
              ElementsAre(0, 1, 2, 3, 4, 0, 0));
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({0})).values(), ElementsAre());
}

TEST(CenterCropPad, RefusesExtentsOutOfRange) {
  const Array x = array({4}, {1, 2, 3, 4});
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({-1})).failure(), HasSubstr("range"));
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({kHuge})).failure(), HasSubstr("elements"));
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({1, 2})).failure(), HasSubstr("per axis"));
  EXPECT_THAT(Bench("CenterCropPad").in(x).in(integers({1})).ints("axes", {1}).failure(),
              HasSubstr("an axis"));
}

TEST(TensorScatter, WritesFromAPlacePerBatch) {
  const Bench bench = Bench("TensorScatter")
                          .in(array({2, 3, 1}, {0, 0, 0, 0, 0, 0}))
                          .in(array({2, 2, 1}, {1, 2, 3, 4}))
                          .in(integers({1, 2}))
                          .text("mode", "circular");
  EXPECT_THAT(bench.values(), ElementsAre(0, 1, 2, 4, 0, 3));
}

TEST(TensorScatter, RefusesUpdatesThatDoNotFit) {
  const auto with = [](const tensor::Shape& update, Values starts) {
    return Bench("TensorScatter")
        .in(noise({2, 3, 1}, 1))
        .in(noise(update, 2))
        .in(integers(std::move(starts)))
        .failure();
  };
  EXPECT_THAT(with({2, 2, 1}, {0, 2}), HasSubstr("write index"));
  EXPECT_THAT(with({2, 2, 1}, {0, -1}), HasSubstr("write index"));
  EXPECT_THAT(with({2, 2, 1}, {0}), HasSubstr("does not fit"));
  EXPECT_THAT(with({2, 4, 1}, {0, 0}), HasSubstr("does not fit"));
  EXPECT_THAT(with({2, 2, 2}, {0, 0}), HasSubstr("does not fit"));
}

TEST(Unique, GivesGroupsAndTheirMembers) {
  const Outputs outputs = Bench("Unique").in(array({4}, {7, 3, 7, 5})).outputs(4).run();
  EXPECT_THAT(outputs[0].values, ElementsAre(3, 5, 7));
  EXPECT_THAT(outputs[1].values, ElementsAre(1, 3, 0));
  EXPECT_THAT(outputs[2].values, ElementsAre(2, 0, 2, 1));
  EXPECT_THAT(outputs[3].values, ElementsAre(1, 1, 2));
  EXPECT_THAT(Bench("Unique").in(array({2}, {1, std::nan("")})).failure(),
              HasSubstr("not a number"));
  EXPECT_THAT(Bench("Unique").in(array({0, 2}, {})).ints("axis", {0}).values(), ElementsAre());
  EXPECT_THAT(Bench("Unique").in(array({2}, {1, 2})).ints("axis", {1}).failure(),
              HasSubstr("an axis"));
}

// Bins of a region from 0 to 2: [0, 2) and [1, 3).
TEST(MaxRoiPool, BinsAreWhatTheyTouch) {
  const auto with = [](Values roi) {
    return Bench("MaxRoiPool")
        .in(array({1, 1, 1, 4}, {4, 1, 2, 9}))
        .in(array({1, 5}, std::move(roi)))
        .ints("pooled_shape", {1, 2});
  };
  EXPECT_THAT(with({0, 0, 0, 2, 0}).values(), ElementsAre(4, 2));
  EXPECT_THAT(with({0, 7, 7, 9, 9}).values(), ElementsAre(0, 0));
  EXPECT_THAT(with({1, 0, 0, 2, 0}).failure(), HasSubstr("batch index"));
  EXPECT_THAT(with({0, 0, 0, 1e300, 0}).failure(), HasSubstr("too large"));
  EXPECT_THAT(with({0, 0, std::nan(""), 2, 0}).failure(), HasSubstr("too large"));
}

TEST(MaxRoiPool, RefusesPooledShapesOutOfRange) {
  for (const Integers& pooled : {Integers{0, 1}, Integers{1}, Integers{1 << 21, 1}}) {
    EXPECT_THAT(Bench("MaxRoiPool")
                    .in(noise({1, 1, 2, 2}, 1))
                    .in(noise({1, 5}, 2))
                    .ints("pooled_shape", pooled)
                    .failure(),
                HasSubstr("do not fit"));
  }
}

// (3, 4): length 5; sum x^4 / (4 y^2) = (81 + 256) / 100.
TEST(GlobalLpPool, LengthOfAChannel) {
  const Bench bench = Bench("GlobalLpPool").in(array({1, 1, 2}, {3, -4}));
  expect_near(bench.values(), {5}, 1e-15);
  expect_near(bench.terms_of().a2, {3.37}, 1e-14);
  EXPECT_EQ(bench.terms_of().n, 2);
  EXPECT_THAT(Bench("GlobalLpPool").in(array({1, 1, 2}, {0, 0})).terms_of().a2, ElementsAre(0));
  EXPECT_THAT(Bench("GlobalLpPool").in(noise({1, 1, 2}, 1)).ints("p", {0}).failure(),
              HasSubstr("below 1"));
}

// Centres of two cells are -1/2 and 1/2; the matrix doubles x and moves y by 3.
TEST(AffineGrid, PointsOfAnEvenGrid) {
  const Array theta = array({1, 2, 3}, {2, 0, 0, 0, 1, 3});
  const Bench bench = Bench("AffineGrid").in(theta).in(integers({1, 1, 1, 2}));
  EXPECT_THAT(bench.values(), ElementsAre(-1, 3, 1, 3));
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(1, 9, 1, 9));
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(4, 10, 4, 10));
  EXPECT_THAT(Bench("AffineGrid").in(theta).in(integers({1, 1, 2})).failure(), HasSubstr("axes"));
  EXPECT_THAT(Bench("AffineGrid").in(theta).in(integers({2, 1, 1, 2})).failure(),
              HasSubstr("matrices of shape"));
  EXPECT_THAT(Bench("AffineGrid").in(theta).in(integers({1, 1, 0, 2})).failure(),
              HasSubstr("out of range"));
  EXPECT_THAT(Bench("AffineGrid").in(theta).in(integers({1, 1, 1e7, 1e7})).failure(),
              HasSubstr("elements"));
}

TEST(Det, EliminatesWithPivots) {
  const Bench bench = Bench("Det").in(array({2, 2, 2}, {0, 2, 3, 1, 1, 2, 2, 4}));
  EXPECT_THAT(bench.values(), ElementsAre(-6, 0));
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(40, 100));
  EXPECT_THAT(Bench("Det").in(noise({2, 3}, 1)).failure(), HasSubstr("square"));
}

}  // namespace
}  // namespace opdrift::replay::test
