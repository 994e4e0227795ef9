#include "unit/replay/runtime/twin.hpp"

// Kinds that work element by element, beside ONNX Runtime.

namespace opdrift::replay::test {
namespace {

using tensor::DType;

/// Numbers in (-range, range) with 0 among them.
Array spread(const tensor::Shape& shape, double range, std::uint64_t seed = 1) {
  Array a = noise(shape, seed);
  for (double& value : a.values) {
    value *= range;
  }
  a.values[1] = 0.0;
  return a;
}

Array whole(const tensor::Shape& shape, double range, std::uint64_t seed,
            DType dtype = DType::i32) {
  Array a = noise(shape, seed);
  for (double& value : a.values) {
    value = std::floor(value * range);
  }
  a.dtype = dtype;
  return a;
}

TEST(RuntimeUnary, FunctionsOfOneElement) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* type : {"Abs",       "Neg",  "Relu",     "LeakyRelu", "ThresholdedRelu",
                           "Elu",       "Celu", "Selu",     "Sigmoid",   "HardSigmoid",
                           "HardSwish", "Tanh", "Softplus", "Softsign",  "Shrink",
                           "Mish",      "Erf",  "Exp",      "Ceil",      "Floor",
                           "Round",     "Sign", "Sin",      "Cos",       "Tan",
                           "Atan",      "Sinh", "Cosh",     "Asinh",     "Gelu",
                           "Identity"}) {
    Twin(type, 20).in(spread({3, 5}, 3.5)).expect_alike(2e-6);
  }
  for (const char* type : {"Asin", "Acos", "Atanh"}) {
    Twin(type, 20).in(noise({3, 5}, 1)).expect_alike(2e-6);
  }
  Array positive = spread({3, 5}, 3.5);
  for (double& value : positive.values) {
    value = std::abs(value) + 1.0;
  }
  for (const char* type : {"Log", "Sqrt", "Reciprocal", "Acosh"}) {
    Twin(type, 20).in(positive).expect_alike(2e-6);
  }
}

TEST(RuntimeUnary, Attributes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = spread({3, 5}, 3.5);
  Twin("LeakyRelu", 16).in(x).set("alpha", 0.3).expect_alike(1e-6);
  Twin("ThresholdedRelu", 10).in(x).set("alpha", 0.7).expect_alike(0);
  Twin("Elu", 6).in(x).set("alpha", 0.7).expect_alike(1e-6);
  Twin("Celu", 12).in(x).set("alpha", 0.7).expect_alike(1e-6);
  Twin("Selu", 6).in(x).set("alpha", 0.7).set("gamma", 1.3).expect_alike(1e-6);
  Twin("HardSigmoid", 6).in(x).set("alpha", 0.3).set("beta", 0.4).expect_alike(1e-6);
  Twin("Shrink", 9).in(x).set("lambd", 0.6).set("bias", 0.2).expect_alike(1e-6);
  Twin("Gelu", 20).in(x).set("approximate", "tanh").expect_alike(2e-6);
  Twin("Clip", 6).in(x).set("min", -1.0).set("max", 0.5).expect_alike(0);
  Twin("Clip", 13).in(x).in(array({}, {-1})).in(array({}, {0.5})).expect_alike(0);
  Twin("Clip", 13).in(x).absent().in(array({}, {0.5})).expect_alike(0);
  Twin("Clip", 13).in(x).in(array({}, {1})).in(array({}, {0.5})).expect_alike(0);
  Array ties = array({6}, {0.5, 1.5, -0.5, -2.5, 2.5, -0.2});
  Twin("Round", 11).in(ties).expect_alike(0);
  Array odd = array({5}, {std::nan(""), HUGE_VAL, -HUGE_VAL, 0, 1});
  for (const char* type : {"Relu", "Sign", "Abs", "Sigmoid", "Tanh", "Erf", "Floor", "IsNaN"}) {
    Twin(type, 13).in(odd).expect_alike(1e-6);
  }
  for (const int flag : {0, 1}) {
    Twin("IsInf", 10)
        .in(odd)
        .set("detect_negative", flag)
        .set("detect_positive", 1 - flag)
        .expect_alike(0);
  }
}

TEST(RuntimeBinary, FloatsAndBroadcasting) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = spread({2, 3, 4}, 3.0, 1);
  const Array y = spread({3, 1}, 2.0, 2);
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
                           "LessOrEqual", "Max", "Min", "Sum", "Mean"}) {
    Twin(type, 16).in(x).in(y).expect_alike(1e-6);
  }
  Twin("PRelu", 16).in(x).in(y).expect_alike(1e-6);
  Array positive = x;
  for (double& value : positive.values) {
    value = std::abs(value) + 0.1;
  }
  Twin("Pow", 15).in(positive).in(y).expect_alike(2e-6);
  Twin("Pow", 15).in(x).in(array({}, {3}, DType::i32)).expect_alike(2e-6);
  Twin("Mod", 13).in(x).in(positive).set("fmod", 1).expect_alike(1e-6);
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    Twin(type, 13).in(x).in(y).in(noise({4}, 3)).expect_alike(1e-6);
    Twin(type, 13).in(x).expect_alike(0);
  }
  Array odd = array({4}, {std::nan(""), 1, HUGE_VAL, -HUGE_VAL});
  Twin("Max", 13).in(odd).in(array({4}, {0, std::nan(""), 1, 1})).expect_alike(0);
  Twin("Min", 13).in(odd).in(array({4}, {0, std::nan(""), 1, 1})).expect_alike(0);
}

TEST(RuntimeBinary, WholeNumbersAndBits) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array x = whole({3, 5}, 20.0, 1);
  Array y = whole({3, 5}, 6.0, 2);
  for (double& value : y.values) {
    value = value == 0.0 ? 3.0 : value;
  }
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less"}) {
    Twin(type, 14).in(x).in(y).expect_alike(0);
  }
  Twin("Mod", 13).in(x).in(y).expect_alike(0);
  Twin("Mod", 13).in(x).in(y).set("fmod", 1).expect_alike(0);
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    Twin(type, 18).in(x).in(y).expect_alike(0);
  }
  Twin("BitwiseNot", 18).in(x).expect_alike(0);
  Array u = array({4}, {200, 9, 255, 0}, DType::u8);
  for (const char* direction : {"LEFT", "RIGHT"}) {
    Twin("BitShift", 11)
        .in(u)
        .in(array({4}, {1, 3, 7, 2}, DType::u8))
        .set("direction", direction)
        .expect_alike(0);
  }
  const Array p = array({2, 2}, {1, 0, 1, 0}, DType::boolean);
  const Array q = array({2}, {1, 1}, DType::boolean);
  for (const char* type : {"And", "Or", "Xor"}) {
    Twin(type, 7).in(p).in(q).expect_alike(0);
  }
  Twin("Not", 1).in(p).expect_alike(0);
  Twin("Where", 16).in(p).in(noise({2, 2}, 1)).in(noise({2}, 2)).expect_alike(0);
}

TEST(RuntimeCast, BetweenTypes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Array x = array({6}, {1.7, -1.7, 0.4, 3, -0.4, 0});
  Twin("Cast", 13).in(x).set("to", 6).expect_alike(0);
  Twin("Cast", 13).in(x).set("to", 9).expect_alike(0);
  Twin("Cast", 13).in(whole({5}, 9, 1)).set("to", 1).expect_alike(0);
  Twin("CastLike", 15).in(x).in(whole({1}, 1, 1)).expect_alike(0);
}

TEST(RuntimeCodes, ThereAndBack) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Array x = spread({2, 3, 4}, 6.0);
  Twin("QuantizeLinear", 13)
      .in(x)
      .in(array({}, {0.05}))
      .in(array({}, {120}, DType::u8))
      .expect_alike(0);
  Twin("QuantizeLinear", 13)
      .in(x)
      .in(array({3}, {0.05, 0.1, 0.02}))
      .in(array({3}, {1, -20, 0}, DType::i8))
      .set("axis", 1)
      .expect_alike(0);
  Twin("QuantizeLinear", 21).in(x).in(array({}, {0.001})).set("output_dtype", 5).expect_alike(0);
  Twin("DequantizeLinear", 13)
      .in(whole({2, 3, 4}, 100.0, 1, DType::i8))
      .in(array({4}, {0.05, 0.1, 0.02, 1}))
      .in(array({4}, {1, -20, 0, 3}, DType::i8))
      .set("axis", -1)
      .expect_alike(1e-6);
  Twin("DequantizeLinear", 21)
      .in(whole({2, 6}, 100.0, 1, DType::i8))
      .in(noise({2, 3}, 2))
      .set("axis", 1)
      .set("block_size", 2)
      .expect_alike(1e-6);
  Twin("DequantizeLinear", 10)
      .in(whole({2, 6}, 100.0, 1, DType::i32))
      .in(array({}, {0.3}))
      .expect_alike(1e-6);
  Twin("DynamicQuantizeLinear", 11).in(x).outputs(3).expect_alike(1e-7);
  for (const char* shift : {"low", "high"}) {
    Array one_sided = x;
    for (double& value : one_sided.values) {
      value = std::string(shift) == "low" ? std::abs(value) + 1 : -std::abs(value) - 1;
    }
    Twin("DynamicQuantizeLinear", 11).in(one_sided).outputs(3).expect_alike(1e-7);
  }
}

}  // namespace
}  // namespace opdrift::replay::test
