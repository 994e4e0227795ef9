#include "unit/replay/runtime/twin.hpp"

// Long sums and large places, where budgets that leave something out show it: what ONNX Runtime
// errs by must lie within them.

namespace opdrift::replay::test {
namespace {

constexpr double kLoose = 1e-2;

Array shifted(const tensor::Shape& shape, double mean, std::uint64_t seed = 1) {
  Array a = noise(shape, seed);
  for (double& value : a.values) {
    value += mean;
  }
  return a;
}

Array ids(const tensor::Shape& shape, Values values) {
  return array(shape, std::move(values), tensor::DType::i64);
}

TEST(RuntimeBudget, Reductions) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const double mean : {0.0, 1.5}) {
    for (const char* type :
         {"ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"}) {
      Twin(type, 13).in(shifted({7, 4096}, mean)).set("axes", Integers{1}).expect_alike(kLoose);
      Twin(type, 13).in(shifted({4096, 7}, mean)).set("axes", Integers{0}).expect_alike(kLoose);
    }
    Twin("CumSum", 14)
        .in(shifted({3, 2000}, mean))
        .in(array({}, {1}, tensor::DType::i32))
        .expect_alike(kLoose);
  }
  Twin("ReduceLogSum", 13)
      .in(shifted({7, 4096}, 1.5))
      .set("axes", Integers{1})
      .expect_alike(kLoose);
  Array near_one = noise({50, 400}, 1);
  for (double& value : near_one.values) {
    value = 1.0 + 0.1 * value;
  }
  Twin("ReduceProd", 13).in(near_one).set("axes", Integers{1}).expect_alike(kLoose);
}

TEST(RuntimeBudget, Normalisations) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const double mean : {0.0, 20.0}) {
    const Array rows = shifted({8, 1024}, mean);
    Twin("LayerNormalization", 17).in(rows).in(noise({1024}, 2)).outputs(3).expect_alike(kLoose);
    Twin("RMSNormalization", 23).in(rows).in(noise({1024}, 2)).expect_alike(kLoose);
    Twin("LpNormalization", 1).in(rows).expect_alike(kLoose);
    Twin("Softmax", 13).in(rows).expect_alike(kLoose);
    Twin("LogSoftmax", 13).in(rows).expect_alike(kLoose);
    const Array planes = shifted({2, 8, 32, 32}, mean);
    Twin("InstanceNormalization", 6)
        .in(planes)
        .in(noise({8}, 2))
        .in(noise({8}, 3))
        .expect_alike(kLoose);
    Twin("MeanVarianceNormalization", 13).in(planes).expect_alike(kLoose);
    Twin("LRN", 13).in(planes).set("size", 5).expect_alike(kLoose);
    Twin("GlobalAveragePool", 1).in(planes).expect_alike(kLoose);
    Twin("GlobalLpPool", 2).in(planes).expect_alike(kLoose);
    Twin("AveragePool", 11).in(planes).set("kernel_shape", Integers{16, 16}).expect_alike(kLoose);
    Twin("LpPool", 11).in(planes).set("kernel_shape", Integers{16, 16}).expect_alike(kLoose);
  }
}

// Its variance is a difference of mean squares, which cancels where the mean is large.
TEST(RuntimeBudget, GroupsOfChannels) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("GroupNormalization", 21)
      .in(shifted({2, 8, 32, 32}, 0.2))
      .in(noise({8}, 2))
      .in(noise({8}, 3))
      .set("num_groups", 2)
      .expect_alike(kLoose);
}

TEST(RuntimeBudget, Products) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const double mean : {0.0, 1.0}) {
    Twin("MatMul", 13).in(shifted({8, 2048}, mean)).in(shifted({2048, 9}, mean)).expect_alike(1);
    Twin("Conv", 11)
        .in(shifted({1, 64, 12, 12}, mean))
        .in(shifted({8, 64, 3, 3}, mean))
        .expect_alike(1);
    Twin("DeformConv", 19)
        .in(shifted({1, 32, 40, 40}, mean))
        .in(shifted({8, 32, 3, 3}, mean))
        .in(shifted({1, 18, 38, 38}, mean, 3))
        .expect_alike(1);
    Twin("ConvTranspose", 11)
        .in(shifted({1, 64, 8, 8}, mean))
        .in(shifted({64, 8, 3, 3}, mean))
        .set("strides", Integers{2, 2})
        .expect_alike(1);
    Twin("Attention", 23)
        .in(shifted({1, 2, 64, 32}, mean, 1))
        .in(shifted({1, 2, 256, 32}, mean, 2))
        .in(shifted({1, 2, 256, 32}, mean, 3))
        .expect_alike(1);
    Twin("Col2Im", 18)
        .in(shifted({2, 64, 100}, mean))
        .in(ids({2}, {17, 17}))
        .in(ids({2}, {8, 8}))
        .expect_alike(1);
  }
}

TEST(RuntimeBudget, Samples) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* mode : {"linear", "cubic"}) {
    for (const double factor : {2.7, 0.37}) {
      Twin("Resize", 18)
          .in(noise({1, 2, 90, 100}, 1))
          .absent()
          .in(array({4}, {1, 1, factor, factor}))
          .set("mode", mode)
          .expect_alike(kLoose);
    }
    Twin("Resize", 18)
        .in(noise({1, 2, 90, 100}, 1))
        .absent()
        .in(array({4}, {1, 1, 0.37, 0.41}))
        .set("mode", mode)
        .set("antialias", 1)
        .expect_alike(kLoose);
    Twin("GridSample", 20)
        .in(noise({1, 2, 120, 130}, 1))
        .in(noise({1, 40, 40, 2}, 2))
        .set("mode", mode)
        .expect_alike(kLoose);
  }
  Twin("RoiAlign", 16)
      .in(noise({1, 3, 120, 130}, 1))
      .in(array({2, 4}, {300.3, 200.7, 480.1, 440.9, 100.5, 12.25, 333.3, 400}))
      .in(ids({2}, {0, 0}))
      .set("spatial_scale", 0.25)
      .set("output_height", 7)
      .set("output_width", 7)
      .expect_alike(kLoose);
  Twin("AffineGrid", 20).in(noise({2, 2, 3}, 1)).in(ids({4}, {2, 1, 100, 90})).expect_alike(kLoose);
}

// Lengths that are powers of two: for others ONNX Runtime turns to a transform that errs by
// hundreds of roundings, which belongs to it and not to the kind.
TEST(RuntimeBudget, Signals) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const double mean : {0.0, 3.0}) {
    for (const std::uint64_t length : {512U, 64U}) {
      Twin("DFT", 17).in(shifted({4, length, 1}, mean)).set("axis", 1).expect_alike(1);
      Twin("DFT", 17)
          .in(shifted({4, length, 2}, mean))
          .set("axis", 1)
          .set("inverse", 1)
          .expect_alike(1);
    }
    Twin("STFT", 17)
        .in(shifted({2, 2000, 1}, mean))
        .in(ids({}, {160}))
        .in(shifted({256}, mean, 2))
        .in(ids({}, {256}))
        .expect_alike(1);
  }
}

TEST(RuntimeBudget, Sequences) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const auto small = [](const tensor::Shape& shape, std::uint64_t seed) {
    Array a = noise(shape, seed);
    for (double& value : a.values) {
      value *= 0.3;
    }
    return a;
  };
  Twin("LSTM", 14)
      .in(noise({40, 2, 16}, 1))
      .in(small({1, 128, 16}, 2))
      .in(small({1, 128, 32}, 3))
      .set("hidden_size", 32)
      .outputs(3)
      .expect_alike(kLoose);
  Twin("GRU", 14)
      .in(noise({40, 2, 16}, 1))
      .in(small({1, 96, 16}, 2))
      .in(small({1, 96, 32}, 3))
      .set("hidden_size", 32)
      .outputs(2)
      .expect_alike(kLoose);
  Twin("RNN", 14)
      .in(noise({40, 2, 16}, 1))
      .in(small({1, 32, 16}, 2))
      .in(small({1, 32, 32}, 3))
      .set("hidden_size", 32)
      .outputs(2)
      .expect_alike(kLoose);
}

TEST(RuntimeBudget, Losses) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Array labels = noise({256}, 7);
  for (double& value : labels.values) {
    value = std::floor((value + 1.0) * 50.0);
  }
  labels.dtype = tensor::DType::i64;
  Array scores = noise({256, 100}, 1);
  for (double& value : scores.values) {
    value *= 10.0;
  }
  for (const char* reduction : {"none", "mean"}) {
    for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
      Twin(type, 13).in(scores).in(labels).set("reduction", reduction).expect_alike(kLoose);
    }
  }
}

}  // namespace
}  // namespace opdrift::replay::test
