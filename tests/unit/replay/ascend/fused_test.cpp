#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AscendFusedMulAdd, MultipliesThenAdds) {
  const Bench bench =
      ascend("FusedMulAdd").in(array({2}, {2, 3})).in(array({1}, {4})).in(array({2}, {1, -20}));
  EXPECT_THAT(bench.values(), ElementsAre(9, -8));
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(64, 144));
  EXPECT_THAT(ascend("FusedMulAdd").in(array({2}, {2, 3})).in(array({1}, {4})).failure(),
              HasSubstr("missing"));
}

TEST(AscendConfusionTranspose, TransposesBeforeOrAfter) {
  const Array x = array({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto turned = [&](std::int64_t first) {
    return ascend("ConfusionTransposeD")
        .in(x)
        .ints("perm", {1, 0})
        .ints("shape", {3, 2})
        .ints("transpose_first", {first});
  };
  EXPECT_THAT(turned(1).values(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(turned(1).first().shape, (tensor::Shape{3, 2}));
  EXPECT_THAT(turned(0).values(), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_EQ(turned(0).first().shape, (tensor::Shape{2, 3}));
  EXPECT_THAT(turned(0).ints("shape", {7}).failure(), HasSubstr("elements"));
  EXPECT_THAT(ascend("ConfusionTransposeD").in(x).ints("shape", {6}).failure(),
              HasSubstr("permutation"));
}

// e^0 and e^(2 ln 2) = 4; what is masked is -10000.
TEST(AscendScaledMaskedSoftmax, ScalesAndMasks) {
  const Array x = array({1, 3}, {0, std::log(2.0), 50});
  const Array mask = array({1, 3}, {0, 0, 1}, tensor::DType::boolean);
  const Bench bench = ascend("ScaledMaskedSoftmax").in(x).in(mask).real("scale", 2);
  expect_near(bench.values(), {0.2, 0.8, 0}, 1e-15);
  EXPECT_EQ(bench.terms_of().extra.size(), 3U);
  EXPECT_THAT(ascend("ScaledMaskedSoftmax").in(x).in(mask).ints("fixed_triu_mask", {1}).failure(),
              HasSubstr("triangle"));
  EXPECT_THAT(ascend("ScaledMaskedSoftmax").in(x).in(array({2, 3}, Values(6, 0.0))).failure(),
              HasSubstr("larger"));
}

TEST(AscendIndex, RowsOfPositionsAndBestValues) {
  const Array x = array({2, 2}, {0, 5, 7, 0});
  EXPECT_THAT(ascend("NonZero").in(x).values(), ElementsAre(0, 1, 1, 0));
  const Array row = array({2, 3}, {0, 0, 0, 1, 0, 1});
  EXPECT_THAT(ascend("NonZero").in(row).values(), ElementsAre(1, 0, 1, 2));
  EXPECT_THAT(ascend("NonZero").in(row).ints("transpose", {1}).values(), ElementsAre(1, 1, 0, 2));
  const Outputs best = ascend("ArgMaxWithValue").in(x).ints("dimension", {1}).outputs(2).run();
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].shape, tensor::Shape{2});
  EXPECT_THAT(best[0].values, ElementsAre(1, 0));
  EXPECT_THAT(best[1].values, ElementsAre(5, 7));
  const Outputs least = ascend("ArgMinWithValue")
                            .in(x)
                            .ints("dimension", {0})
                            .ints("keep_dims", {1})
                            .outputs(2)
                            .run();
  EXPECT_EQ(least[1].shape, (tensor::Shape{1, 2}));
  EXPECT_THAT(least[0].values, ElementsAre(0, 1));
  EXPECT_THAT(least[1].values, ElementsAre(0, 0));
  EXPECT_THAT(ascend("ArgMaxWithValue").in(x).ints("dimension", {4}).failure(), HasSubstr("axis"));
  const Bench bench = ascend("ArgMaxWithValue").in(x).ints("dimension", {1});
  const Result<std::vector<double>> found =
      selected_values(bench.kind(), bench.call(), array({2}, {0, 1}));
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(0, 0));
}

}  // namespace
}  // namespace opdrift::replay::test
