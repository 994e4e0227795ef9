#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;

// Values of the definitions, by hand; exp(1), erf(1) and tanh(1) from tables.
TEST(Unary, KnownValues) {
  const Array x = array({3}, {-1, 0, 1});
  expect_near(Bench("Relu").in(x).values(), {0, 0, 1}, 0);
  expect_near(Bench("LeakyRelu").in(x).real("alpha", 0.1).values(), {-0.1, 0, 1}, 1e-15);
  expect_near(Bench("Sigmoid").in(x).values(), {0.2689414213699951, 0.5, 0.7310585786300049},
              1e-15);
  expect_near(Bench("HardSigmoid").in(x).values(), {0.3, 0.5, 0.7}, 1e-15);
  expect_near(Bench("HardSwish").in(x).values(), {-1.0 / 3, 0, 2.0 / 3}, 1e-15);
  expect_near(Bench("Erf").in(x).values(), {-0.8427007929497149, 0, 0.8427007929497149}, 1e-15);
  expect_near(Bench("Gelu").in(x).values(), {-0.15865525393145707, 0, 0.8413447460685429}, 1e-15);
  expect_near(Bench("Gelu").in(x).text("approximate", "tanh").values(),
              {-0.15880800939172324, 0, 0.8411919906082768}, 1e-15);
  expect_near(Bench("Elu").in(x).values(), {std::exp(-1.0) - 1, 0, 1}, 1e-15);
  expect_near(Bench("Softplus").in(x).values(),
              {0.31326168751822286, 0.6931471805599453, 1.3132616875182228}, 1e-15);
  expect_near(Bench("Mish").in(x).values(), {-0.30340146137410895, 0, 0.8650983882673103}, 1e-14);
  expect_near(Bench("Silu").in(x).values(), {-0.2689414213699951, 0, 0.7310585786300049}, 1e-15);
  expect_near(Bench("Sign").in(x).values(), {-1, 0, 1}, 0);
}

TEST(Unary, SoftplusAndSigmoidStayFiniteFarOut) {
  const Array x = array({2}, {-1000, 1000});
  expect_near(Bench("Softplus").in(x).values(), {0, 1000}, 0);
  expect_near(Bench("Sigmoid").in(x).values(), {0, 1}, 0);
}

TEST(Unary, RoundTiesGoToEven) {
  EXPECT_THAT(Bench("Round").in(array({5}, {0.5, 1.5, 2.5, -0.5, -1.5})).values(),
              ElementsAre(0, 2, 2, -0.0, -2));
}

TEST(Unary, NanPassesThroughReluAndClip) {
  const Array x = array({1}, {std::nan("")});
  EXPECT_TRUE(std::isnan(Bench("Relu").in(x).values()[0]));
  EXPECT_TRUE(std::isnan(Bench("Clip", 6).in(x).real("min", 0).real("max", 1).values()[0]));
}

TEST(Clip, TakesBoundsFromAttributesOrInputs) {
  const Array x = array({3}, {-2, 0.5, 2});
  EXPECT_THAT(Bench("Clip", 6).in(x).real("min", -1).real("max", 1).values(),
              ElementsAre(-1, 0.5, 1));
  EXPECT_THAT(Bench("Clip", 13).in(x).in(array({}, {-1})).in(array({}, {1})).values(),
              ElementsAre(-1, 0.5, 1));
  EXPECT_THAT(Bench("Clip", 13).in(x).absent().in(array({}, {1})).values(),
              ElementsAre(-2, 0.5, 1));
}

TEST(Binary, BroadcastsBothSides) {
  const Bench bench = Bench("Add").in(array({2, 1}, {10, 20})).in(array({1, 3}, {1, 2, 3}));
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 3U));
  EXPECT_THAT(bench.values(), ElementsAre(11, 12, 13, 21, 22, 23));
}

TEST(Binary, BroadcastsAcrossMissingAxes) {
  const Bench bench = Bench("Mul").in(array({2, 1, 2}, {1, 2, 3, 4})).in(array({2, 1}, {1, 10}));
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 2U, 2U));
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 10, 20, 3, 4, 30, 40));
}

TEST(Binary, EmptyBroadcastIsEmpty) {
  EXPECT_THAT(Bench("Add").in(array({0, 3}, {})).in(array({3}, {1, 2, 3})).first().shape,
              ElementsAre(0U, 3U));
}

TEST(Binary, OldOpsetsAlignAtAnAxis) {
  const Bench bench = Bench("Add", 6)
                          .in(array({1, 2, 2}, {0, 0, 0, 0}))
                          .in(array({2}, {1, 2}))
                          .ints("broadcast", {1})
                          .ints("axis", {1});
  EXPECT_THAT(bench.values(), ElementsAre(1, 1, 2, 2));
}

TEST(Binary, IntegerDivisionTruncates) {
  const Array a = array({3}, {7, -7, 7}, tensor::DType::i32);
  const Array b = array({3}, {2, 2, -2}, tensor::DType::i32);
  EXPECT_THAT(Bench("Div").in(a).in(b).values(), ElementsAre(3, -3, -3));
  EXPECT_THAT(Bench("Mod").in(a).in(b).values(), ElementsAre(1, 1, -1));
  EXPECT_THAT(Bench("Mod").in(a).in(b).ints("fmod", {1}).values(), ElementsAre(1, -1, 1));
}

TEST(Binary, MaximumOfNanIsNan) {
  const Bench bench = Bench("Max").in(array({2}, {std::nan(""), 1})).in(array({2}, {1, 2}));
  EXPECT_TRUE(std::isnan(bench.values()[0]));
  EXPECT_EQ(bench.values()[1], 2);
}

TEST(Binary, ComparisonsGiveBooleans) {
  const Bench bench = Bench("LessOrEqual").in(array({3}, {1, 2, 3})).in(array({}, {2}));
  EXPECT_THAT(bench.values(), ElementsAre(1, 1, 0));
  EXPECT_EQ(bench.first().dtype, tensor::DType::boolean);
}

TEST(PRelu, SlopePerChannelNeedsNoTrailingAxes) {
  const Bench bench =
      Bench("PRelu").in(array({1, 2, 3}, {-1, 1, -1, -1, 1, -1})).in(array({2}, {0.1, 0.5}));
  expect_near(bench.values(), {-0.1, 1, -0.1, -0.5, 1, -0.5}, 1e-15);
}

TEST(Where, BroadcastsThreeSides) {
  const Bench bench = Bench("Where")
                          .in(array({2, 1}, {1, 0}, tensor::DType::boolean))
                          .in(array({2}, {1, 2}))
                          .in(array({}, {9}));
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 9, 9));
}

TEST(Sum, ThreeTermsHaveTheSquaresOfAll) {
  const Bench bench =
      Bench("Sum").in(array({2}, {1, 2})).in(array({2}, {-1, 3})).in(array({1}, {2}));
  EXPECT_THAT(bench.values(), ElementsAre(2, 7));
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(6, 17));
  EXPECT_EQ(bench.terms_of().n, 3);
}

TEST(Ascend, EltwiseModes) {
  const Array a = array({2}, {1, 5});
  const Array b = array({2}, {3, 2});
  EXPECT_THAT(Bench("Eltwise").in(a).in(b).ints("mode", {0}).values(), ElementsAre(3, 10));
  EXPECT_THAT(Bench("Eltwise").in(a).in(b).ints("mode", {1}).values(), ElementsAre(4, 7));
  EXPECT_THAT(Bench("Eltwise").in(a).in(b).ints("mode", {2}).values(), ElementsAre(3, 5));
}

TEST(Cast, TruncatesTowardsZeroAndSaturates) {
  const Bench bench = Bench("Cast").in(array({3}, {-1.7, 1.7, 1e9})).ints("to", {3});
  EXPECT_THAT(bench.values(), ElementsAre(-1, 1, 127));
  EXPECT_EQ(bench.first().dtype, tensor::DType::i8);
}

TEST(Dropout, CopiesUnlessTraining) {
  const Array x = array({2}, {1, 2});
  EXPECT_THAT(Bench("Dropout", 13).in(x).in(array({}, {0.5})).values(), ElementsAre(1, 2));
  EXPECT_THAT(Bench("Dropout", 13).in(x).in(array({}, {0.5})).in(array({}, {1})).failure(),
              testing::HasSubstr("operator not modelled"));
}

}  // namespace
}  // namespace opdrift::replay::test
