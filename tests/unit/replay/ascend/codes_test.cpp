#include <bit>

#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;

double packed(float scale) {
  return static_cast<double>(std::bit_cast<std::uint32_t>(scale));
}

TEST(AscendQuant, ScalesShiftsAndSaturates) {
  const Array x = array({4}, {0.25, 0.75, -300, 1.2});
  EXPECT_THAT(ascend("AscendQuant").in(x).real("scale", 2).real("offset", 1).values(),
              ElementsAre(2, 2, -128, 3));
  EXPECT_THAT(ascend("AscendQuant").in(x).real("scale", 2).ints("sqrt_mode", {1}).values(),
              ElementsAre(1, 3, -128, 5));
  EXPECT_THAT(ascend("AscendQuant").in(x).real("scale", 2).text("round_mode", "Floor").values(),
              ElementsAre(0, 1, -128, 2));
  EXPECT_THAT(ascend("AscendQuant").in(x).ints("dst_type", {29}).values(),
              ElementsAre(0, 1, -8, 1));
  EXPECT_THAT(ascend("AscendQuant").in(x).text("round_mode", "odd").failure(),
              HasSubstr("round mode"));
  EXPECT_THAT(ascend("AscendQuant").in(x).ints("dst_type", {40}).failure(), HasSubstr("type 40"));
  EXPECT_THAT(ascend("AscendQuantV2")
                  .in(array({2, 2}, {1, 2, 3, 4}))
                  .in(array({2}, {2, 0.5}))
                  .in(array({2}, {1, 0}))
                  .values(),
              ElementsAre(3, 1, 7, 2));
  EXPECT_THAT(ascend("AscendQuantV2").in(x).in(array({3}, {1, 2, 3})).failure(),
              HasSubstr("expected one number, or 4"));
}

// A code by cutting off stands for what is half a step above it in the mean.
TEST(AscendQuant, ExactCodesAreTheMiddleOfTheirNumbers) {
  const Bench bench = ascend("AscendQuant").in(array({1}, {2.75})).text("round_mode", "Floor");
  Call call = bench.call();
  call.exact_codes = true;
  const Result<Outputs> outputs = evaluate(bench.kind(), call);
  ASSERT_TRUE(outputs.has_value());
  EXPECT_THAT(outputs->front().values, ElementsAre(2.25));
}

TEST(AscendQuantize, DividesAndAddsTheZeroPoint) {
  const Array x = array({1, 2}, {1, -3});
  const Bench bench = ascend("Quantize")
                          .in(x)
                          .in(array({2}, {0.5, 2}))
                          .in(array({2}, {10, 1}, DType::i32))
                          .text("dtype", "torch.quint8");
  EXPECT_THAT(bench.values(), ElementsAre(12, 0));
  EXPECT_EQ(bench.first().dtype, DType::u8);
  EXPECT_THAT(Bench(bench).text("dtype", "torch.odd").failure(), HasSubstr("torch.odd"));
}

// 127 / 4 = 31.75 per unit; a row of zeros stays zero.
TEST(AscendDynamicQuant, ScalesEveryRow) {
  const Bench bench = ascend("DynamicQuant").in(array({2, 2}, {1, -4, 0, 0})).outputs(2);
  const Outputs outputs = bench.run();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_THAT(outputs[0].values, ElementsAre(32, -127, 0, 0));
  expect_near(outputs[1].values, {4.0 / 127.0, 0.0}, 1e-17);
  EXPECT_THAT(ascend("DynamicQuant").in(array({1, 2}, {1, 4})).in(array({2}, {8, 1})).values(),
              ElementsAre(127, 64));
}

TEST(AscendDequant, ReadsPlainAndPackedScales) {
  const Array x = array({1, 2, 1, 1}, {10, -10}, DType::i32);
  EXPECT_THAT(ascend("AscendDequant").in(x).in(array({2}, {0.5, 2})).values(), ElementsAre(5, -20));
  EXPECT_THAT(ascend("AscendDequant")
                  .in(x)
                  .in(array({1}, {packed(0.5F)}, DType::u64))
                  .ints("relu_flag", {1})
                  .ints("sqrt_mode", {1})
                  .values(),
              ElementsAre(2.5, 0));
  EXPECT_THAT(ascend("AscendDequant")
                  .in(x)
                  .in(array({1}, {packed(0.5F) + std::exp2(35)}, DType::u64))
                  .failure(),
              HasSubstr("shift"));
  EXPECT_THAT(ascend("AscendDequant")
                  .in(array({1, 2, 1, 2}, {1, 2, 3, 4}))
                  .in(array({2}, {0.5, 2}))
                  .failure(),
              HasSubstr("the axis of the scales"));
  EXPECT_THAT(ascend("AscendDequant").in(x).in(array({3}, {1, 2, 3})).failure(),
              HasSubstr("expected one number"));
  EXPECT_THAT(ascend("AscendRequant").in(x).in(array({2}, {0.25, 20})).values(),
              ElementsAre(2, -128));
  EXPECT_THAT(ascend("AscendAntiQuant").in(x).real("scale", 0.5).real("offset", 2).values(),
              ElementsAre(6, -4));
}

// (2 * 3 + 1 * 4 + bias) * 0.5 and * 2.
TEST(AscendQuantBatchMatmul, ScalesSumsOfCodes) {
  const Array left = array({1, 2}, {2, 1}, DType::i8);
  const Array right = array({2, 2}, {3, 5, 4, 6}, DType::i8);
  const Array scale = array({2}, {0.5, 2});
  const auto product = [&] {
    return ascend("QuantBatchMatmulV3").in(left).in(right).in(scale).absent();
  };
  EXPECT_THAT(product().values(), ElementsAre(5, 32));
  EXPECT_THAT(product().in(array({2}, {2, -1}, DType::i32)).values(), ElementsAre(6, 30));
  const Bench scaled = product().in(array({2}, {0.25, 1})).in(array({1}, {0.5}));
  EXPECT_THAT(scaled.values(), ElementsAre(2.75, 17));
  EXPECT_THAT(scaled.terms_of().extra, ElementsAre(0.0625, 1));
  EXPECT_THAT(product().ints("dtype", {2}).failure(), HasSubstr("codes"));
  EXPECT_THAT(product().in(array({3}, {1, 2, 3})).failure(), HasSubstr("do not fit"));
  EXPECT_THAT(ascend("QuantBatchMatmulV3").in(array({1, 2}, {2, 1})).in(right).in(scale).failure(),
              HasSubstr("no bytes"));
}

// Weights (1 + 1) 0.5 = 1, (3 + 1) 0.5 = 2; columns, or groups of one row.
TEST(AscendWeightQuantBatchMatmul, DecodesWeights) {
  const Array x = array({1, 2}, {10, 1});
  const Array w = array({2, 2}, {1, 3, 5, 7}, DType::i8);
  EXPECT_THAT(ascend("WeightQuantBatchMatmulV2")
                  .in(x)
                  .in(w)
                  .in(array({1}, {0.5}))
                  .in(array({1}, {1}))
                  .values(),
              ElementsAre(13, 24));
  const auto by = [&](Array scale) {
    return ascend("WeightQuantBatchMatmulV2").in(x).in(w).in(std::move(scale));
  };
  EXPECT_THAT(by(array({2}, {1, 2})).values(), ElementsAre(15, 74));
  EXPECT_THAT(by(array({2, 2}, {1, 2, 3, 4})).ints("antiquant_group_size", {1}).values(),
              ElementsAre(25, 88));
  // Transposed: columns of the product are rows of w.
  EXPECT_THAT(by(array({2}, {1, 2})).ints("transpose_weight", {1}).values(), ElementsAre(13, 114));
  EXPECT_EQ(by(array({1}, {1})).terms_of().n, 2);
  EXPECT_THAT(by(array({1}, {1})).terms_of().a2, ElementsAre(125, 949));
  EXPECT_THAT(by(array({3}, {1, 2, 3})).failure(), HasSubstr("do not fit the weights"));
}

}  // namespace
}  // namespace opdrift::replay::test
