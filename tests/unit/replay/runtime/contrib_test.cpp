#include "unit/replay/runtime/twin.hpp"

// Kinds of com.microsoft beside ONNX Runtime, on small cases that reach their attributes.

namespace opdrift::replay::test {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

Twin contrib(const char* type) {
  return Twin(type, 17, kMicrosoft);
}

Array codes(const tensor::Shape& shape, std::uint64_t seed,
            tensor::DType dtype = tensor::DType::u8) {
  Array a = noise(shape, seed);
  for (double& value : a.values) {
    value =
        dtype == tensor::DType::u8 ? std::floor(127.5 + 127.0 * value) : std::floor(127.0 * value);
  }
  a.dtype = dtype;
  return a;
}

Array code(double value, tensor::DType dtype = tensor::DType::u8) {
  return array({}, {value}, dtype);
}

Array scale(double value) {
  return array({}, {value});
}

TEST(RuntimeQLinear, ElementByElement) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* type : {"QLinearAdd", "QLinearMul"}) {
    contrib(type)
        .in(codes({2, 3, 4}, 1))
        .in(scale(0.02))
        .in(code(120))
        .in(codes({4}, 2))
        .in(scale(0.013))
        .in(code(131))
        .in(scale(0.03))
        .in(code(100))
        .expect_alike(0);
  }
  for (const char* type : {"QLinearSigmoid", "QLinearLeakyRelu"}) {
    contrib(type)
        .in(codes({2, 3, 4}, 1))
        .in(scale(0.02))
        .in(code(120))
        .in(scale(0.0087))
        .in(code(10))
        .expect_alike(0);
  }
}

TEST(RuntimeQLinear, GlobalMeans) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int last : {0, 1}) {
    contrib("QLinearGlobalAveragePool")
        .in(codes({2, 3, 4, 5}, 1))
        .in(scale(0.0231))
        .in(code(120))
        .in(scale(0.0117))
        .in(code(100))
        .set("channels_last", last)
        .expect_alike(0);
  }
}

TEST(RuntimeQLinear, MeansUnderAWindow) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int last : {0, 1}) {
    for (const int padded : {0, 1}) {
      contrib("QLinearAveragePool")
          .in(codes({2, 4, 5, 6}, 1))
          .in(scale(0.0231))
          .in(code(120))
          .in(scale(0.0117))
          .in(code(100))
          .set("channels_last", last)
          .set("kernel_shape", Integers{2, 3})
          .set("strides", Integers{2, 1})
          .set("pads", Integers{1, 1, 0, 1})
          .set("count_include_pad", padded)
          .expect_alike(0);
    }
  }
}

TEST(RuntimeQLinear, SoftmaxOfBothOpsets) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int opset : {12, 13}) {
    contrib("QLinearSoftmax")
        .in(codes({2, 3, 4}, 1))
        .in(scale(0.02))
        .in(code(120))
        .in(scale(1.0 / 256.0))
        .in(code(0))
        .set("axis", 2)
        .set("opset", opset)
        .expect_alike(0);
  }
  for (const int opset : {12, 13}) {
    contrib("QLinearSoftmax")
        .in(codes({2, 3, 4}, 1))
        .in(scale(0.02))
        .in(code(120))
        .in(scale(1.0 / 256.0))
        .in(code(0))
        .set("axis", 1)
        .set("opset", opset)
        .expect_alike(0);
  }
}

TEST(RuntimeQLinear, JoinsAndChooses) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("QLinearConcat")
      .in(scale(0.02))
      .in(code(120))
      .in(codes({2, 3, 4}, 1))
      .in(scale(0.013))
      .in(code(100))
      .in(codes({2, 1, 4}, 2))
      .in(scale(0.031))
      .in(code(140))
      .set("axis", 1)
      .expect_alike(0);
  contrib("QLinearWhere")
      .in(array({3, 1}, {1, 0, 1}, tensor::DType::boolean))
      .in(codes({2, 3, 4}, 1))
      .in(scale(0.013))
      .in(code(100))
      .in(codes({4}, 2))
      .in(scale(0.031))
      .in(code(140))
      .in(scale(0.02))
      .in(code(120))
      .expect_alike(0);
}

TEST(RuntimeQLinear, ConvolutionsWithChannelsLast) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("QLinearConv")
      .in(codes({1, 5, 6, 4}, 1))
      .in(scale(0.02))
      .in(code(120))
      .in(codes({3, 4, 2, 3}, 2, tensor::DType::i8))
      .in(array({3}, {0.01, 0.02, 0.03}))
      .in(array({3}, {0, 0, 0}, tensor::DType::i8))
      .in(scale(0.2))
      .in(code(100))
      .in(array({3}, {100, -50, 20}, tensor::DType::i32))
      .set("channels_last", 1)
      .set("pads", Integers{1, 0, 0, 1})
      .expect_alike(0);
}

TEST(RuntimeRotary, ContribLayouts) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array places = array({2, 3}, {0, 2, 4, 1, 3, 5}, tensor::DType::i64);
  const Array start = array({1}, {2}, tensor::DType::i64);
  for (const Array& position : {places, start}) {
    contrib("RotaryEmbedding")
        .in(noise({2, 3, 16}, 1))
        .in(position)
        .in(noise({6, 4}, 2))
        .in(noise({6, 4}, 3))
        .expect_alike(1e-6);
    contrib("RotaryEmbedding")
        .in(noise({2, 2, 3, 8}, 1))
        .in(position)
        .in(noise({6, 4}, 2))
        .in(noise({6, 4}, 3))
        .set("interleaved", 1)
        .set("scale", 1.0)
        .expect_alike(1e-6);
    contrib("RotaryEmbedding")
        .in(noise({2, 3, 16}, 1))
        .in(position)
        .in(noise({6, 2}, 2))
        .in(noise({6, 2}, 3))
        .set("num_heads", 2)
        .set("rotary_embedding_dim", 4)
        .expect_alike(1e-6);
  }
}

TEST(RuntimeFused, Norms) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("SkipLayerNormalization")
      .in(noise({2, 3, 8}, 1))
      .in(noise({2, 3, 8}, 2))
      .in(noise({8}, 3))
      .in(noise({8}, 4))
      .in(noise({8}, 5))
      .set("epsilon", 1e-3)
      .expect_alike(1e-5);
  contrib("SkipLayerNormalization")
      .in(noise({2, 3, 8}, 1))
      .in(noise({3, 8}, 2))
      .in(noise({8}, 3))
      .expect_alike(1e-5);
  contrib("SkipSimplifiedLayerNormalization")
      .in(noise({2, 3, 8}, 1))
      .in(noise({2, 3, 8}, 2))
      .in(noise({8}, 3))
      .in(noise({8}, 4))
      .expect_alike(1e-5);
  // Without an epsilon both norms take 1e-12.
  Array small = noise({1, 2, 8}, 1);
  for (double& value : small.values) {
    value *= 1e-3;
  }
  contrib("SkipLayerNormalization").in(small).in(small).in(noise({8}, 3)).expect_alike(1e-4);
  contrib("EmbedLayerNormalization")
      .in(array({2, 3}, {0, 4, 2, 1, 1, 3}, tensor::DType::i32))
      .in(array({2, 3}, {0, 1, 0, 1, 1, 0}, tensor::DType::i32))
      .in(noise({5, 8}, 1))
      .in(noise({4, 8}, 2))
      .in(noise({2, 8}, 3))
      .in(noise({8}, 4))
      .in(noise({8}, 5))
      .in(array({2, 3}, {1, 1, 0, 1, 1, 1}, tensor::DType::i32))
      .set("epsilon", 1e-3)
      .outputs(3)
      .expect_alike(1e-5);
}

TEST(RuntimeFused, GeluAndProducts) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("BiasGelu").in(noise({2, 3, 8}, 1)).in(noise({8}, 2)).expect_alike(1e-5);
  contrib("FastGelu").in(noise({2, 3, 8}, 1)).in(noise({8}, 2)).expect_alike(1e-5);
  contrib("QuickGelu").in(noise({2, 3, 8}, 1)).set("alpha", 1.3).expect_alike(1e-5);
  for (const int left : {0, 1}) {
    for (const int right : {0, 1}) {
      contrib("FusedMatMul")
          .in(noise(left != 0 ? tensor::Shape{2, 4, 3} : tensor::Shape{2, 3, 4}, 1))
          .in(noise(right != 0 ? tensor::Shape{2, 5, 4} : tensor::Shape{2, 4, 5}, 2))
          .set("transA", left)
          .set("transB", right)
          .set("alpha", 0.7)
          .expect_alike(1e-5);
    }
  }
  for (const int turned : {0, 1}) {
    contrib("FusedMatMul")
        .in(noise(turned != 0 ? tensor::Shape{4, 2, 3} : tensor::Shape{3, 2, 4}, 1))
        .in(noise({2, 4, 5}, 2))
        .set("transA", turned)
        .set("transBatchA", 1)
        .expect_alike(1e-5);
    contrib("FusedMatMul")
        .in(noise({2, 3, 4}, 1))
        .in(noise(turned != 0 ? tensor::Shape{5, 2, 4} : tensor::Shape{4, 2, 5}, 2))
        .set("transB", turned)
        .set("transBatchB", 1)
        .expect_alike(1e-5);
  }
  contrib("FusedGemm")
      .in(noise({3, 4}, 1))
      .in(noise({5, 4}, 2))
      .in(noise({5}, 3))
      .set("transB", 1)
      .set("alpha", 0.5)
      .set("beta", 2.0)
      .set("activation", "LeakyRelu")
      .set("activation_alpha", 0.3)
      .expect_alike(1e-5);
}

TEST(RuntimeFused, AttentionOfManyHeads) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("MultiHeadAttention")
      .in(noise({2, 3, 8}, 1))
      .in(noise({2, 5, 8}, 2))
      .in(noise({2, 5, 12}, 3))
      .in(noise({28}, 4))
      .set("num_heads", 2)
      .expect_alike(1e-5);
  contrib("MultiHeadAttention")
      .in(noise({2, 3, 8}, 1))
      .in(noise({2, 5, 8}, 2))
      .in(noise({2, 5, 8}, 3))
      .absent()
      .in(array({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1}, tensor::DType::i32))
      .set("num_heads", 2)
      .expect_alike(1e-5);
  contrib("MultiHeadAttention")
      .in(noise({2, 3, 8}, 1))
      .in(noise({2, 3, 8}, 2))
      .in(noise({2, 3, 8}, 3))
      .absent()
      .absent()
      .in(noise({1, 2, 3, 7}, 5))
      .in(noise({2, 2, 4, 4}, 6))
      .in(noise({2, 2, 4, 4}, 7))
      .set("num_heads", 2)
      .set("unidirectional", 1)
      .outputs(3)
      .expect_alike(1e-5);
  contrib("Attention")
      .in(noise({2, 3, 8}, 1))
      .in(noise({8, 24}, 2))
      .in(noise({24}, 3))
      .set("num_heads", 2)
      .set("unidirectional", 1)
      .expect_alike(1e-5);
}

TEST(RuntimeFused, PackedAttention) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const auto packed = [] {
    return contrib("Attention")
        .in(noise({2, 3, 8}, 1))
        .in(noise({8, 24}, 2))
        .in(noise({24}, 3))
        .set("num_heads", 2);
  };
  for (const Array& mask :
       {array({2, 3}, {1, 1, 0, 1, 1, 1}), array({2}, {2, 3}), array({4}, {2, 3, 0, 1}),
        array({2, 3, 3}, {1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1})}) {
    packed().in(array(mask.shape, mask.values, tensor::DType::i32)).expect_alike(1e-5);
  }
  packed()
      .in(array({2, 7}, {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1}, tensor::DType::i32))
      .in(noise({2, 2, 2, 4, 4}, 4))
      .set("unidirectional", 1)
      .outputs(2)
      .expect_alike(1e-5);
  contrib("Attention")
      .in(noise({2, 3, 8}, 1))
      .in(noise({8, 28}, 2))
      .in(noise({28}, 3))
      .set("num_heads", 2)
      .set("qkv_hidden_sizes", Integers{8, 8, 12})
      .expect_alike(1e-5);
}

Array lengths(Values values) {
  return array({values.size()}, values, tensor::DType::i32);
}

// Prompts and later steps; queries, keys and values apart or in one.
TEST(RuntimeGroupedAttention, WindowsSinksAndRotation) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const auto prompt = [] {
    return contrib("GroupQueryAttention")
        .in(noise({2, 6, 64}, 1))
        .in(noise({2, 6, 32}, 2))
        .in(noise({2, 6, 32}, 3))
        .absent()
        .absent()
        .in(lengths({5, 5}))
        .in(array({1}, {6}, tensor::DType::i32))
        .set("num_heads", 4)
        .set("kv_num_heads", 2)
        .outputs(3);
  };
  prompt().expect_alike(1e-5);
  prompt().set("local_window_size", 3).set("softcap", 0.8).expect_alike(1e-5);
  prompt().set("smooth_softmax", 1).set("scale", 0.7).expect_alike(1e-5);
  prompt().absent().absent().absent().absent().in(array({4}, {0.5, -1, 2, 0})).expect_alike(1e-5);
  for (const int interleaved : {0, 1}) {
    prompt()
        .in(noise({8, 8}, 4))
        .in(noise({8, 8}, 5))
        .set("do_rotary", 1)
        .set("rotary_interleaved", interleaved)
        .expect_alike(1e-5);
  }
  for (const int window : {-1, 3}) {
    contrib("GroupQueryAttention")
        .in(noise({2, 1, 128}, 1))
        .absent()
        .absent()
        .in(noise({2, 2, 7, 16}, 4))
        .in(noise({2, 2, 7, 16}, 5))
        .in(lengths({4, 7}))
        .in(array({1}, {8}, tensor::DType::i32))
        .set("num_heads", 4)
        .set("kv_num_heads", 2)
        .set("local_window_size", window)
        .outputs(3)
        .expect_alike(1e-5);
  }
}

TEST(RuntimeDecoderAttention, KeysOfAnEncoder) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("DecoderMaskedMultiHeadAttention")
      .in(noise({2, 1, 8}, 1))
      .in(noise({2, 2, 5, 4}, 2))
      .in(noise({2, 2, 5, 4}, 3))
      .set("num_heads", 2)
      .set("past_present_share_buffer", 1)
      .expect_alike(1e-5);
}

TEST(RuntimeCoded, Products) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int turned : {0, 1}) {
    for (const bool coded : {false, true}) {
      Twin twin = contrib("QGemm");
      twin.in(codes(turned != 0 ? tensor::Shape{5, 3} : tensor::Shape{3, 5}, 1))
          .in(scale(0.021))
          .in(code(120))
          .in(codes(turned != 0 ? tensor::Shape{4, 5} : tensor::Shape{5, 4}, 2, tensor::DType::i8))
          .in(array({4}, {0.011, 0.012, 0.013, 0.017}))
          .in(array({4}, {0, 0, 0, 0}, tensor::DType::i8))
          .in(array({4}, {100, -2000, 30, 7}, tensor::DType::i32))
          .set("transA", turned)
          .set("transB", turned)
          .set("alpha", 0.7);
      if (coded) {
        twin.in(scale(0.031)).in(code(100));
      }
      twin.expect_alike(coded ? 0 : 1e-5);
    }
  }
  contrib("MatMulIntegerToFloat")
      .in(codes({3, 5}, 1))
      .in(codes({5, 4}, 2))
      .in(scale(0.021))
      .in(array({4}, {0.011, 0.012, 0.013, 0.017}))
      .in(code(120))
      .in(array({4}, {100, 120, 130, 140}, tensor::DType::u8))
      .in(noise({4}, 3))
      .expect_alike(1e-5);
  contrib("DynamicQuantizeMatMul")
      .in(noise({3, 5}, 1))
      .in(codes({5, 4}, 2))
      .in(scale(0.021))
      .in(code(120))
      .in(noise({4}, 3))
      .expect_alike(1e-5);
}

TEST(RuntimeCoded, PackedWeights) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int bits : {4, 8}) {
    for (const bool zeros : {false, true}) {
      Twin twin = contrib("MatMulNBits");
      twin.in(noise({3, 40}, 1))
          .in(codes({5, 2, static_cast<std::uint64_t>(4 * bits)}, 2))
          .in(noise({10}, 3))
          .set("K", 40)
          .set("N", 5)
          .set("bits", bits)
          .set("block_size", 32)
          .set("accuracy_level", 1);
      if (zeros) {
        twin.in(codes({static_cast<std::uint64_t>(bits == 4 ? 5 : 10)}, 4));
      }
      twin.expect_alike(1e-4);
    }
  }
}

TEST(RuntimeCoded, AttentionOfCodes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("QAttention")
      .in(codes({2, 3, 8}, 1))
      .in(codes({8, 24}, 2, tensor::DType::i8))
      .in(noise({24}, 3))
      .in(scale(0.011))
      .in(scale(0.013))
      .in(array({2, 3}, {1, 1, 0, 1, 1, 1}, tensor::DType::i32))
      .in(code(120))
      .in(code(3, tensor::DType::i8))
      .set("num_heads", 2)
      .set("unidirectional", 1)
      .expect_alike(1e-5);
}

TEST(RuntimeCoded, EmbeddingsOfCodes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("QEmbedLayerNormalization")
      .in(array({2, 3}, {0, 4, 2, 1, 1, 3}, tensor::DType::i32))
      .in(array({2, 3}, {0, 1, 0, 1, 1, 0}, tensor::DType::i32))
      .in(codes({5, 8}, 1))
      .in(codes({4, 8}, 2))
      .in(codes({2, 8}, 3))
      .in(codes({8}, 4))
      .in(codes({8}, 5))
      .in(array({2, 3}, {1, 1, 0, 1, 1, 1}, tensor::DType::i32))
      .in(scale(0.01))
      .in(scale(0.02))
      .in(scale(0.03))
      .in(scale(0.04))
      .in(scale(0.05))
      .in(code(120))
      .in(code(121))
      .in(code(122))
      .in(code(123))
      .in(code(124))
      .outputs(2)
      .expect_alike(1e-5);
}

TEST(RuntimeCoded, GatheredBlocks) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array places = array({2, 2}, {3, 0, -1, 1}, tensor::DType::i64);
  for (const int bits : {4, 8}) {
    for (const bool zeros : {false, true}) {
      Twin twin = contrib("GatherBlockQuantized");
      twin.in(codes({4, static_cast<std::uint64_t>(5 * bits)}, 1))
          .in(places)
          .in(noise({4, 3}, 2))
          .set("bits", bits)
          .set("block_size", 16)
          .set("quantize_axis", 1);
      if (zeros) {
        twin.in(codes({4, static_cast<std::uint64_t>(bits == 4 ? 2 : 3)}, 4));
      }
      twin.expect_alike(1e-6);
    }
  }
  Array nibbles = codes({4, 32}, 1);
  for (double& value : nibbles.values) {
    value = std::fmod(value, 16.0);
  }
  nibbles.dtype = tensor::DType::u4;
  contrib("GatherBlockQuantized")
      .in(nibbles)
      .in(places)
      .in(noise({4, 2}, 2))
      .set("block_size", 16)
      .set("quantize_axis", 1)
      .expect_alike(1e-6);
}

TEST(RuntimeChannelsLast, Maxima) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("NhwcMaxPool")
      .in(codes({2, 5, 6, 3}, 1))
      .set("kernel_shape", Integers{2, 3})
      .set("strides", Integers{2, 1})
      .set("pads", Integers{1, 0, 0, 1})
      .expect_alike(0);
}

// Names that ai.onnx has as well.
TEST(RuntimeContrib, OlderFormsOfStandardKinds) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("Unique").in(array({6}, {2, 1, 2, 0, 1, 5})).outputs(3).expect_alike(0);
  contrib("Gelu").in(noise({3, 4}, 1)).expect_alike(1e-6);
  contrib("Trilu")
      .in(noise({3, 4}, 1))
      .in(array({}, {1}, tensor::DType::i64))
      .set("upper", 0)
      .expect_alike(0);
  contrib("Pad")
      .in(noise({3, 4}, 1))
      .in(array({4}, {1, 0, 0, 2}, tensor::DType::i64))
      .in(array({}, {3}))
      .expect_alike(0);
  for (const char* mode : {"bilinear", "bicubic", "nearest"}) {
    contrib("GridSample")
        .in(noise({1, 2, 4, 5}, 1))
        .in(noise({1, 3, 2, 2}, 2))
        .set("mode", mode)
        .set("padding_mode", "border")
        .set("align_corners", 1)
        .expect_alike(1e-5);
  }
  contrib("GatherND")
      .in(noise({3, 4}, 1))
      .in(array({2, 2}, {0, 1, 2, 3}, tensor::DType::i64))
      .expect_alike(0);
  contrib("QuantizeLinear")
      .in(noise({3, 4}, 1))
      .in(array({}, {0.01}))
      .in(code(3, tensor::DType::i8))
      .expect_alike(0);
  contrib("DequantizeLinear")
      .in(codes({3, 4}, 1))
      .in(array({4}, {0.01, 0.02, 0.03, 0.04}))
      .in(array({4}, {1, 2, 3, 4}, tensor::DType::u8))
      .set("axis", 1)
      .expect_alike(1e-6);
}

TEST(RuntimeContrib, FusedConvolutions) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  contrib("FusedConv")
      .in(noise({1, 4, 5, 6}, 1))
      .in(noise({3, 4, 2, 3}, 2))
      .in(noise({3}, 3))
      .in(noise({1, 3, 5, 5}, 4))
      .set("pads", Integers{1, 0, 0, 1})
      .set("activation", "Relu")
      .expect_alike(1e-5);
  for (const char* activation : {"HardSigmoid", "Clip"}) {
    contrib("FusedConv")
        .in(noise({1, 4, 5, 6}, 1))
        .in(noise({3, 4, 2, 3}, 2))
        .set("activation", activation)
        .set("activation_params", Values{0.3, 0.6})
        .expect_alike(1e-5);
  }
}

}  // namespace
}  // namespace opdrift::replay::test
