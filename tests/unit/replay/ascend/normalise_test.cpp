#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Rows (1, 3) and (2, 2) have means 2 and deviations 1 and 0.
TEST(AscendLayerNormV4, TakesTheShapeAsAnInput) {
  const Array x = array({2, 2}, {1, 3, 2, 2});
  const Bench bench = ascend("LayerNormV4")
                          .in(x)
                          .in(integers({2}))
                          .in(array({2}, {1, 2}))
                          .in(array({2}, {0, 1}))
                          .real("epsilon", 3)
                          .outputs(3);
  const Outputs outputs = bench.run();
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_THAT(outputs[0].values, ElementsAre(-0.5, 2, 0, 1));
  EXPECT_THAT(outputs[1].values, ElementsAre(2, 2));
  expect_near(outputs[2].values, {0.5, 1 / std::sqrt(3.0)}, 1e-15);
  EXPECT_EQ(bench.terms_of().n, 2);
  EXPECT_THAT(ascend("LayerNormV4").in(x).in(integers({2, 2, 2})).failure(), HasSubstr("axis"));
}

TEST(AscendLayerNorm, GivesOutTheVariance) {
  const Outputs outputs = ascend("LayerNorm")
                              .in(array({1, 2}, {1, 3}))
                              .in(array({2}, {1, 1}))
                              .in(array({2}, {0, 0}))
                              .ints("begin_norm_axis", {1})
                              .real("epsilon", 3)
                              .outputs(3)
                              .run();
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_THAT(outputs[0].values, ElementsAre(-0.5, 0.5));
  expect_near(outputs[2].values, {1}, 1e-15);
}

TEST(AscendAddLayerNorm, GivesOutTheSum) {
  const Array a = array({1, 2}, {1, 1});
  const Array b = array({1, 2}, {0, 1});
  const Array ones = array({2}, {1, 1});
  const Array zeros = array({2}, {0, 0});
  const Bench bench = ascend("AddLayerNorm")
                          .in(a)
                          .in(b)
                          .in(ones)
                          .in(zeros)
                          .in(array({2}, {0, 1}))
                          .real("epsilon", 3)
                          .outputs(4);
  const Outputs outputs = bench.run();
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_THAT(outputs[3].values, ElementsAre(1, 3));
  EXPECT_THAT(outputs[0].values, ElementsAre(-0.5, 0.5));
  EXPECT_TRUE(bench.terms_of(3).extra.empty());
  EXPECT_THAT(
      ascend("AddLayerNorm").in(a).in(array({2, 2}, {1, 2, 3, 4})).in(ones).in(zeros).failure(),
      HasSubstr("larger than the input"));
}

// Sum (3, 4): mean square 12.5.
TEST(AscendAddRmsNorm, GivesOutResultInverseAndSum) {
  const auto norm = [](const char* type) {
    return ascend(type)
        .in(array({1, 2}, {1, 4}))
        .in(array({1, 2}, {2, 0}))
        .in(array({2}, {1, 2}))
        .real("epsilon", 3.5);
  };
  const Outputs outputs = norm("AddRmsNorm").outputs(3).run();
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_THAT(outputs[0].values, ElementsAre(0.75, 2));
  EXPECT_THAT(outputs[1].values, ElementsAre(0.25));
  EXPECT_EQ(outputs[1].shape, (tensor::Shape{1, 1}));
  EXPECT_THAT(outputs[2].values, ElementsAre(3, 4));
  const Bench cast = norm("AddRmsNormCast").outputs(4);
  ASSERT_EQ(cast.run().size(), 4U);
  EXPECT_THAT(cast.run()[1].values, ElementsAre(0.75, 2));
  EXPECT_EQ(cast.terms_of(1).n, 2);
  const Outputs plain =
      ascend("RmsNorm").in(array({1, 2}, {3, 4})).in(array({2}, {1, 2})).real("epsilon", 3.5).run();
  EXPECT_THAT(plain[0].values, ElementsAre(0.75, 2));
  EXPECT_THAT(plain[1].values, ElementsAre(0.25));
}

TEST(AscendGroupNormSilu, ActivatesAndGivesMoments) {
  const Array x = array({1, 2, 2}, {1, 3, 5, 9});
  const auto norm = [&](const char* type) {
    return ascend(type)
        .in(x)
        .in(array({2}, {1, 1}))
        .in(array({2}, {0, 0}))
        .ints("num_groups", {2})
        .real("eps", 0)
        .outputs(3);
  };
  const auto silu = [](double v) { return v / (1 + std::exp(-v)); };
  const Outputs outputs = norm("GroupNormSilu").run();
  ASSERT_EQ(outputs.size(), 3U);
  expect_near(outputs[0].values, {silu(-1), silu(1), silu(-1), silu(1)}, 1e-15);
  EXPECT_THAT(outputs[1].values, ElementsAre(2, 7));
  EXPECT_THAT(outputs[2].values, ElementsAre(1, 0.5));
  expect_near(norm("GroupNormSilu").ints("activate_silu", {0}).values(), {-1, 1, -1, 1}, 1e-15);
  const double twice = 1 / (1 + std::exp(-2.0));
  expect_near(norm("GroupNormSwish").real("swish_scale", 2).values(),
              {twice - 1, twice, twice - 1, twice}, 1e-15);
  EXPECT_EQ(norm("GroupNormSilu").terms_of().extra.size(), 4U);
  EXPECT_THAT(norm("GroupNormSilu").ints("num_groups", {3}).failure(), HasSubstr("do not divide"));
}

// Channel 0 holds 1 and 3, channel 1 holds 2 and 6.
TEST(AscendBNTraining, SumsAndNormalises) {
  const Array x = array({1, 2, 2}, {1, 3, 2, 6});
  const Bench sums = ascend("BNTrainingReduce").in(x).outputs(2);
  const Outputs outputs = sums.run();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_THAT(outputs[0].values, ElementsAre(4, 8));
  EXPECT_THAT(outputs[1].values, ElementsAre(10, 40));
  EXPECT_THAT(sums.terms_of(0).a2, ElementsAre(10, 40));
  EXPECT_THAT(sums.terms_of(1).a2, ElementsAre(82, 1312));
  const Array ones = array({2}, {1, 1});
  const Array zeros = array({2}, {0, 0});
  const Bench update = ascend("BNTrainingUpdate")
                           .in(x)
                           .in(outputs[0])
                           .in(outputs[1])
                           .in(ones)
                           .in(zeros)
                           .in(zeros)
                           .in(ones)
                           .real("factor", 0.5)
                           .real("epsilon", 0)
                           .outputs(5);
  const Outputs made = update.run();
  ASSERT_EQ(made.size(), 5U);
  EXPECT_THAT(made[0].values, ElementsAre(-1, 1, -1, 1));
  EXPECT_THAT(made[1].values, ElementsAre(1, 2));
  EXPECT_THAT(made[2].values, ElementsAre(1.5, 4.5));
  EXPECT_THAT(made[3].values, ElementsAre(2, 4));
  EXPECT_THAT(made[4].values, ElementsAre(1, 4));
  // (x s)^2 + (m s)^2, and half of mean(x^2) / variance of what comes out, squared.
  expect_near(update.terms_of().extra, {1 + 4 + 6.25, 9 + 4 + 6.25, 1 + 4 + 6.25, 9 + 4 + 6.25},
              1e-12);
  EXPECT_EQ(ascend("BNTrainingUpdateV2")
                .in(x)
                .in(outputs[0])
                .in(outputs[1])
                .in(ones)
                .in(zeros)
                .run()
                .size(),
            3U);
  EXPECT_THAT(ascend("BNTrainingUpdateV2")
                  .in(x)
                  .in(array({3}, {1, 2, 3}))
                  .in(outputs[1])
                  .in(ones)
                  .in(zeros)
                  .failure(),
              HasSubstr("one sum per channel"));
  EXPECT_THAT(ascend("BNTrainingReduce").in(array({2}, {1, 2})).failure(), HasSubstr("channel"));
}

// (1 + 2) 3 = 9, times 2 and 1 more.
TEST(AscendBNInferenceD, TakesPreparedParameters) {
  const Array x = array({1, 2, 1}, {1, 5});
  const Array mean = array({2}, {2, -5});
  const Array variance = array({2}, {3, 4});
  const auto norm = [&] { return ascend("BNInferenceD").in(x).in(mean).in(variance); };
  EXPECT_THAT(norm().values(), ElementsAre(9, 0));
  const Bench bench = norm().in(array({2}, {2, 1})).in(array({2}, {1, 7}));
  EXPECT_THAT(bench.values(), ElementsAre(19, 7));
  // (1 6)^2 + (2 6)^2 + 1, (5 4)^2 + (5 4)^2 + 49
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(181, 849));
  EXPECT_THAT(norm().in(array({3}, {1, 2, 3})).failure(), HasSubstr("one parameter"));
  EXPECT_THAT(ascend("BNInferenceD").in(x).in(mean).failure(), HasSubstr("variance"));
}

// Sums over two batches: mean 4 / 2, variance 8 / 2.
TEST(AscendBNInference, DividesWhatIsStoredBySumsOfBatches) {
  EXPECT_THAT(ascend("BNInference")
                  .in(array({1, 1, 2}, {2, 6}))
                  .in(array({1}, {4}))
                  .in(array({1}, {8}))
                  .in(array({1}, {2}))
                  .real("epsilon", 0)
                  .values(),
              ElementsAre(0, 2));
  EXPECT_EQ(find_kind("BNInfer", Dialect::ascend)->name, "BatchNormalization");
}

}  // namespace
}  // namespace opdrift::replay::test
