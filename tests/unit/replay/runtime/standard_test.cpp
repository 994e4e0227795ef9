#include "unit/replay/runtime/twin.hpp"

// Kinds of ai.onnx beside ONNX Runtime, on small cases that reach their attributes.

namespace opdrift::replay::test {
namespace {

Array ids(const tensor::Shape& shape, Values values) {
  return array(shape, std::move(values), tensor::DType::i64);
}

Array flags(const tensor::Shape& shape, Values values) {
  return array(shape, std::move(values), tensor::DType::boolean);
}

TEST(RuntimeRotaryEmbedding, FourAndThreeAxes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array places = ids({2, 3}, {0, 2, 4, 1, 3, 5});
  for (const int interleaved : {0, 1}) {
    Twin("RotaryEmbedding", 23)
        .in(noise({2, 2, 3, 8}, 1))
        .in(noise({6, 4}, 2))
        .in(noise({6, 4}, 3))
        .in(places)
        .set("interleaved", interleaved)
        .expect_alike(1e-6);
    Twin("RotaryEmbedding", 23)
        .in(noise({2, 3, 16}, 1))
        .in(noise({6, 2}, 2))
        .in(noise({6, 2}, 3))
        .in(places)
        .set("interleaved", interleaved)
        .set("num_heads", 2)
        .set("rotary_embedding_dim", 4)
        .expect_alike(1e-6);
  }
  Twin("RotaryEmbedding", 23)
      .in(noise({2, 3, 16}, 1))
      .in(noise({2, 3, 4}, 2))
      .in(noise({2, 3, 4}, 3))
      .set("num_heads", 2)
      .expect_alike(1e-6);
}

TEST(RuntimeRmsNormalization, AxisAndEpsilon) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("RMSNormalization", 23).in(noise({2, 3, 4}, 1)).in(noise({4}, 2)).expect_alike(1e-6);
  Twin("RMSNormalization", 23)
      .in(noise({2, 3, 4}, 1))
      .in(noise({3, 4}, 2))
      .set("axis", 1)
      .set("epsilon", 0.1)
      .expect_alike(1e-6);
}

TEST(RuntimeSwish, Alpha) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("Swish", 24).in(noise({2, 5}, 1)).expect_alike(1e-6);
  Twin("Swish", 24).in(noise({2, 5}, 1)).set("alpha", 1.7).expect_alike(1e-6);
}

TEST(RuntimeAttention, MasksCausalityPastAndGroups) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array q = noise({2, 4, 3, 8}, 1);
  const Array k = noise({2, 2, 5, 8}, 2);
  const Array v = noise({2, 2, 5, 6}, 3);
  Twin("Attention", 23).in(q).in(k).in(v).expect_alike(1e-5);
  Twin("Attention", 23).in(q).in(k).in(v).set("is_causal", 1).expect_alike(1e-5);
  Twin("Attention", 23)
      .in(q)
      .in(k)
      .in(v)
      .in(noise({3, 5}, 4))
      .set("scale", 0.3)
      .set("softcap", 0.7)
      .expect_alike(1e-5);
  Twin("Attention", 23)
      .in(q)
      .in(k)
      .in(v)
      .in(flags({3, 5}, {1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1}))
      .expect_alike(1e-5);
  Twin("Attention", 23)
      .in(q)
      .in(k)
      .in(v)
      .absent()
      .in(noise({2, 2, 4, 8}, 5))
      .in(noise({2, 2, 4, 6}, 6))
      .set("is_causal", 1)
      .outputs(3)
      .expect_alike(1e-5);
  Twin("Attention", 23)
      .in(noise({2, 3, 32}, 1))
      .in(noise({2, 5, 16}, 2))
      .in(noise({2, 5, 12}, 3))
      .set("q_num_heads", 4)
      .set("kv_num_heads", 2)
      .expect_alike(1e-5);
}

TEST(RuntimeAttention, ScoresAreGivenOutInFourModes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int mode : {0, 1, 2, 3}) {
    Twin("Attention", 23)
        .in(noise({2, 4, 3, 8}, 1))
        .in(noise({2, 2, 5, 8}, 2))
        .in(noise({2, 2, 5, 6}, 3))
        .in(noise({3, 5}, 4))
        .absent()
        .absent()
        .set("softcap", 0.7)
        .set("qk_matmul_output_mode", mode)
        .outputs(4)
        .expect_alike(1e-5);
  }
}

TEST(RuntimeAttention, PaddedKeysOfOpset24) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int causal : {0, 1}) {
    Twin("Attention", 24)
        .in(noise({2, 4, 3, 8}, 1))
        .in(noise({2, 2, 5, 8}, 2))
        .in(noise({2, 2, 5, 6}, 3))
        .absent()
        .absent()
        .absent()
        .in(ids({2}, {3, 5}))
        .set("is_causal", causal)
        .expect_alike(1e-5);
  }
}

TEST(RuntimeSignal, TransformsAndWindows) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  // Lengths that are no powers of two go through another transform, which errs more.
  Twin("DFT", 17).in(noise({2, 6, 1}, 1)).set("axis", 1).coarse().expect_alike(1e-5);
  Twin("DFT", 17)
      .in(noise({2, 6, 1}, 1))
      .set("axis", 1)
      .set("onesided", 1)
      .coarse()
      .expect_alike(1e-5);
  Twin("DFT", 20)
      .in(noise({2, 6, 5, 2}, 1))
      .absent()
      .in(ids({}, {1}))
      .set("inverse", 1)
      .coarse()
      .expect_alike(1e-5);
  Twin("DFT", 20).in(noise({2, 6, 5, 2}, 1)).in(ids({}, {8})).coarse().expect_alike(1e-5);
  Twin("STFT", 17)
      .in(noise({2, 16, 1}, 1))
      .in(ids({}, {3}))
      .in(noise({8}, 2))
      .in(ids({}, {8}))
      .expect_alike(1e-5);
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    for (const int periodic : {0, 1}) {
      Twin(type, 17).in(ids({}, {10})).set("periodic", periodic).expect_alike(1e-5);
    }
  }
  Twin("MelWeightMatrix", 17)
      .in(ids({}, {8}))
      .in(ids({}, {64}))
      .in(ids({}, {8000}))
      .in(array({}, {20}))
      .in(array({}, {3900}))
      .expect_alike(1e-5);
}

TEST(RuntimePool, NormsOfChannels) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int p : {1, 2, 3}) {
    Twin("GlobalLpPool").in(noise({2, 3, 4, 5}, 1)).set("p", p).expect_alike(1e-6);
  }
}

TEST(RuntimePool, MaximaOfRegions) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array rois = array({3, 5}, {0, 1, 1, 6, 5, 1, 0, 2, 3, 9, 1, 4, 4, 4, 4});
  Twin("MaxRoiPool")
      .in(noise({2, 3, 7, 8}, 1))
      .in(rois)
      .set("pooled_shape", Integers{2, 3})
      .expect_alike(0);
  Twin("MaxRoiPool")
      .in(noise({2, 3, 7, 8}, 1))
      .in(rois)
      .set("pooled_shape", Integers{3, 2})
      .set("spatial_scale", 0.6)
      .expect_alike(0);
}

TEST(RuntimePool, UnpoolingFollowsTheIndices) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = noise({1, 2, 2, 2}, 1);
  const Array places = ids({1, 2, 2, 2}, {5, 7, 13, 8, 21, 16, 31, 29});
  Twin("MaxUnpool")
      .in(x)
      .in(places)
      .set("kernel_shape", Integers{2, 2})
      .set("strides", Integers{2, 2})
      .expect_alike(0);
  Twin("MaxUnpool")
      .in(x)
      .in(places)
      .in(ids({4}, {1, 2, 5, 6}))
      .set("kernel_shape", Integers{2, 2})
      .set("strides", Integers{2, 2})
      .expect_alike(0);
}

TEST(RuntimeRearrangement, ColumnsBecomeImages) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("Col2Im", 18)
      .in(noise({2, 3 * 6, 12}, 1))
      .in(ids({2}, {5, 5}))
      .in(ids({2}, {2, 3}))
      .expect_alike(1e-6);
  Twin("Col2Im", 18)
      .in(noise({1, 2 * 4, 12}, 1))
      .in(ids({2}, {5, 6}))
      .in(ids({2}, {2, 2}))
      .set("pads", Integers{1, 0, 0, 1})
      .set("strides", Integers{1, 2})
      .set("dilations", Integers{2, 1})
      .expect_alike(1e-6);
}

TEST(RuntimeRearrangement, MiddlesAndCaches) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("CenterCropPad", 18).in(noise({5, 6, 3}, 1)).in(ids({3}, {2, 9, 4})).expect_alike(0);
  Twin("CenterCropPad", 18)
      .in(noise({5, 6, 3}, 1))
      .in(ids({2}, {8, 2}))
      .set("axes", Integers{-1, 0})
      .expect_alike(0);
  for (const char* mode : {"linear", "circular"}) {
    Twin("TensorScatter", 24)
        .in(noise({2, 3, 5, 4}, 1))
        .in(noise({2, 3, 2, 4}, 2))
        .in(ids({2}, {1, std::string(mode) == "linear" ? 3.0 : 4.0}))
        .set("mode", mode)
        .expect_alike(0);
  }
  Twin("TensorScatter", 24)
      .in(noise({2, 5, 3}, 1))
      .in(noise({2, 5, 2}, 2))
      .set("axis", -1)
      .expect_alike(0);
}

TEST(RuntimeUnique, SortedOrNotAlongAnAxisOrNot) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = array({3, 4}, {2, 1, 2, 1, 0, 3, 0, 3, 2, 1, 2, 5});
  const Array rows = array({4, 2}, {2, 1, 0, 3, 2, 1, 0, 1});
  for (const int sorted : {0, 1}) {
    Twin("Unique").in(x).set("sorted", sorted).outputs(4).expect_alike(0);
    Twin("Unique").in(x).set("sorted", sorted).set("axis", 1).outputs(4).expect_alike(0);
    Twin("Unique").in(rows).set("sorted", sorted).set("axis", 0).outputs(4).expect_alike(0);
  }
}

TEST(RuntimeGeometry, GridsOfTwoAndThreeAxes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int align : {0, 1}) {
    Twin("AffineGrid", 20)
        .in(noise({2, 2, 3}, 1))
        .in(ids({4}, {2, 3, 4, 5}))
        .set("align_corners", align)
        .expect_alike(1e-6);
    Twin("AffineGrid", 20)
        .in(noise({2, 3, 4}, 1))
        .in(ids({5}, {2, 1, 3, 4, 2}))
        .set("align_corners", align)
        .expect_alike(1e-6);
  }
}

TEST(RuntimeGeometry, Determinants) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("Det").in(noise({2, 4, 4}, 1)).expect_alike(1e-5);
}

TEST(RuntimeDeformConv, GroupsMasksAndOffsets) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("DeformConv", 19)
      .in(noise({1, 2, 5, 6}, 1))
      .in(noise({3, 2, 2, 2}, 2))
      .in(noise({1, 8, 4, 5}, 3))
      .expect_alike(1e-5);
  Array far = noise({2, 36, 3, 3}, 4);
  for (double& value : far.values) {
    value *= 4.0;
  }
  Twin("DeformConv", 19)
      .in(noise({2, 4, 6, 5}, 1))
      .in(noise({6, 2, 3, 3}, 2))
      .in(far)
      .in(noise({6}, 5))
      .in(noise({2, 18, 3, 3}, 6))
      .set("group", 2)
      .set("offset_group", 2)
      .set("kernel_shape", Integers{3, 3})
      .set("pads", Integers{1, 1, 1, 1})
      .set("strides", Integers{2, 2})
      .expect_alike(1e-5);
  Twin("DeformConv", 19)
      .in(noise({1, 2, 6, 6}, 1))
      .in(noise({3, 2, 2, 2}, 2))
      .in(noise({1, 8, 5, 4}, 3))
      .set("dilations", Integers{1, 2})
      .expect_alike(1e-5);
}

TEST(RuntimeLoss, ReductionsWeightsAndIgnoredLabels) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array scores = noise({2, 3, 4}, 1);
  const Array labels = ids({2, 4}, {0, 2, 1, 2, 1, 1, 0, 2});
  for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    for (const char* reduction : {"none", "sum", "mean"}) {
      Twin(type, 13).in(scores).in(labels).set("reduction", reduction).expect_alike(1e-6);
      Twin(type, 13)
          .in(scores)
          .in(labels)
          .in(array({3}, {0.5, 2, 3}))
          .set("reduction", reduction)
          .set("ignore_index", 1)
          .expect_alike(1e-6);
    }
  }
  Twin("SoftmaxCrossEntropyLoss", 13).in(scores).in(labels).outputs(2).expect_alike(1e-6);
}

TEST(RuntimeClassic, FeaturesOfTheMlDomain) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const auto classic = [](const char* type) { return Twin(type, 17, "ai.onnx.ml"); };
  const Array x = noise({3, 4}, 1);
  classic("Scaler")
      .in(x)
      .set("offset", Values{0.1, 0.2, 0.3, 0.4})
      .set("scale", Values{1, 2, 3, 4})
      .expect_alike(1e-6);
  classic("Scaler").in(x).set("offset", Values{0.1}).set("scale", Values{3}).expect_alike(1e-6);
  for (const char* norm : {"MAX", "L1", "L2"}) {
    classic("Normalizer").in(x).set("norm", norm).expect_alike(1e-6);
  }
  classic("Binarizer").in(x).set("threshold", 0.1).expect_alike(0);
  Array missing = x;
  missing.values[2] = std::nan("");
  missing.values[7] = std::nan("");
  classic("Imputer")
      .in(missing)
      .set("imputed_value_floats", Values{1, 2, 3, 4})
      .set("replaced_value_float", std::nan(""))
      .expect_alike(0);
  classic("LinearRegressor")
      .in(x)
      .set("coefficients", Values{1, 2, 3, 4, 5, 6, 7, 8})
      .set("intercepts", Values{0.5, -1})
      .set("targets", 2)
      .expect_alike(1e-5);
  classic("ArrayFeatureExtractor").in(x).in(ids({2}, {3, 1})).expect_alike(0);
}

}  // namespace
}  // namespace opdrift::replay::test
