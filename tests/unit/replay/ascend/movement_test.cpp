#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;

Array counted(const tensor::Shape& shape) {
  Array x = array(shape, Values(count_of(shape)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x.values[i] = static_cast<double>(i);
  }
  return x;
}

TEST(AscendPack, MakesAnAxisAndUnpackTakesItAway) {
  const Array a = array({2}, {1, 2});
  const Array b = array({2}, {3, 4});
  const Array rows = ascend("Pack").in(a).in(b).first();
  EXPECT_EQ(rows.shape, (tensor::Shape{2, 2}));
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ascend("Pack").in(a).in(b).ints("axis", {-1}).values(), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(ascend("Pack").in(a).in(counted({3})).failure(), HasSubstr("differ in shape"));
  const Outputs columns = ascend("Unpack").in(rows).ints("axis", {1}).ints("num", {2}).run();
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].shape, tensor::Shape{2});
  EXPECT_THAT(columns[0].values, ElementsAre(1, 3));
  EXPECT_THAT(columns[1].values, ElementsAre(2, 4));
  EXPECT_THAT(ascend("Unpack").in(rows).ints("num", {3}).failure(), HasSubstr("number of parts"));
  EXPECT_THAT(ascend("Unpack").in(array({}, {1})).failure(), HasSubstr("axis"));
}

TEST(AscendConcat, TakesItsAxisAsAnInput) {
  const Array a = array({1, 2}, {1, 2});
  const Array b = array({1, 1}, {3});
  const Array axis = integers({1});
  EXPECT_THAT(ascend("ConcatV2").in(a).in(b).in(axis).values(), ElementsAre(1, 2, 3));
  EXPECT_THAT(ascend("Concat").in(axis).in(a).in(b).values(), ElementsAre(1, 2, 3));
  EXPECT_THAT(ascend("ConcatD").in(a).in(b).ints("concat_dim", {1}).values(), ElementsAre(1, 2, 3));
  EXPECT_THAT(ascend("ConcatV2").in(a).failure(), HasSubstr("missing"));
}

TEST(AscendSplit, TakesItsAxisAsAnInput) {
  const Array x = counted({2, 4});
  const Outputs halves = ascend("Split").in(integers({1})).in(x).ints("num_split", {2}).run();
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_THAT(halves[1].values, ElementsAre(2, 3, 6, 7));
  const Outputs parts = ascend("SplitV").in(x).in(integers({1, -1})).in(integers({-1})).run();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_THAT(parts[0].values, ElementsAre(0, 4));
  EXPECT_THAT(parts[1].values, ElementsAre(1, 2, 3, 5, 6, 7));
  EXPECT_THAT(ascend("SplitV").in(x).in(integers({5, -1})).in(integers({1})).failure(),
              HasSubstr("do not fit"));
}

TEST(AscendMovement, FlattensReversesShufflesAndCounts) {
  EXPECT_EQ(ascend("FlattenV2")
                .in(counted({2, 3, 4, 5}))
                .ints("axis", {1})
                .ints("end_axis", {2})
                .first()
                .shape,
            (tensor::Shape{2, 12, 5}));
  EXPECT_THAT(
      ascend("FlattenV2").in(counted({2, 3})).ints("axis", {1}).ints("end_axis", {0}).failure(),
      HasSubstr("empty"));
  EXPECT_THAT(ascend("ReverseV2").in(counted({2, 2})).in(integers({1})).values(),
              ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(ascend("ReverseV2D").in(counted({2, 2})).ints("axis", {0, 1}).values(),
              ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(ascend("ShuffleChannel").in(counted({1, 4, 1})).ints("group", {2}).values(),
              ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(ascend("ShuffleChannel").in(counted({1, 3, 1})).ints("group", {2}).failure(),
              HasSubstr("do not divide"));
  EXPECT_THAT(ascend("Rank").in(counted({2, 3, 4})).values(), ElementsAre(3));
  EXPECT_THAT(ascend("Permute").in(counted({1, 2, 2})).ints("order", {0, 2, 1}).values(),
              ElementsAre(0, 2, 1, 3));
}

// Rows 0..3 of 0..11; NumPy's x[1:, ::2], x[-1], x[..., 1], x[:, None, 0].
TEST(AscendStridedSlice, FollowsItsMasks) {
  const Array x = counted({3, 4});
  const auto slice = [&](Values begin, Values end, Values strides) {
    return ascend("StridedSlice")
        .in(x)
        .in(integers(std::move(begin)))
        .in(integers(std::move(end)))
        .in(integers(std::move(strides)));
  };
  EXPECT_THAT(slice({1, 0}, {0, 0}, {1, 2}).ints("end_mask", {3}).values(),
              ElementsAre(4, 6, 8, 10));
  const Array last = slice({-1}, {0}, {1}).ints("shrink_axis_mask", {1}).first();
  EXPECT_EQ(last.shape, tensor::Shape{4});
  EXPECT_THAT(last.values, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(slice({0, 1}, {0, 0}, {1, 1})
                  .ints("ellipsis_mask", {1})
                  .ints("shrink_axis_mask", {2})
                  .values(),
              ElementsAre(1, 5, 9));
  const Array fresh = slice({0, 0, 0}, {0, 0, 1}, {1, 1, 1})
                          .ints("begin_mask", {1})
                          .ints("end_mask", {1})
                          .ints("new_axis_mask", {2})
                          .first();
  EXPECT_EQ(fresh.shape, (tensor::Shape{3, 1, 1}));
  EXPECT_THAT(fresh.values, ElementsAre(0, 4, 8));
  EXPECT_THAT(slice({2}, {0}, {-1}).ints("end_mask", {1}).values(),
              ElementsAre(8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
  EXPECT_THAT(slice({5}, {0}, {1}).ints("shrink_axis_mask", {1}).failure(),
              HasSubstr("outside its axis"));
  EXPECT_THAT(slice({0, 0, 0}, {1, 1, 1}, {1, 1, 1}).failure(), HasSubstr("more entries"));
  EXPECT_THAT(slice({0, 0}, {1}, {1}).failure(), HasSubstr("do not fit each other"));
}

TEST(AscendStridedSlice, NamesAxesOrTakesAttributes) {
  const Array x = counted({2, 4});
  EXPECT_THAT(
      ascend("StridedSliceV2").in(x).in(integers({1})).in(integers({3})).in(integers({1})).values(),
      ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(ascend("StridedSliceD")
                  .in(x)
                  .ints("begin", {0, 0})
                  .ints("end", {2, 4})
                  .ints("strides", {1, 3})
                  .ints("begin_mask", {0})
                  .values(),
              ElementsAre(0, 3, 4, 7));
  EXPECT_THAT(ascend("StridedSliceD").in(x).failure(), HasSubstr("not known"));
}

TEST(AscendPad, ListsPairs) {
  const Array x = array({1, 2}, {1, 2});
  const Array pads = integers({1, 0, 0, 2});
  EXPECT_THAT(ascend("Pad").in(x).in(pads).values(), ElementsAre(0, 0, 0, 0, 1, 2, 0, 0));
  EXPECT_THAT(ascend("PadV3")
                  .in(x)
                  .in(integers({0, 1, 0, 0}))
                  .in(array({}, {7}))
                  .ints("paddings_contiguous", {0})
                  .values(),
              ElementsAre(7, 1, 2));
  EXPECT_THAT(ascend("PadD").in(x).ints("paddings", {0, 0, 1, 0}).values(), ElementsAre(0, 1, 2));
  const Array line = array({3}, {1, 2, 3});
  EXPECT_THAT(ascend("MirrorPad").in(line).in(integers({2, 1})).text("mode", "REFLECT").values(),
              ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(ascend("MirrorPad").in(line).in(integers({2, 4})).text("mode", "SYMMETRIC").values(),
              ElementsAre(2, 1, 1, 2, 3, 3, 2, 1, 1));
  EXPECT_THAT(ascend("Pad").in(x).in(integers({1, 1})).failure(), HasSubstr("two pads per axis"));
  EXPECT_THAT(ascend("MirrorPad").in(line).in(integers({1, 1})).text("mode", "odd").failure(),
              HasSubstr("mode odd"));
}

TEST(AscendOneHot, MarksByTwoValues) {
  const Array x = integers({1, -1, 3});
  EXPECT_THAT(
      ascend("OneHot").in(x).in(integers({2})).in(array({}, {5})).in(array({}, {-1})).values(),
      ElementsAre(-1, 5, -1, -1, -1, -1));
  EXPECT_THAT(ascend("OneHotD")
                  .in(x)
                  .in(array({}, {1}))
                  .in(array({}, {0}))
                  .ints("depth", {2})
                  .ints("axis", {0})
                  .values(),
              ElementsAre(0, 0, 0, 1, 0, 0));
  EXPECT_THAT(ascend("OneHot").in(x).in(integers({2})).failure(), HasSubstr("on_value"));
}

TEST(AscendFill, TakesExtentsFromEitherPlace) {
  EXPECT_THAT(ascend("Fill").in(integers({2})).in(array({}, {3})).values(), ElementsAre(3, 3));
  EXPECT_THAT(ascend("FillD").in(array({1}, {4})).ints("dims", {1, 2}).values(), ElementsAre(4, 4));
  EXPECT_THAT(ascend("FillD").in(array({1}, {4})).ints("dims", {-1}).failure(),
              HasSubstr("negative"));
  EXPECT_THAT(
      ascend("RangeD").in(counted({3})).real("start", 1).real("limit", 7).real("delta", 2).values(),
      ElementsAre(1, 3, 5));
}

TEST(AscendGather, TakesPerBatch) {
  const Array x = counted({2, 3, 2});
  EXPECT_THAT(ascend("GatherV2").in(x).in(integers({2})).in(integers({1})).values(),
              ElementsAre(4, 5, 10, 11));
  const Array places = array({2, 1}, {2, 0}, DType::i64);
  const Bench bench = ascend("GatherV2").in(x).in(places).in(integers({1})).ints("batch_dims", {1});
  EXPECT_EQ(bench.first().shape, (tensor::Shape{2, 1, 2}));
  EXPECT_THAT(bench.values(), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(ascend("Gather").in(x).in(places).ints("batch_dims", {1}).values(),
              ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(ascend("GatherV2").in(x).in(integers({0, 0, 0})).ints("batch_dims", {1}).failure(),
              HasSubstr("batch axes"));
  EXPECT_THAT(ascend("GatherV2")
                  .in(counted({2, 0}))
                  .in(array({2, 1}, {0, 0}, DType::i64))
                  .ints("batch_dims", {1})
                  .failure(),
              HasSubstr("nothing in the batches"));
}

TEST(AscendTopK, TheHelperOfTopKDIsNoNumber) {
  EXPECT_THAT(ascend("TopKD").in(array({3}, {1, 3, 2})).in(counted({6})).ints("k", {2}).values(),
              ElementsAre(3, 2));
}

TEST(AscendLayout, ChannelsLastIsRefused) {
  const Array x = counted({1, 2, 2, 4});
  EXPECT_THAT(
      ascend("DepthToSpace").in(x).ints("block_size", {2}).text("data_format", "NHWC").failure(),
      HasSubstr("channels last"));
  EXPECT_THAT(
      ascend("AvgPool").in(x).ints("ksize", {1, 2, 2, 1}).text("data_format", "NHWC").failure(),
      HasSubstr("channels last"));
}

}  // namespace
}  // namespace opdrift::replay::test
