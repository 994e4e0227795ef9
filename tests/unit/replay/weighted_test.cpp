#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Array kTwoByThree = array({2, 3}, {1, 2, 3, 4, 5, 6});
const Array kThreeByTwo = array({3, 2}, {1, 0, 0, 1, 1, 1});

TEST(MatMul, MatricesVectorsAndBatches) {
  EXPECT_THAT(Bench("MatMul").in(kTwoByThree).in(kThreeByTwo).values(), ElementsAre(4, 5, 10, 11));
  const Bench row = Bench("MatMul").in(array({3}, {1, 2, 3})).in(kThreeByTwo);
  EXPECT_THAT(row.first().shape, ElementsAre(2U));
  EXPECT_THAT(row.values(), ElementsAre(4, 5));
  const Bench column = Bench("MatMul").in(kTwoByThree).in(array({3}, {1, 1, 1}));
  EXPECT_THAT(column.first().shape, ElementsAre(2U));
  EXPECT_THAT(column.values(), ElementsAre(6, 15));
  const Bench batched =
      Bench("MatMul").in(array({2, 1, 1, 1}, {2, 3})).in(array({2, 1, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(batched.first().shape, ElementsAre(2U, 2U, 1U, 2U));
  EXPECT_THAT(batched.values(), ElementsAre(2, 4, 6, 8, 3, 6, 9, 12));
}

TEST(MatMul, EmptyReductionIsZero) {
  EXPECT_THAT(Bench("MatMul").in(array({2, 0}, {})).in(array({0, 2}, {})).values(),
              ElementsAre(0, 0, 0, 0));
}

TEST(MatMul, RefusesInnerExtentsThatDiffer) {
  EXPECT_THAT(Bench("MatMul").in(kTwoByThree).in(kTwoByThree).failure(),
              HasSubstr("inner extents differ"));
}

TEST(MatMul, TransposedSidesOfEveryDialect) {
  const Values expected = {4, 5, 10, 11};
  const Array left = Bench("Transpose").in(kTwoByThree).first();
  const Array right = Bench("Transpose").in(kThreeByTwo).first();
  EXPECT_EQ(
      Bench("FusedMatMul").in(left).in(right).ints("transA", {1}).ints("transB", {1}).values(),
      expected);
  EXPECT_EQ(Bench("MatMulV2")
                .in(left)
                .in(right)
                .ints("transpose_x1", {1})
                .ints("transpose_x2", {1})
                .values(),
            expected);
  EXPECT_EQ(Bench("aten::linear").in(kTwoByThree).in(right).values(), expected);
}

TEST(Gemm, ScalesAndStretchesC) {
  const Bench bench = Bench("Gemm")
                          .in(kTwoByThree)
                          .in(kThreeByTwo)
                          .in(array({2}, {1, 2}))
                          .real("alpha", 2)
                          .real("beta", 10);
  EXPECT_THAT(bench.values(), ElementsAre(18, 30, 30, 42));
}

TEST(Gemm, FusedActivation) {
  const Bench bench = Bench("FusedGemm")
                          .in(array({1, 1}, {1}))
                          .in(array({1, 2}, {-3, 3}))
                          .text("activation", "LeakyRelu")
                          .real("activation_alpha", 0.5);
  EXPECT_THAT(bench.values(), ElementsAre(-1.5, 3));
}

TEST(Gemm, AddMatMulTakesTheAddendFirst) {
  const Bench bench = Bench("aten::addmm").in(array({2}, {1, 2})).in(kTwoByThree).in(kThreeByTwo);
  EXPECT_THAT(bench.values(), ElementsAre(5, 7, 11, 13));
}

TEST(Weighted, SamplesAgreeWithTheWhole) {
  expect_samples_agree(Bench("MatMul")
                           .in(noise({2, 1, 3, 5}, 1))
                           .in(noise({4, 5, 6}, 2))
                           .delta(1, noise({4, 5, 6}, 3)));
  expect_samples_agree(Bench("Gemm")
                           .in(noise({5, 3}, 1))
                           .in(noise({6, 5}, 2))
                           .in(noise({3, 1}, 3))
                           .ints("transA", {1})
                           .ints("transB", {1})
                           .real("alpha", 0.5)
                           .real("beta", 2)
                           .delta(1, noise({6, 5}, 4)));
  expect_samples_agree(
      Bench("linear").in(noise({2, 3, 5}, 1)).in(noise({4, 5}, 2)).in(noise({4}, 3)));
  expect_samples_agree(Bench("addmm").in(noise({4}, 1)).in(noise({3, 5}, 2)).in(noise({5, 4}, 3)));
  expect_samples_agree(Bench("Conv")
                           .in(noise({2, 4, 7, 6}, 1))
                           .in(noise({6, 2, 3, 2}, 2))
                           .in(noise({6}, 3))
                           .ints("group", {2})
                           .ints("strides", {2, 1})
                           .ints("dilations", {1, 2})
                           .ints("pads", {1, 0, 2, 1})
                           .delta(1, noise({6, 2, 3, 2}, 4)));
  expect_samples_agree(Bench("Conv").in(noise({1, 3, 5, 4, 6}, 1)).in(noise({2, 3, 2, 2, 3}, 2)));
  expect_samples_agree(Bench("ConvTranspose")
                           .in(noise({2, 4, 5, 3}, 1))
                           .in(noise({4, 3, 3, 2}, 2))
                           .in(noise({6}, 3))
                           .ints("group", {2})
                           .ints("strides", {2, 3})
                           .ints("pads", {1, 0, 0, 1})
                           .ints("output_padding", {1, 1})
                           .delta(1, noise({4, 3, 3, 2}, 4)));
}

// a^2 = sum x^2 w^2 and W = sum x^2 dw^2, by a direct loop over the definition of a matrix product.
TEST(Weighted, SquareSumsByBruteForce) {
  const Array x = noise({3, 7}, 1);
  const Array w = noise({7, 2}, 2);
  const Array dw = noise({7, 2}, 3);
  const Terms terms = Bench("MatMul").in(x).in(w).delta(1, dw).terms_of();
  EXPECT_EQ(terms.n, 7);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      double a2 = 0.0;
      double weights = 0.0;
      for (std::size_t k = 0; k < 7; ++k) {
        const double xk = x.values[i * 7 + k];
        a2 += std::pow(xk * w.values[k * 2 + j], 2);
        weights += std::pow(xk * dw.values[k * 2 + j], 2);
      }
      EXPECT_NEAR(terms.a2[i * 2 + j], a2, 1e-14);
      EXPECT_NEAR(terms.weights[i * 2 + j], weights, 1e-14);
    }
  }
}

// One image of one channel, 3 x 3 kernel of ones: sums of neighbourhoods, by hand.
TEST(Conv, PadsAndStrides) {
  const Array x = array({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Array ones = array({1, 1, 3, 3}, Values(9, 1.0));
  EXPECT_THAT(Bench("Conv").in(x).in(ones).values(), ElementsAre(45));
  EXPECT_THAT(
      Bench("Conv").in(x).in(ones).ints("pads", {1, 1, 1, 1}).ints("strides", {2, 2}).values(),
      ElementsAre(12, 16, 24, 28));
}

TEST(Conv, AutoPadPutsTheOddElementAtEitherEnd) {
  const Array x = array({1, 1, 4}, {1, 2, 3, 4});
  const Array w = array({1, 1, 2}, {1, 10});
  EXPECT_THAT(Bench("Conv").in(x).in(w).text("auto_pad", "SAME_UPPER").values(),
              ElementsAre(21, 32, 43, 4));
  EXPECT_THAT(Bench("Conv").in(x).in(w).text("auto_pad", "SAME_LOWER").values(),
              ElementsAre(10, 21, 32, 43));
  EXPECT_THAT(Bench("Conv").in(x).in(w).text("auto_pad", "VALID").values(),
              ElementsAre(21, 32, 43));
}

TEST(Conv, DilationSkipsElements) {
  const Bench bench = Bench("Conv")
                          .in(array({1, 1, 5}, {1, 2, 3, 4, 5}))
                          .in(array({1, 1, 2}, {1, 10}))
                          .ints("dilations", {3});
  EXPECT_THAT(bench.values(), ElementsAre(41, 52));
}

TEST(Conv, GroupsSeeTheirOwnChannels) {
  const Bench bench = Bench("Conv")
                          .in(array({1, 2, 2}, {1, 2, 3, 4}))
                          .in(array({2, 1, 1}, {10, 100}))
                          .in(array({2}, {0, 5}))
                          .ints("group", {2});
  EXPECT_THAT(bench.values(), ElementsAre(10, 20, 305, 405));
}

// 40 x 40 outputs of 8 x 8 kernels over 64 channels need several blocks of columns.
TEST(Conv, BlocksMakeNoSeam) {
  const Array x = noise({1, 64, 47, 47}, 1);
  const Array w = noise({2, 64, 8, 8}, 2);
  const Bench bench = Bench("Conv").in(x).in(w);
  const Array y = bench.first();
  const std::vector<std::uint64_t> positions = {0, 63, 64, 65, 1599, 1600, 1663, 1664, 3199};
  const auto sample = evaluate_at(bench.kind(), bench.call(), y.shape, positions, false);
  ASSERT_TRUE(sample.has_value());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_NEAR(sample->values[i], y.values[positions[i]], 1e-11);
  }
}

TEST(Conv, AscendListsAllFourAxes) {
  const Bench bench = Bench("Conv2D")
                          .in(array({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}))
                          .in(array({1, 1, 1, 1}, {1}))
                          .ints("strides", {1, 1, 2, 2})
                          .ints("dilations", {1, 1, 1, 1})
                          .ints("pads", {0, 0, 1, 0});
  EXPECT_THAT(bench.first().shape, ElementsAre(1U, 1U, 2U, 2U));
  EXPECT_THAT(bench.values(), ElementsAre(0, 2, 0, 8));
}

TEST(Conv, FusedConvAddsAndActivates) {
  const Bench bench = Bench("FusedConv")
                          .in(array({1, 1, 2}, {1, -1}))
                          .in(array({1, 1, 1}, {2}))
                          .in(array({1}, {1}))
                          .in(array({1, 1, 2}, {1, -5}))
                          .text("activation", "Relu");
  EXPECT_THAT(bench.values(), ElementsAre(4, 0));
}

TEST(Conv, RefusesAKernelThatDoesNotFit) {
  EXPECT_THAT(
      Bench("Conv").in(array({1, 2, 3}, Values(6))).in(array({1, 3, 1}, Values(3))).failure(),
      HasSubstr("does not fit 2 channels"));
  EXPECT_THAT(
      Bench("Conv").in(array({1, 1, 2}, Values(2))).in(array({1, 1, 3}, Values(3))).failure(),
      HasSubstr("larger than the padded input"));
}

// The transposed convolution spreads 1 and 2 with stride 2: (1, 10, 100 | 2, 20, 200).
TEST(ConvTranspose, Spreads) {
  const Array x = array({1, 1, 2}, {1, 2});
  const Array w = array({1, 1, 3}, {1, 10, 100});
  EXPECT_THAT(Bench("ConvTranspose").in(x).in(w).ints("strides", {2}).values(),
              ElementsAre(1, 10, 102, 20, 200));
  EXPECT_THAT(Bench("ConvTranspose")
                  .in(x)
                  .in(w)
                  .ints("strides", {2})
                  .ints("pads", {1, 1})
                  .ints("output_padding", {1})
                  .values(),
              ElementsAre(10, 102, 20, 200));
  // One element too many: it goes in front unless the model says otherwise.
  const Bench odd =
      Bench("ConvTranspose").in(x).in(w).ints("strides", {2}).ints("output_shape", {4});
  EXPECT_THAT(odd.values(), ElementsAre(10, 102, 20, 200));
  EXPECT_THAT(Bench(odd).text("auto_pad", "SAME_LOWER").values(), ElementsAre(10, 102, 20, 200));
  EXPECT_THAT(Bench(odd).text("auto_pad", "SAME_UPPER").values(), ElementsAre(1, 10, 102, 20));
}

// Table of the budget: reduction length Cin / groups * kernel, divided by strides when transposed.
TEST(Weighted, ReductionLengths) {
  EXPECT_EQ(Bench("Conv")
                .in(noise({1, 4, 5, 5}, 1))
                .in(noise({2, 2, 3, 3}, 2))
                .ints("group", {2})
                .terms_of()
                .n,
            18);
  EXPECT_EQ(Bench("ConvTranspose")
                .in(noise({1, 4, 5, 5}, 1))
                .in(noise({4, 2, 4, 4}, 2))
                .ints("strides", {2, 2})
                .terms_of()
                .n,
            16);
}

TEST(Einsum, ProductTraceAndOuter) {
  const auto run = [](const std::string& equation, const Array& a, const Array& b) {
    return Bench("Einsum").in(a).in(b).text("equation", equation).values();
  };
  EXPECT_THAT(run("ij,jk->ik", kTwoByThree, kThreeByTwo), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(run("ij, jk -> ki", kTwoByThree, kThreeByTwo), ElementsAre(4, 10, 5, 11));
  EXPECT_THAT(run("i,j", array({2}, {1, 2}), array({2}, {3, 4})), ElementsAre(3, 4, 6, 8));
  EXPECT_THAT(run("...ij,...kj->...ik", kTwoByThree, array({1, 3}, {1, 1, 1})), ElementsAre(6, 15));
  const Array square = array({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Bench("Einsum").in(square).text("equation", "ii").values(), ElementsAre(5));
  EXPECT_THAT(Bench("Einsum").in(square).text("equation", "ii->i").values(), ElementsAre(1, 4));
}

TEST(Einsum, SquareSumsFollowThePattern) {
  const Terms terms =
      Bench("Einsum").in(kTwoByThree).in(kThreeByTwo).text("equation", "ij,jk->ik").terms_of();
  EXPECT_EQ(terms.n, 3);
  EXPECT_THAT(terms.a2, ElementsAre(10, 13, 52, 61));
}

TEST(Einsum, RefusesWhatItCannotRead) {
  const Bench bench = Bench("Einsum").in(kTwoByThree).text("equation", "ij?->i");
  EXPECT_THAT(bench.failure(), HasSubstr("operator not modelled"));
  EXPECT_THAT(Bench("Einsum").in(kTwoByThree).text("equation", "ijk->i").failure(),
              HasSubstr("rank"));
  EXPECT_THAT(Bench("Einsum").in(kTwoByThree).text("equation", "ij->x").failure(),
              HasSubstr("unknown"));
}

TEST(EvaluateAt, RefusesPositionsBeyondTheOutput) {
  const Bench bench = Bench("MatMul").in(kTwoByThree).in(kThreeByTwo);
  const std::vector<std::uint64_t> positions = {4};
  const auto sample = evaluate_at(bench.kind(), bench.call(), {2, 2}, positions, false);
  ASSERT_FALSE(sample.has_value());
  EXPECT_EQ(sample.error().code, ErrorCode::out_of_range);
}

// Without offsets it is a convolution.
TEST(DeformConv, IsAConvolutionWithoutOffsets) {
  const Array x = noise({2, 4, 5, 6}, 1);
  const Array w = noise({6, 2, 3, 3}, 2);
  const auto with = [&](Bench bench) {
    return bench.ints("group", {2}).ints("pads", {1, 1, 1, 1}).ints("strides", {2, 1});
  };
  const Bench plain = with(Bench("Conv").in(x).in(w).in(noise({6}, 3)));
  Array none = array({2, 18, 3, 6}, Values(2 * 18 * 3 * 6, 0.0));
  Bench bench = with(Bench("DeformConv").in(x).in(w).in(none).in(noise({6}, 3)));
  expect_near(bench.values(), plain.values(), 1e-13);
  expect_near(bench.terms_of().a2, plain.terms_of().a2, 1e-13);
  EXPECT_EQ(bench.terms_of().n, 18);
  EXPECT_TRUE(bench.terms_of().weights.empty());
  Bench narrowed = with(Bench("Conv").in(x).in(w).in(noise({6}, 3)));
  narrowed.delta(1, noise({6, 2, 3, 3}, 4));
  bench.delta(1, noise({6, 2, 3, 3}, 4));
  expect_near(bench.terms_of().weights, narrowed.terms_of().weights, 1e-12);
}

// Halfway between 1 and 3 with a mask of 1/2; outside counts as 0.
TEST(DeformConv, SamplesBesideItsPlaces) {
  const Bench bench = Bench("DeformConv")
                          .in(array({1, 1, 1, 2}, {1, 3}))
                          .in(array({1, 1, 1, 1}, {10}))
                          .in(array({1, 2, 1, 2}, {0, 0, 0.5, 0.5}))
                          .absent()
                          .in(array({1, 1, 1, 2}, {0.5, 1}));
  EXPECT_THAT(bench.values(), testing::ElementsAre(10, 15));
}

TEST(DeformConv, RefusesWhatDoesNotFit) {
  const auto with = [](const tensor::Shape& offset, const tensor::Shape& mask) {
    return Bench("DeformConv")
        .in(noise({1, 2, 3, 3}, 1))
        .in(noise({1, 2, 1, 1}, 2))
        .in(noise(offset, 3))
        .absent()
        .in(noise(mask, 4));
  };
  EXPECT_THAT(with({1, 2, 3, 2}, {1, 1, 3, 3}).failure(), testing::HasSubstr("do not fit"));
  EXPECT_THAT(with({1, 2, 3, 3}, {1, 2, 3, 3}).failure(), testing::HasSubstr("do not fit"));
  EXPECT_THAT(with({1, 2, 3, 3}, {1, 1, 3, 3}).ints("offset_group", {0}).failure(),
              testing::HasSubstr("groups"));
  EXPECT_THAT(with({1, 2, 3, 3}, {1, 1, 3, 3}).ints("offset_group", {3}).failure(),
              testing::HasSubstr("groups"));
  Array far = array({1, 2, 3, 3}, Values(18, std::nan("")));
  far.values[0] = HUGE_VAL;
  EXPECT_EQ(Bench("DeformConv")
                .in(noise({1, 2, 3, 3}, 1))
                .in(noise({1, 2, 1, 1}, 2))
                .in(far)
                .values()
                .size(),
            9U);
}

}  // namespace
}  // namespace opdrift::replay::test
