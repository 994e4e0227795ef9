#include "unit/replay/runtime/twin.hpp"

// Reductions, normalisations and recurrent kinds, beside ONNX Runtime.

namespace opdrift::replay::test {
namespace {

using tensor::DType;

Array ids(Values values) {
  const std::uint64_t count = values.size();
  return array({count}, std::move(values), DType::i64);
}

TEST(RuntimeReduce, AxesAndKeptAxes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Array x = noise({2, 3, 4}, 1);
  for (double& value : x.values) {
    value = std::abs(value) + 0.1;
  }
  for (const char* type :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    Twin(type, 11).in(x).expect_alike(1e-5);
    Twin(type, 11).in(x).set("axes", Integers{-1, 0}).set("keepdims", 0).expect_alike(1e-5);
    Twin(type, 18).in(x).in(ids({1})).expect_alike(1e-5);
    Twin(type, 18).in(x).in(ids({})).expect_alike(1e-5);
    Twin(type, 18).in(x).in(ids({})).set("noop_with_empty_axes", 1).expect_alike(1e-5);
    Twin(type, 18).in(x).set("keepdims", 0).expect_alike(1e-5);
  }
  for (const int exclusive : {0, 1}) {
    for (const int reverse : {0, 1}) {
      Twin("CumSum", 14)
          .in(x)
          .in(array({}, {1}, DType::i32))
          .set("exclusive", exclusive)
          .set("reverse", reverse)
          .expect_alike(1e-5);
    }
  }
}

TEST(RuntimeSoftmax, OldAndNewAxes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    for (const int opset : {11, 13}) {
      Twin(type, opset).in(noise({2, 3, 4}, 1)).expect_alike(1e-6);
      Twin(type, opset).in(noise({2, 3, 4}, 1)).set("axis", 0).expect_alike(1e-6);
      Twin(type, opset).in(noise({2, 3, 4}, 1)).set("axis", 1).expect_alike(1e-6);
    }
  }
}

TEST(RuntimeNormalisation, AllForms) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({2, 4, 3, 5}, 1);
  Array variance = noise({4}, 5);
  for (double& value : variance.values) {
    value = std::abs(value) + 0.1;
  }
  Twin("BatchNormalization", 15)
      .in(x)
      .in(noise({4}, 2))
      .in(noise({4}, 3))
      .in(noise({4}, 4))
      .in(variance)
      .set("epsilon", 1e-3)
      .expect_alike(1e-5);
  Twin("BatchNormalization", 15)
      .in(x)
      .in(noise({4}, 2))
      .in(noise({4}, 3))
      .in(noise({4}, 4))
      .in(variance)
      .set("training_mode", 1)
      .set("momentum", 0.7)
      .outputs(3)
      .expect_alike(1e-5);
  Twin("InstanceNormalization", 6).in(x).in(noise({4}, 2)).in(noise({4}, 3)).expect_alike(1e-5);
  Twin("GroupNormalization", 21)
      .in(x)
      .in(noise({4}, 2))
      .in(noise({4}, 3))
      .set("num_groups", 2)
      .expect_alike(1e-5);
  Twin("GroupNormalization", 18)
      .in(x)
      .in(noise({2}, 2))
      .in(noise({2}, 3))
      .set("num_groups", 2)
      .expect_alike(1e-5);
  for (const int axis : {-1, 1, 2}) {
    const tensor::Shape shape(x.shape.begin() + (axis < 0 ? 3 : axis), x.shape.end());
    Twin("LayerNormalization", 17)
        .in(x)
        .in(noise(shape, 2))
        .in(noise(shape, 3))
        .set("axis", axis)
        .outputs(3)
        .expect_alike(1e-5);
  }
  for (const int p : {1, 2}) {
    for (const int axis : {-1, 1}) {
      Twin("LpNormalization", 1).in(x).set("p", p).set("axis", axis).expect_alike(1e-5);
    }
  }
  Twin("MeanVarianceNormalization", 13).in(x).expect_alike(1e-5);
  Twin("MeanVarianceNormalization", 13).in(x).set("axes", Integers{1, 3}).expect_alike(1e-5);
  Twin("LRN", 13)
      .in(x)
      .set("size", 3)
      .set("alpha", 0.3)
      .set("beta", 0.6)
      .set("bias", 1.2)
      .expect_alike(1e-5);
  Twin("SimplifiedLayerNormalization", 1).in(x).in(noise({5}, 2)).expect_alike(1e-5);
}

TEST(RuntimeRecurrent, LongShortTermMemory) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array lengths = array({2}, {5, 3}, DType::i32);
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const std::uint64_t d = std::string(direction) == "bidirectional" ? 2 : 1;
    Twin("LSTM", 14)
        .in(noise({5, 2, 3}, 1))
        .in(noise({d, 16, 3}, 2))
        .in(noise({d, 16, 4}, 3))
        .in(noise({d, 32}, 4))
        .in(lengths)
        .in(noise({d, 2, 4}, 5))
        .in(noise({d, 2, 4}, 6))
        .in(noise({d, 12}, 7))
        .set("hidden_size", 4)
        .set("direction", direction)
        .outputs(3)
        .expect_alike(1e-5);
  }
  Twin("LSTM", 14)
      .in(noise({5, 2, 3}, 1))
      .in(noise({1, 16, 3}, 2))
      .in(noise({1, 16, 4}, 3))
      .set("hidden_size", 4)
      .set("clip", 0.3)
      .set("input_forget", 1)
      .outputs(3)
      .expect_alike(1e-5);
}

TEST(RuntimeRecurrent, GatedUnitsAndPlainNets) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array lengths = array({2}, {5, 3}, DType::i32);
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const std::uint64_t d = std::string(direction) == "bidirectional" ? 2 : 1;
    for (const int after : {0, 1}) {
      Twin("GRU", 14)
          .in(noise({5, 2, 3}, 1))
          .in(noise({d, 12, 3}, 2))
          .in(noise({d, 12, 4}, 3))
          .in(noise({d, 24}, 4))
          .in(lengths)
          .in(noise({d, 2, 4}, 5))
          .set("hidden_size", 4)
          .set("direction", direction)
          .set("linear_before_reset", after)
          .outputs(2)
          .expect_alike(1e-5);
    }
    Twin("RNN", 14)
        .in(noise({5, 2, 3}, 1))
        .in(noise({d, 4, 3}, 2))
        .in(noise({d, 4, 4}, 3))
        .in(noise({d, 8}, 4))
        .in(lengths)
        .in(noise({d, 2, 4}, 5))
        .set("hidden_size", 4)
        .set("direction", direction)
        .outputs(2)
        .expect_alike(1e-5);
  }
}

}  // namespace
}  // namespace opdrift::replay::test
