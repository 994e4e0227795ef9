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
  Twin("DFT", 17).in(noise({2, 6, 1}, 1)).set("axis", 1).expect_alike(1e-5);
  Twin("DFT", 17).in(noise({2, 6, 1}, 1)).set("axis", 1).set("onesided", 1).expect_alike(1e-5);
  Twin("DFT", 20)
      .in(noise({2, 6, 5, 2}, 1))
      .absent()
      .in(ids({}, {1}))
      .set("inverse", 1)
      .expect_alike(1e-5);
  Twin("DFT", 20).in(noise({2, 6, 5, 2}, 1)).in(ids({}, {8})).expect_alike(1e-5);
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

}  // namespace
}  // namespace opdrift::replay::test
