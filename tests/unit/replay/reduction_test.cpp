#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Array kMatrix = array({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Reduce, AxesByAttributeInputAndDefault) {
  EXPECT_THAT(Bench("ReduceSum", 11).in(kMatrix).ints("axes", {-1}).ints("keepdims", {0}).values(),
              ElementsAre(6, 15));
  EXPECT_THAT(Bench("ReduceSum", 13).in(kMatrix).in(integers({0})).values(), ElementsAre(5, 7, 9));
  const Bench all = Bench("ReduceMean", 18).in(kMatrix);
  EXPECT_THAT(all.values(), ElementsAre(3.5));
  EXPECT_THAT(all.first().shape, ElementsAre(1U, 1U));
  const Bench none =
      Bench("ReduceSum", 13).in(kMatrix).in(integers({})).ints("noop_with_empty_axes", {1});
  EXPECT_EQ(none.values(), kMatrix.values);
}

TEST(Reduce, EveryFunction) {
  const auto run = [](const std::string& type) {
    return Bench(type).in(array({2, 2}, {1, -2, 3, -4})).ints("axes", {1}).values();
  };
  EXPECT_THAT(run("ReduceMax"), ElementsAre(1, 3));
  EXPECT_THAT(run("ReduceMin"), ElementsAre(-2, -4));
  EXPECT_THAT(run("ReduceProd"), ElementsAre(-2, -12));
  EXPECT_THAT(run("ReduceL1"), ElementsAre(3, 7));
  EXPECT_THAT(run("ReduceSumSquare"), ElementsAre(5, 25));
  expect_near(run("ReduceL2"), {std::sqrt(5.0), 5}, 1e-15);
  expect_near(run("ReduceLogSumExp"),
              {std::log(std::exp(1.0) + std::exp(-2.0)), std::log(std::exp(3.0) + std::exp(-4.0))},
              1e-15);
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  expect_near(Bench("ReduceLogSumExp").in(array({2}, {1000, 1000})).values(),
              {1000 + std::log(2.0)}, 1e-12);
}

// mean: sum x^2 / n^2 over a row (1 + 4 + 9) / 9; sum: without the division.
TEST(Reduce, SquareSums) {
  const Terms mean = Bench("ReduceMean").in(kMatrix).ints("axes", {1}).terms_of();
  EXPECT_EQ(mean.n, 3);
  expect_near(mean.a2, {14.0 / 9, 77.0 / 9}, 1e-14);
  expect_near(Bench("ReduceSum").in(kMatrix).ints("axes", {1}).terms_of().a2, {14, 77}, 1e-14);
}

TEST(CumSum, ExclusiveAndReverse) {
  const auto run = [](std::int64_t exclusive, std::int64_t reverse) {
    return Bench("CumSum")
        .in(array({3}, {1, 2, 3}))
        .in(array({}, {0}, tensor::DType::i64))
        .ints("exclusive", {exclusive})
        .ints("reverse", {reverse})
        .values();
  };
  EXPECT_THAT(run(0, 0), ElementsAre(1, 3, 6));
  EXPECT_THAT(run(1, 0), ElementsAre(0, 1, 3));
  EXPECT_THAT(run(0, 1), ElementsAre(6, 5, 3));
  EXPECT_THAT(run(1, 1), ElementsAre(5, 3, 0));
}

TEST(MaxPool, CeilModeAndDilation) {
  const Array x = array({1, 1, 5}, {1, 5, 2, 4, 3});
  EXPECT_THAT(Bench("MaxPool").in(x).ints("kernel_shape", {2}).ints("strides", {2}).values(),
              ElementsAre(5, 4));
  EXPECT_THAT(Bench("MaxPool")
                  .in(x)
                  .ints("kernel_shape", {2})
                  .ints("strides", {2})
                  .ints("ceil_mode", {1})
                  .values(),
              ElementsAre(5, 4, 3));
  EXPECT_THAT(Bench("MaxPool").in(x).ints("kernel_shape", {2}).ints("dilations", {2}).values(),
              ElementsAre(2, 5, 3));
}

TEST(MaxPool, PaddingNeverWins) {
  const Bench bench = Bench("MaxPool")
                          .in(array({1, 1, 2}, {-3, -1}))
                          .ints("kernel_shape", {3})
                          .ints("pads", {1, 1});
  EXPECT_THAT(bench.values(), ElementsAre(-1, -1));
  EXPECT_EQ(bench.run().size(), 1U);
  Bench both = bench;
  EXPECT_THAT(both.outputs(2).run()[1].values, ElementsAre(1, 1));
}

TEST(AveragePool, CountsPaddingOnRequest) {
  const auto run = [](std::int64_t include) {
    return Bench("AveragePool")
        .in(array({1, 1, 2}, {2, 4}))
        .ints("kernel_shape", {2})
        .ints("pads", {1, 1})
        .ints("count_include_pad", {include})
        .values();
  };
  EXPECT_THAT(run(0), ElementsAre(2, 3, 4));
  EXPECT_THAT(run(1), ElementsAre(1, 3, 2));
}

// The last window reaches beyond the padded input; what is beyond does not count.
TEST(AveragePool, CeilModeDividesByWhatIsThere) {
  const Bench bench = Bench("AveragePool", 19)
                          .in(array({1, 1, 3}, {2, 4, 6}))
                          .ints("kernel_shape", {2})
                          .ints("strides", {2})
                          .ints("ceil_mode", {1})
                          .ints("count_include_pad", {1});
  EXPECT_THAT(bench.values(), ElementsAre(3, 6));
}

TEST(Pool, Global) {
  const Array x = array({1, 2, 2, 1}, {1, 3, -5, -7});
  EXPECT_THAT(Bench("GlobalAveragePool").in(x).values(), ElementsAre(2, -6));
  EXPECT_THAT(Bench("GlobalMaxPool").in(x).values(), ElementsAre(3, -5));
  EXPECT_THAT(Bench("GlobalAveragePool").in(x).terms_of().a2, ElementsAre(2.5, 18.5));
}

TEST(Pool, AdaptiveWindowsOverlap) {
  const Bench bench =
      Bench("adaptive_avg_pool1d").in(array({1, 5}, {1, 2, 3, 4, 5})).ints("output_size", {3});
  expect_near(bench.values(), {1.5, 3, 4.5}, 1e-15);
}

TEST(Resize, ARegionThatIsNoNumberReadsNothingOutside) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const double nan = std::nan("");
    const Bench bench = Bench("Resize", 13)
                            .in(noise({2, 2}, 1))
                            .in(vector_array({0, nan, 1, HUGE_VAL}, tensor::DType::f32))
                            .in(vector_array({1, 2}, tensor::DType::f32))
                            .text("mode", mode)
                            .text("coordinate_transformation_mode", "tf_crop_and_resize");
    EXPECT_EQ(bench.values().size(), 8U) << mode;
  }
}

// Half-pixel linear upsampling of (1, 2) by 2: 1, 1.25, 1.75, 2.
TEST(Resize, LinearCoordinates) {
  const auto run = [](const std::string& kind) {
    return Bench("Resize", 13)
        .in(array({1, 1, 2}, {1, 2}))
        .absent()
        .in(array({3}, {1, 1, 2}))
        .text("mode", "linear")
        .text("coordinate_transformation_mode", kind)
        .values();
  };
  expect_near(run("half_pixel"), {1, 1.25, 1.75, 2}, 1e-15);
  expect_near(run("asymmetric"), {1, 1.5, 2, 2}, 1e-15);
  expect_near(run("align_corners"), {1, 4.0 / 3, 5.0 / 3, 2}, 1e-15);
}

TEST(Resize, NearestModesBySize) {
  const auto run = [](const std::string& nearest) {
    return Bench("Resize", 13)
        .in(array({4}, {1, 2, 3, 4}))
        .absent()
        .absent()
        .in(integers({2}))
        .text("nearest_mode", nearest)
        .values();
  };
  // Source coordinates are 0.5 and 2.5.
  EXPECT_THAT(run("round_prefer_floor"), ElementsAre(1, 3));
  EXPECT_THAT(run("round_prefer_ceil"), ElementsAre(2, 4));
  EXPECT_THAT(run("floor"), ElementsAre(1, 3));
  EXPECT_THAT(run("ceil"), ElementsAre(2, 4));
}

TEST(Resize, UpsampleAndOldResizeAreAsymmetric) {
  const Array x = array({1, 1, 1, 2}, {1, 2});
  EXPECT_THAT(Bench("Upsample", 9).in(x).in(array({4}, {1, 1, 2, 2})).values(),
              ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_THAT(Bench("Upsample", 7).in(x).reals("scales", {1, 1, 1, 2}).values(),
              ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(
      Bench("Resize", 10).in(x).in(array({4}, {1, 1, 1, 2})).text("mode", "linear").values(),
      ElementsAre(1, 1.5, 2, 2));
}

TEST(Resize, RefusesAHugeOutput) {
  EXPECT_THAT(Bench("Resize", 13)
                  .in(array({1, 1}, {1}))
                  .absent()
                  .absent()
                  .in(integers({900000000, 900000000}))
                  .failure(),
              HasSubstr("elements"));
}

TEST(GridSample, CornersAndOutside) {
  const Array x = array({1, 1, 2, 2}, {1, 2, 3, 4});
  const Array grid = array({1, 1, 3, 2}, {-1, -1, 0, 0, 3, 3});
  EXPECT_THAT(Bench("GridSample").in(x).in(grid).ints("align_corners", {1}).values(),
              ElementsAre(1, 2.5, 0));
  EXPECT_THAT(Bench("GridSample")
                  .in(x)
                  .in(grid)
                  .ints("align_corners", {1})
                  .text("padding_mode", "border")
                  .values(),
              ElementsAre(1, 2.5, 4));
}

// One sample per bin in the middle of a 2 x 2 image: the mean of all four.
TEST(RoiAlign, SamplesTheMiddle) {
  const Bench bench = Bench("RoiAlign", 16)
                          .in(array({1, 1, 2, 2}, {1, 2, 3, 4}))
                          .in(array({1, 4}, {0, 0, 2, 2}))
                          .in(integers({0}))
                          .ints("sampling_ratio", {1});
  EXPECT_THAT(bench.values(), ElementsAre(2.5));
  // A quarter of each: the largest is that of 4.
  EXPECT_THAT(Bench(bench).text("mode", "max").values(), ElementsAre(1));
  EXPECT_THAT(Bench("RoiAlign", 16)
                  .in(array({1, 1, 2, 2}, {1, 2, 3, 4}))
                  .in(array({1, 4}, {0, 0, 1e300, 2}))
                  .in(integers({0}))
                  .failure(),
              HasSubstr("too large"));
}

TEST(Softmax, AxisAndOldFlattening) {
  const Array x = array({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(Bench("Softmax", 13).in(x).values(), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(Bench("Softmax", 11).in(x).values(), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(Bench("Softmax", 13).in(array({2, 1}, {0, 0})).ints("axis", {0}).values(),
              ElementsAre(0.5, 0.5));
}

TEST(Softmax, LargeLogitsStayFinite) {
  const Bench bench = Bench("Softmax").in(array({2}, {1000, 0}));
  EXPECT_THAT(bench.values(), ElementsAre(1, 0));
  EXPECT_THAT(Bench("LogSoftmax").in(array({2}, {1000, 0})).values(), ElementsAre(0, -1000));
}

// extra = y^2 ((x - max)^2 + 0.09 n), here y = 1/2, n = 2 and x - max = 0.
TEST(Softmax, ExtraTerms) {
  const Terms terms = Bench("Softmax").in(array({2}, {7, 7})).terms_of();
  expect_near(terms.extra, {0.25 * 0.18, 0.25 * 0.18}, 1e-15);
  EXPECT_EQ(terms.n, 2);
}

TEST(Hardmax, FirstOfEquals) {
  EXPECT_THAT(Bench("Hardmax").in(array({4}, {1, 3, 3, 2})).values(), ElementsAre(0, 1, 0, 0));
}

}  // namespace
}  // namespace opdrift::replay::test
