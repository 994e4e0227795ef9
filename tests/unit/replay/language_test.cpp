#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

// Kinds of exported language models: packed weights, grouped queries, keys and values that are
// kept. Numbers by hand.

namespace opdrift::replay::test {
namespace {

using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;

// Low bits first: 0x9a holds 10 and 9, less 8 and times 0.5 that is 1 and 0.5; 0x88 holds zeros.
TEST(MatMulNBits, UnpacksNibblesAndScalesBlocks) {
  Values left(16, 0.0);
  left[0] = 1;
  left[1] = 10;
  Values bytes(8, 0x88);
  bytes[0] = 0x9a;
  const Bench bench = Bench("MatMulNBits")
                          .in(array({1, 16}, left))
                          .in(array({1, 1, 8}, bytes, DType::u8))
                          .in(array({1}, {0.5}))
                          .ints("K", {16})
                          .ints("N", {1})
                          .ints("block_size", {16});
  EXPECT_THAT(bench.values(), ElementsAre(6));
  EXPECT_EQ(bench.terms_of().n, 16);
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(1 + 25));
  // 10 - 7 and 9 - 7
  EXPECT_THAT(Bench(bench).in(array({1, 1}, {0x07}, DType::u8)).values(), ElementsAre(11.5));
}

TEST(MatMulNBits, RefusesWeightsThatDoNotCover) {
  const Bench bench = Bench("MatMulNBits")
                          .in(array({1, 16}, Values(16, 0.0)))
                          .in(array({1, 1, 7}, Values(7, 0.0), DType::u8))
                          .in(array({1}, {0.5}))
                          .ints("K", {16})
                          .ints("N", {1})
                          .ints("block_size", {16});
  EXPECT_THAT(bench.failure(), HasSubstr("do not cover"));
}

// (3 - 1) 2 = 4; (5 - 4) 0.5 and (7 - 4) 1.
TEST(MatMulIntegerToFloat, ScalesPerColumn) {
  EXPECT_THAT(Bench("MatMulIntegerToFloat")
                  .in(array({1, 1}, {3}, DType::u8))
                  .in(array({1, 2}, {5, 7}, DType::u8))
                  .in(array({}, {2}))
                  .in(array({2}, {0.5, 1}))
                  .in(array({}, {1}, DType::u8))
                  .in(array({}, {4}, DType::u8))
                  .in(array({2}, {1, 0}))
                  .values(),
              ElementsAre(3, 12));
}

// -1 to 254 is a scale of 1: nothing is lost.
TEST(DynamicQuantizeMatMul, QuantisesTheLeftSide) {
  EXPECT_THAT(Bench("DynamicQuantizeMatMul")
                  .in(array({1, 2}, {-1, 254}))
                  .in(array({2, 1}, {2, 1}, DType::u8))
                  .in(array({}, {0.5}))
                  .values(),
              ElementsAre(126));
}

TEST(Bits, DependOnTheWidthOfTheType) {
  EXPECT_THAT(Bench("BitwiseNot").in(array({2}, {5, 0}, DType::u8)).values(),
              ElementsAre(250, 255));
  EXPECT_THAT(Bench("BitwiseNot").in(array({2}, {5, -1}, DType::i32)).values(), ElementsAre(-6, 0));
  const Array x = array({2}, {200, 9}, DType::u8);
  const Array by = array({1}, {1}, DType::u8);
  EXPECT_THAT(Bench("BitShift").in(x).in(by).text("direction", "LEFT").values(),
              ElementsAre(144, 18));
  EXPECT_THAT(Bench("BitShift").in(x).in(by).text("direction", "RIGHT").values(),
              ElementsAre(100, 4));
  EXPECT_THAT(Bench("BitShift").in(x).in(by).failure(), HasSubstr("direction"));
}

// Equal scores: the mean of the values, the past one first.
TEST(Attention, ThePastStandsInFront) {
  const Bench bench = Bench("Attention", 23)
                          .in(array({1, 1, 1, 1}, {0}))
                          .in(array({1, 1, 1, 1}, {0}))
                          .in(array({1, 1, 1, 1}, {3}))
                          .absent()
                          .in(array({1, 1, 1, 1}, {5}))
                          .in(array({1, 1, 1, 1}, {1}))
                          .ints("is_causal", {1});
  const Outputs outputs = bench.run();
  EXPECT_THAT(outputs[0].values, ElementsAre(2));
  EXPECT_THAT(outputs[1].shape, ElementsAre(1U, 1U, 2U, 1U));
  EXPECT_THAT(outputs[1].values, ElementsAre(5, 0));
  EXPECT_THAT(outputs[2].values, ElementsAre(1, 3));
}

// Two positions in all, one of them new: it goes where the buffer holds nothing of use.
TEST(GroupQueryAttention, NewKeysJoinTheBuffer) {
  Bench bench = Bench("GroupQueryAttention")
                    .in(array({1, 1, 2}, {0, 0}))
                    .in(array({1, 1, 1}, {0}))
                    .in(array({1, 1, 1}, {3}))
                    .in(array({1, 1, 2, 1}, {0, 7}))
                    .in(array({1, 1, 2, 1}, {1, 9}))
                    .in(array({1}, {1}, DType::i32))
                    .in(array({}, {2}, DType::i32))
                    .ints("num_heads", {2})
                    .ints("kv_num_heads", {1});
  const Outputs outputs = bench.run();
  EXPECT_THAT(outputs[0].values, ElementsAre(2, 2));
  EXPECT_THAT(outputs[1].values, ElementsAre(0, 0));
  EXPECT_THAT(outputs[2].values, ElementsAre(1, 3));
  EXPECT_EQ(bench.terms_of().a2.size(), 2U);
}

// The first run: three positions, each sees what stands up to it.
TEST(GroupQueryAttention, APackedPromptIsCausal) {
  const Bench bench = Bench("GroupQueryAttention")
                          .in(array({1, 3, 3}, {0, 0, 1, 0, 0, 3, 0, 0, 8}))
                          .absent()
                          .absent()
                          .absent()
                          .absent()
                          .in(array({1}, {2}, DType::i32))
                          .in(array({}, {3}, DType::i32))
                          .ints("num_heads", {1})
                          .ints("kv_num_heads", {1});
  expect_near(bench.values(), {1, 2, 4}, 1e-15);
}

TEST(GroupQueryAttention, RefusesLengthsThatDoNotFit) {
  const Bench bench = Bench("GroupQueryAttention")
                          .in(array({1, 1, 3}, {0, 0, 1}))
                          .absent()
                          .absent()
                          .absent()
                          .absent()
                          .in(array({1}, {1e12}, DType::i32))
                          .in(array({}, {9}, DType::i32))
                          .ints("num_heads", {1})
                          .ints("kv_num_heads", {1});
  EXPECT_THAT(bench.failure(), HasSubstr("lengths do not fit"));
}

}  // namespace
}  // namespace opdrift::replay::test
