// The replay budget on torchair folders: a GE dump with a fused operator beside FX tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using verdict::Label;
using verdict::Outcome;
using Values = std::vector<double>;

constexpr std::size_t kSide = 16;

Values rounded(Values values, DType dtype) {
  for (double& value : values) {
    value = replay::round_to(value, dtype);
  }
  return values;
}

Values wave(double step) {
  Values values;
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    values.push_back(std::sin(step * static_cast<double>(i + 1)));
  }
  return values;
}

struct Fault {
  std::size_t fused = 0;  ///< this many elements of the fused result are off
  bool add = false;       ///< one element of the sum is off
};

/// a = x + b, p = a w, m = p c (fused with p on the device), r = relu(m), f = an unknown function.
struct Network {
  Values x, b, w, c, a, p, m, r;

  Network(DType dtype, const Fault& fault) {
    x = rounded(wave(0.37), dtype);
    b = rounded(wave(0.53), dtype);
    w = rounded(wave(0.71), dtype);
    c = rounded(wave(0.91), dtype);
    for (std::size_t i = 0; i < x.size(); ++i) {
      a.push_back(x[i] + b[i]);
    }
    a = rounded(a, dtype);
    a[33] += fault.add ? 0.5 : 0.0;
    p.assign(x.size(), 0.0);
    for (std::size_t i = 0; i < kSide; ++i) {
      for (std::size_t j = 0; j < kSide; ++j) {
        for (std::size_t k = 0; k < kSide; ++k) {
          p[i * kSide + j] += a[i * kSide + k] * w[k * kSide + j];
        }
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      m.push_back(p[i] * c[i]);
    }
    for (std::size_t i = 0; i < fault.fused; ++i) {
      m[i * 3] *= 1.5;
    }
    p = rounded(p, dtype);
    m = rounded(m, dtype);
    for (const double value : m) {
      r.push_back(std::max(value, 0.0));
    }
  }
};

std::string op_text(const std::string& name, const std::string& type,
                    const std::vector<std::string>& inputs, const std::string& node) {
  std::string text = "op { name: \"" + name + "\" type: \"" + type + "\"";
  for (const std::string& input : inputs) {
    text += " input: \"" + input + "\"";
  }
  text += " output_desc { dtype: DT_FLOAT16";
  if (!node.empty()) {
    text += " attr { key: \"_fx_tensor_name\" value { s: \"" + node + ".OUTPUT.0\" } }";
  }
  return text + " } }\n";
}

class GeJudge : public testing::FolderTest {
 protected:
  void write_ge(const std::string& file, const std::vector<Values>& inputs, const Values& output) {
    std::vector<std::vector<std::byte>> bytes;
    io::AscendContent content;
    for (const Values& values : inputs) {
      bytes.push_back(testing::encoded(DType::f16, values));
    }
    bytes.push_back(testing::encoded(DType::f16, output));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      io::AscendTensor tensor;
      tensor.role = i + 1 < bytes.size() ? io::TensorRole::input : io::TensorRole::output;
      tensor.desc.dtype = DType::f16;
      tensor.desc.format = tensor::Format::nd;
      tensor.desc.shape = tensor.desc.original_shape = {kSide, kSide};
      tensor.bytes = bytes[i];
      content.tensors.push_back(tensor);
    }
    const std::string folder = path("ge/20240125111832/0/graph_1/1/0");
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(io::write_ascend_dump(folder + "/" + file, content));
  }

  void write_fx(const std::string& node, const std::vector<Values>& inputs, const Values& output) {
    const std::string start = path("fx/data_dump/1/gm_1_dump/") + node;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      testing::write_npy_file(start + ".INPUT." + std::to_string(i) + ".20240125031118787351.npy",
                              DType::f32, {kSide, kSide}, inputs[i]);
    }
    testing::write_npy_file(start + ".OUTPUT.0.20240125031118787351.npy", DType::f32,
                            {kSide, kSide}, output);
  }

  verdict::RunResult compare(const Fault& fault) {
    const Network target(DType::f16, fault);
    const Network golden(DType::f32, {});
    write_ge("Add.Add_2.1.6.1706596912161100", {target.x, target.b}, target.a);
    write_ge("MatMul.MatMulMul_7.2.6.1706596912161200", {target.a, target.w, target.c}, target.m);
    write_ge("Relu.Relu_3.3.6.1706596912161300", {target.m}, target.r);
    write_ge("Foo.Foo_4.4.6.1706596912161400", {target.r}, target.r);
    write_fx("add_1-aten.add.Tensor", {golden.x, golden.b}, golden.a);
    write_fx("mm-aten.mm.default", {golden.a, golden.w}, golden.p);
    write_fx("mul_7-aten.mul.Tensor", {golden.p, golden.c}, golden.m);
    write_fx("relu_3-aten.relu.default", {golden.m}, golden.r);
    write_fx("foo-aten.foo.default", {golden.r}, golden.r);
    std::ofstream(path("ge/dynamo_original_graph_1_rank_0_pid_1_ts_20240125031118787351.txt"))
        << "name: \"graph_1\"\n"
        << op_text("x", "Data", {}, "") << op_text("b", "Data", {}, "")
        << op_text("Add_2", "Add", {"x:0", "b:0"}, "add_1-aten.add.Tensor")
        << op_text("MatMul", "MatMul", {"Add_2:0", "w:0"}, "mm-aten.mm.default")
        << op_text("Mul_7", "Mul", {"MatMul:0", "c:0"}, "mul_7-aten.mul.Tensor")
        << op_text("Relu_3", "Relu", {"Mul_7:0"}, "relu_3-aten.relu.default")
        << op_text("Foo_4", "Foo", {"Relu_3:0"}, "foo-aten.foo.default");
    auto result = compare_dumps(path("ge"), path("fx"), {});
    EXPECT_TRUE(result) << result.error().to_string();
    return result ? std::move(*result) : verdict::RunResult{};
  }

  static const verdict::TensorResult& output(const verdict::RunResult& result,
                                             const std::string& op) {
    static const verdict::TensorResult none;
    for (const verdict::TensorResult& tensor : result.tensors) {
      if (tensor.operator_name == op && tensor.role == "output") {
        return tensor;
      }
    }
    ADD_FAILURE() << "no output of " << op;
    return none;
  }
};

TEST_F(GeJudge, AHalfPrecisionDeviceStaysWithinItsBudget) {
  const verdict::RunResult result = compare({});
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::pass) << result.verdict->sentence;
  const verdict::TensorResult& fused = output(result, "MatMulMul_7");
  ASSERT_TRUE(fused.judgement);
  EXPECT_EQ(fused.judgement->tier, verdict::Tier::replay) << fused.judgement->sentence;
  EXPECT_EQ(fused.judgement->group, (std::vector<std::string>{"MatMul", "Mul_7"}));
  EXPECT_LT(fused.judgement->q_own, 2.0);
}

TEST_F(GeJudge, AFusedOperatorIsBlamedAsOne) {
  const verdict::RunResult result = compare({.fused = 20});
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  ASSERT_EQ(result.verdict->first_divergence.size(), 1U);
  EXPECT_EQ(result.tensors[result.verdict->first_divergence.front()].operator_name, "MatMulMul_7");
  EXPECT_TRUE(output(result, "Add_2").passed);
  EXPECT_TRUE(output(result, "Relu_3").passed);
}

TEST_F(GeJudge, WhatFollowsAFaultIsAVictim) {
  const verdict::RunResult result = compare({.add = true});
  EXPECT_EQ(output(result, "Add_2").judgement->label, Label::culprit);
  EXPECT_NE(output(result, "MatMulMul_7").judgement->label, Label::culprit);
  EXPECT_TRUE(output(result, "MatMulMul_7").passed);
}

TEST_F(GeJudge, AnOperatorWithoutAReplaySaysWhoDecided) {
  const verdict::RunResult result = compare({});
  EXPECT_NE(output(result, "Foo_4").judgement->sentence.find("no replay knows Foo"),
            std::string::npos)
      << output(result, "Foo_4").judgement->sentence;
}

}  // namespace
}  // namespace opdrift::pipeline
