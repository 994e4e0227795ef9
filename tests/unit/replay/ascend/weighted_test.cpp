#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Rows (1, 2, 3, 4) and (0, 1, 0, 1) by weights (1, 1, 1, 1) and (1, 0, -1, 0).
TEST(AscendFullyConnection, FlattensBothSides) {
  const Array x = array({2, 2, 1, 2}, {1, 2, 3, 4, 0, 1, 0, 1});
  const Array w = array({2, 2, 1, 2}, {1, 1, 1, 1, 1, 0, -1, 0});
  const Bench bench =
      ascend("FullyConnection").in(x).in(w).in(array({2}, {10, 20})).ints("num_output", {2});
  EXPECT_THAT(bench.values(), ElementsAre(20, 18, 12, 20));
  EXPECT_EQ(bench.terms_of().n, 4);
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(30, 10, 2, 0));
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(100, 400, 100, 400));
  EXPECT_THAT(ascend("FullyConnection")
                  .in(array({1, 2}, {3, 4}))
                  .in(array({2, 3}, {1, 2, 3, 4, 5, 6}))
                  .ints("transpose", {1})
                  .values(),
              ElementsAre(19, 26, 33));
  expect_samples_agree(ascend("FullyConnection")
                           .in(noise({3, 2, 4}, 1))
                           .in(noise({5, 8}, 2))
                           .in(noise({5}, 3))
                           .delta(1, noise({5, 8}, 4)));
}

TEST(AscendFullyConnection, RefusesWhatDoesNotFit) {
  const Array x = noise({2, 3}, 1);
  EXPECT_THAT(ascend("FullyConnection").in(x).in(noise({2, 4}, 2)).failure(),
              HasSubstr("do not fit"));
  EXPECT_THAT(ascend("FullyConnection").in(x).in(noise({2, 3}, 2)).in(noise({3}, 2)).failure(),
              HasSubstr("bias"));
  EXPECT_THAT(ascend("FullyConnection").in(x).in(noise({2, 3}, 2)).ints("axis", {5}).failure(),
              HasSubstr("axis"));
  EXPECT_THAT(ascend("FullyConnection").in(x).in(array({}, {1})).failure(),
              HasSubstr("do not fit"));
}

// The extents follow from the input up to one stride: 4 = 2 (2 - 1) + 2, 5 needs one more.
TEST(AscendConvTranspose, ReachesTheSizeAskedFor) {
  const Array x = array({1, 1, 1, 2}, {1, 2});
  const Array w = array({1, 1, 1, 2}, {1, 10});
  const auto to = [&](double width) {
    return ascend("Conv2DTranspose")
        .in(integers({1, 1, 1, width}))
        .in(x)
        .in(w)
        .in(array({1}, {0.5}))
        .ints("strides", {1, 1, 2, 2})
        .ints("pads", {0, 0, 0, 0})
        .text("data_format", "NCHW");
  };
  EXPECT_THAT(to(4).values(), ElementsAre(1.5, 10.5, 2.5, 20.5));
  EXPECT_THAT(to(5).values(), ElementsAre(1.5, 10.5, 2.5, 20.5, 0.5));
  EXPECT_THAT(to(6).failure(), HasSubstr("does not follow"));
  EXPECT_THAT(to(4).text("data_format", "NHWC").failure(), HasSubstr("channels last"));
  EXPECT_THAT(ascend("Conv2DTransposeD")
                  .in(x)
                  .in(w)
                  .ints("input_size", {1, 1, 1, 5})
                  .ints("strides", {1, 1, 1, 2})
                  .values(),
              ElementsAre(1, 10, 2, 20, 0));
  EXPECT_THAT(ascend("Conv2DBackpropInputD")
                  .in(w)
                  .in(x)
                  .ints("input_size", {1, 1, 1, 4})
                  .ints("strides", {1, 2})
                  .values(),
              ElementsAre(1, 10, 2, 20));
  expect_samples_agree(ascend("Conv2DTranspose")
                           .in(integers({1, 3, 9, 11}))
                           .in(noise({1, 4, 4, 5}, 1))
                           .in(noise({4, 3, 3, 3}, 2))
                           .delta(2, noise({4, 3, 3, 3}, 4))
                           .ints("strides", {1, 1, 2, 2}));
}

// Above and left one, below and right none: pairs, although only the dilations list four.
TEST(AscendDeconvolution, PadsArePairs) {
  const Array x = array({1, 1, 2, 2}, {1, 2, 3, 4});
  const Array w = array({1, 1, 1, 1}, {1});
  const Bench bench = ascend("Deconvolution")
                          .in(x)
                          .in(w)
                          .ints("strides", {1, 1})
                          .ints("dilations", {1, 1, 1, 1})
                          .ints("pads", {1, 0, 0, 0});
  EXPECT_EQ(bench.first().shape, (tensor::Shape{1, 1, 1, 2}));
  EXPECT_THAT(bench.values(), ElementsAre(3, 4));
}

TEST(AscendDepthwise, HasOneGroupPerChannel) {
  const Array x = array({1, 2, 1, 2}, {1, 2, 3, 4});
  for (const tensor::Shape& kernel : {tensor::Shape{2, 1, 1, 1}, tensor::Shape{1, 2, 1, 1}}) {
    EXPECT_THAT(ascend("DepthwiseConv2D").in(x).in(array(kernel, {1, 10})).values(),
                ElementsAre(1, 2, 30, 40));
  }
  EXPECT_THAT(
      ascend("DepthwiseConv2D").in(array({1, 1, 1, 1}, {3})).in(array({1, 1, 1, 1}, {2})).values(),
      ElementsAre(6));
  EXPECT_NE(ascend("DepthwiseConv2D").in(x).in(noise({2, 2, 1, 1}, 1)).failure(), "");
  EXPECT_THAT(ascend("Conv2D").in(x).in(noise({1, 2, 1, 1}, 1)).ints("offset_x", {3}).failure(),
              HasSubstr("offsets"));
}

// 3 columns by windows of 2, stride 2: rounded up two windows, the second half in the border.
TEST(AscendPooling, FollowsCaffe) {
  const Array x = array({1, 1, 1, 3}, {1, 3, 5});
  const auto pool = [&](std::int64_t mode) {
    return ascend("Pooling")
        .in(x)
        .ints("mode", {mode})
        .ints("window", {1, 2})
        .ints("stride", {1, 2});
  };
  EXPECT_THAT(pool(0).values(), ElementsAre(3, 5));
  EXPECT_THAT(pool(0).ints("ceil_mode", {1}).values(), ElementsAre(3));
  // The border counts as far as it is padded: (0 + 1) / 2, (3 + 5) / 2.
  EXPECT_THAT(pool(1).ints("pad", {0, 0, 1, 0}).values(), ElementsAre(0.5, 4));
  EXPECT_THAT(pool(1).ints("pad", {0, 0, 1, 0}).terms_of().a2, ElementsAre(0.25, 8.5));
  EXPECT_THAT(ascend("Pooling").in(x).ints("mode", {1}).ints("global_pooling", {1}).values(),
              ElementsAre(3));
  EXPECT_THAT(pool(2).failure(), HasSubstr("mode 2"));
  EXPECT_THAT(pool(0).ints("pad", {1}).failure(), HasSubstr("four pads"));
}

TEST(AscendPooling, GlobalWindowsCoverThePlane) {
  const Array x = array({1, 1, 2, 2}, {1, 2, 3, 6});
  EXPECT_THAT(
      ascend("AvgPoolV2").in(x).ints("ksize", {1, 1, 1, 1}).ints("global_pooling", {1}).values(),
      ElementsAre(3));
  EXPECT_THAT(
      ascend("MaxPoolV3").in(x).ints("ksize", {1, 1, 1, 1}).ints("global_pooling", {1}).values(),
      ElementsAre(6));
}

TEST(AscendUpsample, RepeatsAndScales) {
  EXPECT_THAT(ascend("Upsample")
                  .in(array({1, 1, 1, 2}, {1, 2}))
                  .ints("stride_h", {1})
                  .real("scale", 0.5)
                  .values(),
              ElementsAre(0.5, 0.5, 1, 1));
  EXPECT_THAT(ascend("Upsample").in(array({1, 1, 2}, {1, 2})).failure(), HasSubstr("four axes"));
}

}  // namespace
}  // namespace opdrift::replay::test
