#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Array counting(const tensor::Shape& shape) {
  Array a{shape, Values(count_of(shape)), tensor::DType::f32};
  for (std::size_t i = 0; i < a.size(); ++i) {
    a.values[i] = static_cast<double>(i);
  }
  return a;
}

TEST(Reshape, FreesOneAxisAndCopiesZero) {
  const Bench bench = Bench("Reshape").in(counting({2, 3, 4})).in(integers({0, -1}));
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 12U));
}

TEST(Reshape, AllowzeroKeepsZero) {
  const Bench bench =
      Bench("Reshape", 14).in(array({0, 3}, {})).in(integers({3, 0})).ints("allowzero", {1});
  EXPECT_THAT(bench.first().shape, ElementsAre(3U, 0U));
}

TEST(Reshape, RefusesAnotherElementCount) {
  EXPECT_THAT(Bench("Reshape").in(counting({2, 3})).in(integers({4, 2})).failure(),
              HasSubstr("expected a shape of 6 elements"));
}

TEST(Flatten, NegativeAxisCountsFromTheEnd) {
  EXPECT_THAT(Bench("Flatten").in(counting({2, 3, 4})).ints("axis", {-1}).first().shape,
              ElementsAre(6U, 4U));
  EXPECT_THAT(Bench("Flatten").in(counting({2, 3})).ints("axis", {0}).first().shape,
              ElementsAre(1U, 6U));
}

TEST(Squeeze, AxesAsAttributeOrInput) {
  EXPECT_THAT(Bench("Squeeze", 11).in(counting({1, 3, 1})).ints("axes", {-1}).first().shape,
              ElementsAre(1U, 3U));
  EXPECT_THAT(Bench("Squeeze", 13).in(counting({1, 3, 1})).in(integers({0})).first().shape,
              ElementsAre(3U, 1U));
  EXPECT_THAT(Bench("Squeeze").in(counting({1, 3, 1})).first().shape, ElementsAre(3U));
}

TEST(Unsqueeze, AxesBelongToTheResult) {
  EXPECT_THAT(Bench("Unsqueeze", 13).in(counting({3})).in(integers({0, -1})).first().shape,
              ElementsAre(1U, 3U, 1U));
  EXPECT_THAT(Bench("Unsqueeze", 11).in(counting({3})).ints("axes", {1}).first().shape,
              ElementsAre(3U, 1U));
}

TEST(Transpose, DefaultReverses) {
  EXPECT_THAT(Bench("Transpose").in(counting({2, 3})).values(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Transpose, PermutesThreeAxes) {
  const Bench bench = Bench("Transpose").in(counting({2, 1, 3})).ints("perm", {2, 0, 1});
  EXPECT_THAT(bench.first().shape, ElementsAre(3U, 2U, 1U));
  EXPECT_THAT(bench.values(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Transpose, RefusesARepeatedAxis) {
  EXPECT_THAT(Bench("Transpose").in(counting({2, 3})).ints("perm", {0, 0}).failure(),
              HasSubstr("twice"));
}

TEST(Concat, JoinsAlongANegativeAxis) {
  const Bench bench =
      Bench("Concat").in(counting({2, 1})).in(array({2, 2}, {5, 6, 7, 8})).ints("axis", {-1});
  EXPECT_THAT(bench.values(), ElementsAre(0, 5, 6, 1, 7, 8));
}

// Splitting what was concatenated gives the parts back, whatever the axis.
TEST(Split, UndoesConcat) {
  for (const std::int64_t axis : {0, 1, 2}) {
    const Array a = counting({2, 2, 2});
    const Bench joined = Bench("Concat").in(a).in(a).ints("axis", {axis});
    const Outputs parts =
        Bench("Split", 13).in(joined.first()).in(integers({2, 2})).ints("axis", {axis}).run();
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].values, a.values);
    EXPECT_EQ(parts[1].values, a.values);
  }
}

TEST(Split, LastPartMayBeShorter) {
  const Outputs parts = Bench("Split", 18).in(counting({7})).ints("num_outputs", {3}).run();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(parts[2].values, ElementsAre(6));
  EXPECT_EQ(Bench("Split", 2).in(counting({6})).outputs(3).run().size(), 3U);
  EXPECT_THAT(Bench("Split", 2).in(counting({6})).ints("split", {2, 2}).failure(),
              HasSubstr("parts cover 4 of 6"));
}

TEST(Slice, AttributesInOldOpsets) {
  const Bench bench = Bench("Slice", 1)
                          .in(counting({3, 4}))
                          .ints("axes", {1})
                          .ints("starts", {1})
                          .ints("ends", {1000});
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 3, 5, 6, 7, 9, 10, 11));
}

// The corner cases of Python slices: x[-2:], x[::-1], x[3:0:-2], x[5:2] of 0..4.
TEST(Slice, FollowsPython) {
  const auto slice = [](double start, double end, double step) {
    return Bench("Slice", 13)
        .in(counting({5}))
        .in(integers({start}))
        .in(integers({end}))
        .in(integers({0}))
        .in(integers({step}))
        .values();
  };
  const double huge = 9223372036854775807.0;
  EXPECT_THAT(slice(-2, huge, 1), ElementsAre(3, 4));
  EXPECT_THAT(slice(-1, -huge, -1), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(slice(huge, -huge, -3), ElementsAre(4, 1));
  EXPECT_THAT(slice(3, 0, -2), ElementsAre(3, 1));
  EXPECT_THAT(slice(5, 2, 1), ElementsAre());
  EXPECT_THAT(slice(-huge, 2, 1), ElementsAre(0, 1));
  EXPECT_THAT(slice(0, -huge, -1), ElementsAre(0));
  EXPECT_THAT(slice(-huge, huge, -1), ElementsAre());
}

TEST(Slice, AscendGivesOffsetAndSize) {
  const Bench bench = Bench("SliceD")
                          .dialect(Dialect::ascend)
                          .in(counting({2, 3}))
                          .ints("offsets", {0, 1})
                          .ints("size", {2, -1});
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 4, 5));
}

TEST(Pad, Modes) {
  const auto padded = [](const std::string& mode) {
    return Bench("Pad", 13)
        .in(array({3}, {1, 2, 3}))
        .in(integers({2, 3}))
        .in(array({}, {9}))
        .text("mode", mode)
        .values();
  };
  EXPECT_THAT(padded("constant"), ElementsAre(9, 9, 1, 2, 3, 9, 9, 9));
  EXPECT_THAT(padded("edge"), ElementsAre(1, 1, 1, 2, 3, 3, 3, 3));
  EXPECT_THAT(padded("reflect"), ElementsAre(3, 2, 1, 2, 3, 2, 1, 2));
  EXPECT_THAT(padded("wrap"), ElementsAre(2, 3, 1, 2, 3, 1, 2, 3));
}

TEST(Pad, NegativePadsCrop) {
  const Bench bench =
      Bench("Pad", 2).in(counting({2, 3})).ints("pads", {0, -1, 1, 0}).real("value", 7);
  EXPECT_THAT(bench.first().shape, ElementsAre(3U, 2U));
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 4, 5, 7, 7));
}

TEST(Expand, StretchesAndKeeps) {
  const Bench bench = Bench("Expand").in(array({2, 1}, {1, 2})).in(integers({2, 1, 3}));
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 2U, 3U));
  EXPECT_THAT(bench.values(), ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2));
}

TEST(Tile, RepeatsEveryAxis) {
  EXPECT_THAT(Bench("Tile").in(array({1, 2}, {1, 2})).in(integers({2, 2})).values(),
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
}

TEST(Gather, NegativeIndicesAndInnerAxis) {
  const Bench bench = Bench("Gather")
                          .in(counting({2, 3}))
                          .in(array({2, 1}, {-1, 0}, tensor::DType::i64))
                          .ints("axis", {1});
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 2U, 1U));
  EXPECT_THAT(bench.values(), ElementsAre(2, 0, 5, 3));
  EXPECT_THAT(Bench("Gather").in(counting({2})).in(integers({2})).failure(), HasSubstr("outside"));
}

// -1e-20 + 2 is 2 in double, one beyond the end.
TEST(Gather, IndicesNextToZeroStayInside) {
  EXPECT_THAT(Bench("Gather").in(array({2}, {5, 6})).in(array({2}, {-1e-20, 1e-20})).values(),
              ElementsAre(5, 5));
}

// The example of the ONNX definition.
TEST(GatherElements, TakesAlongAnAxis) {
  const Bench bench = Bench("GatherElements")
                          .in(array({2, 2}, {1, 2, 3, 4}))
                          .in(array({2, 2}, {0, 0, 1, 0}, tensor::DType::i64))
                          .ints("axis", {1});
  EXPECT_THAT(bench.values(), ElementsAre(1, 1, 4, 3));
}

TEST(GatherND, TuplesAndBatches) {
  EXPECT_THAT(Bench("GatherND")
                  .in(counting({2, 2}))
                  .in(array({2, 2}, {0, 0, 1, 1}, tensor::DType::i64))
                  .values(),
              ElementsAre(0, 3));
  EXPECT_THAT(Bench("GatherND")
                  .in(counting({2, 2, 2}))
                  .in(array({2, 1}, {1, 0}, tensor::DType::i64))
                  .ints("batch_dims", {1})
                  .values(),
              ElementsAre(2, 3, 4, 5));
}

TEST(Scatter, WritesAndAdds) {
  const Array zero = array({4}, {0, 0, 0, 0});
  const auto bench = [&](const std::string& how) {
    return Bench("ScatterElements")
        .in(zero)
        .in(integers({1, 1}))
        .in(array({2}, {5, 6}))
        .text("reduction", how)
        .values();
  };
  EXPECT_THAT(bench("none"), ElementsAre(0, 6, 0, 0));
  EXPECT_THAT(bench("add"), ElementsAre(0, 11, 0, 0));
  EXPECT_THAT(Bench("ScatterND")
                  .in(array({4}, {1, 2, 3, 4}))
                  .in(array({2, 1}, {3, 0}, tensor::DType::i64))
                  .in(array({2}, {8, 9}))
                  .values(),
              ElementsAre(9, 2, 3, 8));
}

TEST(DepthToSpace, BothOrdersComeBack) {
  const Array x = counting({1, 4, 1, 2});
  EXPECT_THAT(Bench("DepthToSpace").in(x).ints("blocksize", {2}).values(),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  const Bench deep = Bench("DepthToSpace").in(counting({1, 8, 1, 1})).ints("blocksize", {2});
  EXPECT_THAT(deep.values(), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  const Bench back = Bench("SpaceToDepth").in(deep.first()).ints("blocksize", {2});
  EXPECT_EQ(back.values(), counting({1, 8, 1, 1}).values);
}

TEST(Trilu, KeepsOneTriangle) {
  const Array ones = array({2, 3}, {1, 1, 1, 1, 1, 1});
  EXPECT_THAT(Bench("Trilu").in(ones).values(), ElementsAre(1, 1, 1, 0, 1, 1));
  EXPECT_THAT(Bench("Trilu").in(ones).in(integers({-1})).ints("upper", {0}).values(),
              ElementsAre(0, 0, 0, 1, 0, 0));
}

TEST(OneHot, NegativeAxisAndOutsideIndices) {
  const Bench bench = Bench("OneHot")
                          .in(integers({-1, 0, 7}))
                          .in(array({}, {2}, tensor::DType::i64))
                          .in(array({2}, {2, 5}));
  EXPECT_THAT(bench.values(), ElementsAre(2, 5, 5, 2, 2, 2));
}

TEST(ReverseSequence, TurnsEveryBatchByItsLength) {
  const Bench bench =
      Bench("ReverseSequence").in(array({3, 2}, {0, 3, 1, 4, 2, 5})).in(integers({2, 3}));
  EXPECT_THAT(bench.values(), ElementsAre(1, 5, 0, 4, 2, 3));
}

TEST(Make, RangeShapeConstantOfShape) {
  EXPECT_THAT(Bench("Range").in(array({}, {1})).in(array({}, {6})).in(array({}, {2})).values(),
              ElementsAre(1, 3, 5));
  EXPECT_THAT(Bench("Shape").in(counting({2, 3, 4})).ints("start", {-2}).values(),
              ElementsAre(3, 4));
  EXPECT_THAT(Bench("ConstantOfShape").in(integers({2})).values(), ElementsAre(0, 0));
}

TEST(Make, ConstantComesFromATensorAttribute) {
  Bench bench("Constant");
  graph::Attribute& value = bench.op().attributes["value"];
  value.kind = graph::Attribute::Kind::tensor;
  value.tensor_shape = {2};
  value.reals = {1, 2};
  EXPECT_THAT(bench.values(), ElementsAre(1, 2));
  value.tensor_shape = {3};
  EXPECT_THAT(bench.failure(), HasSubstr("incomplete"));
}

// Halved: the kernel reaches two elements to either side, 1/8, 3/8, 3/8 and 1/8; the border stands
// for what lies behind it.
TEST(Resize, AntialiasingWidensTheKernel) {
  const auto with = [](std::int64_t excluded) {
    return Bench("Resize", 18)
        .in(array({1, 1, 4}, {1, 2, 3, 4}))
        .absent()
        .in(array({3}, {1, 1, 0.5}))
        .text("mode", "linear")
        .ints("antialias", {1})
        .ints("exclude_outside", {excluded});
  };
  expect_near(with(0).values(), {1.625, 3.375}, 1e-15);
  expect_near(with(1).values(), {12.0 / 7.0, 23.0 / 7.0}, 1e-14);
}

// In single precision 5 times 1.4 is 7.
TEST(Resize, ExtentsAreFoundInSinglePrecision) {
  const double scale = static_cast<double>(1.4F);
  EXPECT_EQ(Bench("Resize", 13)
                .in(array({5}, {1, 2, 3, 4, 5}))
                .absent()
                .in(array({1}, {scale}))
                .values()
                .size(),
            7U);
}

}  // namespace
}  // namespace opdrift::replay::test
