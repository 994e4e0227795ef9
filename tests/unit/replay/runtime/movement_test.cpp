#include "unit/replay/runtime/twin.hpp"

// Kinds that move, pick and make elements, beside ONNX Runtime.

namespace opdrift::replay::test {
namespace {

using tensor::DType;

Array ids(const tensor::Shape& shape, Values values) {
  return array(shape, std::move(values), DType::i64);
}
Array ids(Values values) {
  const std::uint64_t count = values.size();
  return ids({count}, std::move(values));
}

TEST(RuntimeMovement, Shapes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({2, 3, 4}, 1);
  Twin("Reshape", 14).in(x).in(ids({0, -1})).expect_alike(0);
  Twin("Reshape", 14).in(x).in(ids({4, 1, -1, 3})).expect_alike(0);
  Twin("Flatten", 13).in(x).expect_alike(0);
  Twin("Flatten", 13).in(x).set("axis", -1).expect_alike(0);
  Twin("Flatten", 13).in(x).set("axis", 0).expect_alike(0);
  const Array ones = noise({1, 3, 1, 4, 1}, 1);
  Twin("Squeeze", 11).in(ones).set("axes", Integers{0, -1}).expect_alike(0);
  Twin("Squeeze", 13).in(ones).in(ids({2})).expect_alike(0);
  Twin("Squeeze", 13).in(ones).expect_alike(0);
  Twin("Unsqueeze", 11).in(x).set("axes", Integers{0, 4}).expect_alike(0);
  Twin("Unsqueeze", 13).in(x).in(ids({-1, 1})).expect_alike(0);
  Twin("Transpose", 13).in(x).expect_alike(0);
  Twin("Transpose", 13).in(x).set("perm", Integers{1, 2, 0}).expect_alike(0);
  Twin("Expand", 13).in(noise({3, 1}, 1)).in(ids({2, 1, 4})).expect_alike(0);
  Twin("Tile", 13).in(x).in(ids({2, 1, 3})).expect_alike(0);
  Twin("Shape", 15).in(x).expect_alike(0);
  Twin("Shape", 15).in(x).set("start", -2).set("end", -1).expect_alike(0);
  Twin("Size", 13).in(x).expect_alike(0);
}

TEST(RuntimeMovement, PartsAndJoints) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({2, 7, 4}, 1);
  Twin("Concat", 13).in(x).in(noise({2, 2, 4}, 2)).set("axis", -2).expect_alike(0);
  Twin("Split", 11).in(x).set("axis", 1).set("split", Integers{2, 5}).outputs(2).expect_alike(0);
  Twin("Split", 13).in(x).in(ids({1, 6})).set("axis", 1).outputs(2).expect_alike(0);
  Twin("Split", 13).in(x).set("axis", 2).outputs(2).expect_alike(0);
  Twin("Split", 18).in(x).set("axis", 1).set("num_outputs", 3).outputs(3).expect_alike(0);
  Twin("Slice", 9)
      .in(x)
      .set("starts", Integers{1, -3})
      .set("ends", Integers{100, -1})
      .set("axes", Integers{1, 2})
      .expect_alike(0);
  Twin("Slice", 13)
      .in(x)
      .in(ids({-1, 3}))
      .in(ids({-100, 0}))
      .in(ids({1, -1}))
      .in(ids({-2, -1}))
      .expect_alike(0);
  Twin("Slice", 13).in(x).in(ids({0, 5})).in(ids({1, 2})).expect_alike(0);
  Twin("CenterCropPad", 18).in(x).in(ids({2, 3, 9})).expect_alike(0);
}

TEST(RuntimeMovement, Borders) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({3, 4}, 1);
  for (const char* mode : {"constant", "reflect", "edge"}) {
    Twin("Pad", 2).in(x).set("pads", Integers{1, 2, 2, 0}).set("mode", mode).expect_alike(0);
    Twin("Pad", 13).in(x).in(ids({2, 0, 1, 3})).set("mode", mode).expect_alike(0);
  }
  Twin("Pad", 19).in(x).in(ids({2, 3, 1, 3})).set("mode", "wrap").expect_alike(0);
  Twin("Pad", 13).in(x).in(ids({-1, 2, 1, -2})).in(array({}, {7})).expect_alike(0);
  Twin("Pad", 18).in(x).in(ids({1, 2})).absent().in(ids({-1})).expect_alike(0);
}

TEST(RuntimeMovement, Gathers) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({3, 4, 2}, 1);
  Twin("Gather", 13).in(x).in(ids({2, 2}, {-1, 0, 2, 3})).set("axis", 1).expect_alike(0);
  Twin("Gather", 13).in(x).in(ids({}, {1})).expect_alike(0);
  Twin("GatherElements", 13).in(x).in(ids({2, 2, 1}, {-1, 0, 2, 3})).set("axis", 1).expect_alike(0);
  Twin("GatherND", 13).in(x).in(ids({2, 2}, {0, -1, 2, 3})).expect_alike(0);
  Twin("GatherND", 13).in(x).in(ids({3, 1}, {0, -1, 2})).set("batch_dims", 1).expect_alike(0);
  Twin("Compress", 11)
      .in(x)
      .in(array({3}, {0, 1, 1}, DType::boolean))
      .set("axis", 1)
      .expect_alike(0);
  Twin("Compress", 11).in(x).in(array({5}, {0, 1, 1, 0, 1}, DType::boolean)).expect_alike(0);
}

TEST(RuntimeMovement, Scatters) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({3, 4}, 1);
  const Array places = ids({2, 3}, {1, -1, 0, 1, 2, 0});
  const Array updates = noise({2, 3}, 2);
  Twin("Scatter", 9)
      .in(x)
      .in(ids({2, 3}, {1, 3, 0, 1, 2, 0}))
      .in(updates)
      .set("axis", 1)
      .expect_alike(0);
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    Twin("ScatterElements", 18)
        .in(x)
        .in(std::string(reduction) == "none" ? ids({2, 3}, {1, -1, 0, 1, 2, 0}) : places)
        .in(updates)
        .set("axis", 1)
        .set("reduction", reduction)
        .expect_alike(1e-6);
    Twin("ScatterND", 18)
        .in(x)
        .in(ids({2, 1}, {2, -3}))
        .in(noise({2, 4}, 2))
        .set("reduction", reduction)
        .expect_alike(1e-6);
  }
  Twin("ScatterND", 18)
      .in(x)
      .in(ids({3, 2}, {2, 1, 2, 1, 0, 0}))
      .in(noise({3}, 2))
      .set("reduction", "add")
      .expect_alike(1e-6);
}

TEST(RuntimeMovement, Rearrangements) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* mode : {"DCR", "CRD"}) {
    Twin("DepthToSpace", 13)
        .in(noise({2, 8, 2, 3}, 1))
        .set("blocksize", 2)
        .set("mode", mode)
        .expect_alike(0);
  }
  Twin("SpaceToDepth", 13).in(noise({2, 3, 4, 6}, 1)).set("blocksize", 2).expect_alike(0);
  for (const int upper : {0, 1}) {
    for (const double k : {-1.0, 0.0, 2.0}) {
      Twin("Trilu", 14)
          .in(noise({2, 3, 4}, 1))
          .in(ids({}, {k}))
          .set("upper", upper)
          .expect_alike(0);
    }
  }
  Twin("ReverseSequence", 10).in(noise({4, 3, 2}, 1)).in(ids({2, 4, 1})).expect_alike(0);
  Twin("ReverseSequence", 10)
      .in(noise({3, 4, 2}, 1))
      .in(ids({2, 4, 1}))
      .set("batch_axis", 0)
      .set("time_axis", 1)
      .expect_alike(0);
  Twin("EyeLike", 9).in(noise({3, 4}, 1)).set("k", -1).set("dtype", 1).expect_alike(0);
  Twin("Range", 11).in(array({}, {1})).in(array({}, {-2})).in(array({}, {-0.7})).expect_alike(1e-6);
  Twin("OneHot", 11)
      .in(ids({2, 2}, {0, 4, -1, 7}))
      .in(ids({}, {5}))
      .in(array({2}, {0.5, 2}))
      .set("axis", 1)
      .expect_alike(0);
  Twin("Dropout", 13).in(noise({3, 4}, 1)).outputs(2).expect_alike(0);
}

TEST(RuntimeIndex, BestAndOrder) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = array({3, 4}, {2, 5, 5, 1, 0, 0, -1, -1, 3, 3, 3, 3});
  for (const char* type : {"ArgMax", "ArgMin"}) {
    for (const int last : {0, 1}) {
      Twin(type, 13).in(x).set("axis", 1).set("select_last_index", last).expect_alike(0);
      Twin(type, 13).in(x).set("keepdims", 0).set("select_last_index", last).expect_alike(0);
    }
  }
  for (const int largest : {0, 1}) {
    Twin("TopK", 11)
        .in(noise({3, 6, 2}, 1))
        .in(ids({3}))
        .set("axis", 1)
        .set("largest", largest)
        .outputs(2)
        .expect_alike(0);
    Twin("TopK", 11).in(x).in(ids({3})).set("largest", largest).outputs(2).expect_alike(0);
  }
  Twin("NonZero", 13).in(x).expect_alike(0);
  Array boxes = array({1, 6, 4}, {0, 0,  1, 1,  0, 0.1,  1, 1.1,  0, -0.1, 1, 0.9,
                                  0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100,  1, 101});
  const Array scores = array({1, 2, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3,  //
                                         0.2, 0.8, 0.85, 0.1, 0.99, 0.45});
  for (const int centre : {0, 1}) {
    Twin("NonMaxSuppression", 11)
        .in(boxes)
        .in(scores)
        .in(ids({3}))
        .in(array({1}, {0.5}))
        .in(array({1}, {0.25}))
        .set("center_point_box", centre)
        .expect_alike(0);
  }
}

}  // namespace
}  // namespace opdrift::replay::test
