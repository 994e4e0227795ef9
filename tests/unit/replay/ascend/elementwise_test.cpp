#include "unit/replay/ascend/bench.hpp"

// Numbers by hand.

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AscendElementwise, NumbersThatAreAttributes) {
  const Array x = array({3}, {1, -2, 4});
  EXPECT_THAT(ascend("Adds").in(x).real("value", 0.5).values(), ElementsAre(1.5, -1.5, 4.5));
  EXPECT_THAT(ascend("Muls").in(x).real("value", -2).values(), ElementsAre(-2, 4, -8));
  EXPECT_THAT(ascend("Muls").in(x).failure(), HasSubstr("the number is not known"));
  EXPECT_THAT(ascend("Adds").in(x).reals("value", {1, 2}).failure(), HasSubstr("not known"));
}

TEST(AscendElementwise, PowerOfALine) {
  const Array x = array({2}, {1, 3});
  EXPECT_THAT(ascend("Power").in(x).values(), ElementsAre(1, 3));
  EXPECT_THAT(ascend("Power").in(x).real("scale", 2).real("shift", 1).values(), ElementsAre(3, 7));
  EXPECT_THAT(ascend("Power").in(x).real("power", 2).real("shift", -2).values(), ElementsAre(1, 1));
  expect_near(ascend("Power").in(x).real("power", 0.5).values(), {1, std::sqrt(3.0)}, 1e-15);
}

TEST(AscendElementwise, AxpyTakesAlphaFromEitherPlace) {
  const Array x = array({2}, {1, 2});
  const Array y = array({2}, {10, 20});
  EXPECT_THAT(ascend("Axpy").in(x).in(y).real("alpha", 0.5).values(), ElementsAre(6, 12));
  EXPECT_THAT(ascend("AxpyV2").in(x).in(y).in(array({1}, {2})).values(), ElementsAre(21, 42));
  EXPECT_THAT(ascend("Axpy").in(x).in(y).failure(), HasSubstr("alpha is not known"));
}

// Channel 1 of (1, 2, 1, 2) gets the second bias although the width is 2 as well.
TEST(AscendElementwise, BiasAddMeansTheChannel) {
  const Array x = array({1, 2, 1, 2}, {1, 2, 3, 4});
  const Array b = array({2}, {10, 20});
  EXPECT_THAT(ascend("BiasAdd").in(x).in(b).values(), ElementsAre(11, 12, 23, 24));
  EXPECT_THAT(ascend("BiasAdd").in(x).in(b).text("data_format", "NHWC").values(),
              ElementsAre(11, 22, 13, 24));
  EXPECT_THAT(ascend("BiasAdd").in(x).in(array({3}, {1, 2, 3})).failure(),
              HasSubstr("one number per channel"));
}

TEST(AscendElementwise, ScaleCoversAxesFromItsAxisOn) {
  const Array x = array({1, 2, 2}, {1, 2, 3, 4});
  const Array s = array({2}, {2, 3});
  const Bench bench = ascend("Scale").in(x).in(s).in(array({2}, {0.5, 1}));
  EXPECT_THAT(bench.values(), ElementsAre(2.5, 4.5, 10, 13));
  // (x s)^2 + b^2
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(4.25, 16.25, 82, 145));
  EXPECT_THAT(ascend("Scale").in(x).in(s).ints("axis", {-1}).values(), ElementsAre(2, 6, 6, 12));
  EXPECT_THAT(ascend("Scale").in(x).in(array({4}, {1, 2, 3, 4})).ints("num_axes", {-1}).values(),
              ElementsAre(1, 4, 9, 16));
  EXPECT_THAT(ascend("Scale").in(x).in(array({1}, {5})).ints("scale_from_blob", {0}).values(),
              ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(ascend("Scale").in(x).in(array({3}, {1, 2, 3})).failure(),
              HasSubstr("does not fit its axes"));
  EXPECT_THAT(ascend("Scale").in(x).in(s).ints("num_axes", {7}).failure(),
              HasSubstr("beyond the axes"));
  EXPECT_THAT(ascend("Bias").in(x).in(s).values(), ElementsAre(3, 4, 6, 7));
}

TEST(AscendElementwise, AddcmulAndAddcdiv) {
  const Array x = array({2}, {1, 2});
  const Array a = array({2}, {3, 4});
  const Array b = array({2}, {2, 8});
  const Array value = array({1}, {0.5});
  const Bench bench = ascend("Addcmul").in(x).in(a).in(b).in(value);
  EXPECT_THAT(bench.values(), ElementsAre(4, 18));
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(9, 256));
  EXPECT_THAT(ascend("Addcdiv").in(x).in(a).in(b).in(value).values(), ElementsAre(1.75, 2.25));
}

TEST(AscendElementwise, MaskedFillAndIsFinite) {
  const Array x = array({3}, {1, HUGE_VAL, std::nan("")});
  EXPECT_THAT(ascend("IsFinite").in(x).values(), ElementsAre(1, 0, 0));
  EXPECT_THAT(ascend("MaskedFill")
                  .in(array({2, 2}, {1, 2, 3, 4}))
                  .in(array({2}, {0, 1}, tensor::DType::boolean))
                  .in(array({}, {-9}))
                  .values(),
              ElementsAre(1, -9, 3, -9));
}

// 2 * 1 - 3 = -1; 2 * 5 - 2 = 8.
TEST(AscendElementwise, EltwiseWeighs) {
  const Array a = array({2}, {1, 5});
  const Array b = array({2}, {3, 2});
  EXPECT_THAT(ascend("Eltwise").in(a).in(b).reals("coeff", {2, -1}).values(), ElementsAre(-1, 8));
  EXPECT_THAT(ascend("Eltwise").in(a).in(b).reals("coeff", {2}).failure(), HasSubstr("weights"));
  EXPECT_THAT(ascend("Eltwise").in(a).in(b).ints("mode", {3}).failure(), HasSubstr("mode 3"));
}

// x sigmoid(1.702 x), which the operator writes with two exponentials.
TEST(AscendElementwise, FastGeluIsASigmoid) {
  for (const double x : {-3.0, -0.5, 0.0, 2.0}) {
    const double expected =
        x * std::exp(0.851 * (x - std::abs(x))) / (1.0 + std::exp(-1.702 * std::abs(x)));
    expect_near(ascend("FastGelu").in(array({1}, {x})).values(), {expected}, 1e-15);
  }
}

TEST(AscendElementwise, SoftShrinkMovesByItsThreshold) {
  EXPECT_THAT(ascend("SoftShrink").in(array({3}, {-2, 0.25, 2})).real("lambd", 0.5).values(),
              ElementsAre(-1.5, 0, 1.5));
}

// 3 / (1 + 0.5 (9 + 16)) ^ 1 with half a window of 1.
TEST(AscendElementwise, LrnHasHalfAWindowAndAPlainAlpha) {
  const Array x = array({1, 3, 1, 1}, {3, 4, 0});
  const Bench bench = ascend("LRN")
                          .in(x)
                          .ints("depth_radius", {1})
                          .real("bias", 1)
                          .real("alpha", 0.5)
                          .real("beta", 1);
  expect_near(bench.values(), {3 / 13.5, 4 / 13.5, 0}, 1e-15);
  EXPECT_THAT(Bench(bench).text("norm_region", "WITHIN_CHANNEL").failure(),
              HasSubstr("within a channel"));
}

}  // namespace
}  // namespace opdrift::replay::test
