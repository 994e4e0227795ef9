// The replay budget on dump.json runs: recorded arguments in, judgements out.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/judge/api_arguments.hpp"
#include "opdrift/pipeline/judge/api_signatures.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using testing::write_npy_file;
using verdict::Label;
using verdict::Outcome;
using Values = std::vector<double>;

Values rounded(Values values, DType dtype) {
  for (double& value : values) {
    value = replay::round_to(value, dtype);
  }
  return values;
}

Values wave(std::size_t count, double step) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(std::sin(step * static_cast<double>(i + 1)) * 1.5);
  }
  return values;
}

/// What goes wrong in the target.
struct Fault {
  bool matmul = false;   ///< one element of the product is off
  bool mystery = false;  ///< a call that no replay knows doubles its input
  bool inputs = false;   ///< the run was given another input
};

/// One side of a run of five calls, every result rounded to `dtype`:
/// matmul, a module around it, add with a number, softmax, a call nobody knows.
class RunWriter {
 public:
  RunWriter(std::string folder, DType dtype) : folder_(std::move(folder)), dtype_(dtype) {}

  void write(const Fault& fault) {
    const Values x = rounded(wave(48, fault.inputs ? 0.9 : 0.37), dtype_);
    const Values w = rounded(wave(80, 0.71), dtype_);
    Values y(60, 0.0);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 10; ++j) {
        for (std::size_t k = 0; k < 8; ++k) {
          y[i * 10 + j] += x[i * 8 + k] * w[k * 10 + j];
        }
      }
    }
    y = rounded(y, dtype_);
    y[17] += fault.matmul ? 0.5 : 0.0;
    Values z;
    for (const double value : y) {
      z.push_back(value + 0.25);
    }
    z = rounded(z, dtype_);
    Values s(60, 0.0);
    for (std::size_t i = 0; i < 6; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < 10; ++j) {
        sum += std::exp(z[i * 10 + j]);
      }
      for (std::size_t j = 0; j < 10; ++j) {
        s[i * 10 + j] = std::exp(z[i * 10 + j]) / sum;
      }
    }
    s = rounded(s, dtype_);
    Values m = s;
    for (double& value : m) {
      value *= fault.mystery ? 2.0 : 1.0;
    }
    call("Torch.matmul.0.forward", {leaf({6, 8}, x), leaf({8, 10}, w)}, {}, leaf({6, 10}, y));
    call("Module.product.Product.forward.0", {leaf({6, 8}, x)}, {}, leaf({6, 10}, y));
    call("Tensor.__add__.0.forward", {leaf({6, 10}, y), R"({"type": "float", "value": 0.25})"}, {},
         leaf({6, 10}, z));
    call("Functional.softmax.0.forward", {leaf({6, 10}, z)},
         {R"("dim": {"type": "int", "value": -1})"}, leaf({6, 10}, s));
    call("Torch.mystery.0.forward", {leaf({6, 10}, s)}, {}, leaf({6, 10}, m));
    std::ofstream(folder_ + "/dump.json")
        << R"({"task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": ".",)"
        << "\"data\": {" << text_ << "}}";
  }

 private:
  struct Leaf {
    tensor::Shape shape;
    Values values;
    std::string json;  ///< of values that are no tensors
    Leaf(tensor::Shape s, Values v) : shape(std::move(s)), values(std::move(v)) {}
    Leaf(const char* text) : json(text) {}  // NOLINT(google-explicit-constructor)
  };

  static Leaf leaf(tensor::Shape shape, Values values) {
    return {std::move(shape), std::move(values)};
  }

  std::string json_of(const Leaf& leaf, const std::string& name) const {
    if (!leaf.json.empty()) {
      return leaf.json;
    }
    write_npy_file(folder_ + "/dump_tensor_data/" + name + ".npy", dtype_, leaf.shape, leaf.values);
    std::string shape;
    for (const std::uint64_t extent : leaf.shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    }
    return R"({"type": "torch.Tensor", "dtype": "torch.)" + std::string(tensor::name_of(dtype_)) +
           R"(", "shape": [)" + shape + R"(], "Max": 1.0, "Min": 0.0, "Mean": 0.0, "Norm": 1.0, )" +
           R"("requires_grad": false, "data_name": ")" + name + ".npy\"}";
  }

  void call(const std::string& name, const std::vector<Leaf>& arguments,
            const std::vector<std::string>& keywords, const Leaf& output) {
    std::string list;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      list += (i > 0 ? ", " : "") + json_of(arguments[i], name + ".input." + std::to_string(i));
    }
    text_ += text_.empty() ? "" : ",\n";
    text_ += "\"" + name + "\": {\"input_args\": [" + list + "], \"input_kwargs\": {" +
             (keywords.empty() ? "" : keywords.front()) + "}, \"output\": [" +
             json_of(output, name + ".output.0") + "]}";
  }

  std::string folder_;
  DType dtype_;
  std::string text_;
};

class ApiJudge : public testing::FolderTest {
 protected:
  verdict::RunResult compare(const Fault& fault) {
    for (const char* side : {"golden", "target"}) {
      std::filesystem::create_directories(path(side));
    }
    RunWriter(path("golden"), DType::f32).write({});
    RunWriter(path("target"), DType::f16).write(fault);
    auto result = compare_dumps(path("target"), path("golden"), {});
    EXPECT_TRUE(result) << result.error().to_string();
    return result ? std::move(*result) : verdict::RunResult{};
  }

  static const verdict::TensorResult& row(const verdict::RunResult& result,
                                          const std::string& name) {
    static const verdict::TensorResult none;
    for (const verdict::TensorResult& tensor : result.tensors) {
      if (tensor.tensor_name == name) {
        return tensor;
      }
    }
    ADD_FAILURE() << "no row " << name;
    return none;
  }
};

TEST_F(ApiJudge, AHalfPrecisionRunPassesByItsBudget) {
  const verdict::RunResult result = compare({});
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::pass) << result.verdict->sentence;
  for (const char* name : {"Torch.matmul.0.forward.output.0", "Tensor.__add__.0.forward.output.0",
                           "Functional.softmax.0.forward.output.0"}) {
    const verdict::TensorResult& output = row(result, name);
    ASSERT_TRUE(output.judgement) << name;
    EXPECT_EQ(output.judgement->label, Label::healthy) << name;
    EXPECT_EQ(output.judgement->tier, verdict::Tier::replay) << name;
    EXPECT_LT(output.judgement->q_own, 2.0) << name;
  }
  EXPECT_EQ(row(result, "Functional.softmax.0.forward.input.0").judgement->sentence,
            "judged where it was made");
}

TEST_F(ApiJudge, TheFaultyCallIsNamedAndWhatFollowsIsNotBlamed) {
  const verdict::RunResult result = compare({.matmul = true});
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  ASSERT_EQ(result.verdict->first_divergence.size(), 1U);
  EXPECT_EQ(result.tensors[result.verdict->first_divergence.front()].tensor_name,
            "Torch.matmul.0.forward.output.0");
  EXPECT_EQ(row(result, "Torch.matmul.0.forward.output.0").judgement->label, Label::culprit);
  EXPECT_EQ(row(result, "Tensor.__add__.0.forward.output.0").judgement->label, Label::victim);
  EXPECT_TRUE(row(result, "Functional.softmax.0.forward.output.0").passed);
}

TEST_F(ApiJudge, AModuleIsJudgedByTheCallInsideIt) {
  const verdict::RunResult result = compare({.matmul = true});
  const verdict::TensorResult& module = row(result, "Module.product.Product.forward.0.output.0");
  EXPECT_TRUE(module.passed);
  EXPECT_EQ(module.judgement->sentence, "judged where it was made");
}

TEST_F(ApiJudge, ACallWithoutAReplayKeepsItsLimitsAndSaysSo) {
  const verdict::RunResult result = compare({.mystery = true});
  const verdict::TensorResult& output = row(result, "Torch.mystery.0.forward.output.0");
  EXPECT_FALSE(output.passed);
  EXPECT_NE(output.judgement->sentence.find("no replay knows mystery, judged by limits"),
            std::string::npos)
      << output.judgement->sentence;
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  EXPECT_TRUE(result.verdict->first_divergence.empty());
}

TEST_F(ApiJudge, RunsOfOtherInputsAreInconclusive) {
  const verdict::RunResult result = compare({.inputs = true});
  ASSERT_TRUE(result.verdict);
  EXPECT_TRUE(result.verdict->inputs_differ);
  EXPECT_NE(row(result, "Torch.matmul.0.forward.output.0").judgement->label, Label::culprit);
}

// --- arguments -----------------------------------------------------------------------------------

ApiLeafValue number(std::int64_t value) {
  ApiLeafValue leaf;
  leaf.scalar = ApiScalar{value, std::nullopt, ""};
  leaf.tensor = ApiTensor{99, {}, DType::i64};
  return leaf;
}

ApiLeafValue tensor_of(std::size_t id, tensor::Shape shape) {
  return {ApiTensor{id, std::move(shape), DType::f32}, std::nullopt};
}

ApiCallRecord call_of(const std::string& prefix, std::vector<ApiArgument> arguments,
                      std::vector<tensor::Shape> outputs) {
  ApiCallRecord record{prefix + ".0.forward", prefix, std::move(arguments), {}};
  for (tensor::Shape& shape : outputs) {
    record.outputs.push_back({record.outputs.size(), std::move(shape), DType::f32});
  }
  return record;
}

using Ids = std::vector<std::optional<std::size_t>>;
using Integers = std::vector<std::int64_t>;

TEST(ApiArguments, ConvolutionTakesListsByPosition) {
  const auto bound = bind_arguments(call_of("Functional.conv2d",
                                            {{"0", false, {tensor_of(1, {1, 3, 8, 8})}},
                                             {"1", false, {tensor_of(2, {4, 3, 3, 3})}},
                                             {"3", true, {number(2), number(2)}},
                                             {"4", false, {number(1)}},
                                             {"6", false, {number(1)}}},
                                            {{1, 4, 4, 4}}));
  ASSERT_TRUE(bound) << bound.error().to_string();
  EXPECT_EQ(bound->kind->name, "Conv");
  EXPECT_EQ(bound->inputs, (Ids{1, 2}));  // the bias is None
  EXPECT_EQ(bound->op.attributes.at("stride").integers, (Integers{2, 2}));
  EXPECT_EQ(bound->op.attributes.at("padding").integers, (Integers{1}));
  EXPECT_FALSE(bound->op.attributes.contains("dilation"));
}

TEST(ApiArguments, TransposeBecomesAPermutation) {
  const auto bound = bind_arguments(call_of("Tensor.transpose",
                                            {{"0", false, {tensor_of(1, {2, 3, 4})}},
                                             {"1", false, {number(-1)}},
                                             {"2", false, {number(1)}}},
                                            {{2, 4, 3}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->op.attributes.at("dims").integers, (Integers{0, 2, 1}));
}

TEST(ApiArguments, PermuteTakesAListAndSingleNumbers) {
  for (const bool list : {true, false}) {
    std::vector<ApiArgument> arguments = {{"0", false, {tensor_of(1, {2, 3})}}};
    if (list) {
      arguments.push_back({"1", true, {number(1), number(0)}});
    } else {
      arguments.push_back({"1", false, {number(1)}});
      arguments.push_back({"2", false, {number(0)}});
    }
    const auto bound = bind_arguments(call_of("Tensor.permute", arguments, {{3, 2}}));
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->op.attributes.at("dims").integers, (Integers{1, 0}));
  }
}

TEST(ApiArguments, AListOfOneTensorDoesNotSwallowTheAxis) {
  const auto bound = bind_arguments(call_of(
      "Torch.cat", {{"0", true, {tensor_of(5, {2, 3})}}, {"1", false, {number(1)}}}, {{2, 3}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->inputs, (Ids{5}));
  EXPECT_EQ(bound->op.attributes.at("dim").integers, (Integers{1}));
}

TEST(ApiArguments, PartsOfASplitComeFromItsOutputs) {
  const auto bound = bind_arguments(call_of("Torch.split",
                                            {{"0", false, {tensor_of(1, {5, 4})}},
                                             {"1", false, {number(2)}},
                                             {"dim", false, {number(0)}}},
                                            {{2, 4}, {2, 4}, {1, 4}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->op.attributes.at("split").integers, (Integers{2, 2, 1}));
}

TEST(ApiArguments, ReflectedAndInPlaceNamesMeanTheFunction) {
  const std::vector<ApiArgument> two = {{"0", false, {tensor_of(1, {4})}},
                                        {"1", false, {tensor_of(2, {4})}}};
  const auto reflected = bind_arguments(call_of("Tensor.__rsub__", two, {{4}}));
  ASSERT_TRUE(reflected);
  EXPECT_EQ(reflected->inputs, (Ids{2, 1}));
  const auto in_place = bind_arguments(call_of("Tensor.mul_", two, {{4}}));
  ASSERT_TRUE(in_place);
  EXPECT_EQ(in_place->kind->name, "Mul");
}

TEST(ApiArguments, ModulesReadTheirParametersAndAreKnownByTheEndOfTheirClass) {
  const auto bound = bind_arguments(call_of("Module.layers.0.attention.ColumnParallelLinear",
                                            {{"0", false, {tensor_of(1, {2, 8})}},
                                             {"weight", false, {tensor_of(2, {4, 8})}},
                                             {"bias", false, {tensor_of(3, {4})}}},
                                            {{2, 4}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->kind->name, "Linear");
  EXPECT_EQ(bound->inputs, (Ids{1, 2, 3}));
}

TEST(ApiArguments, AConvolutionModuleIsGuessedFromShapes) {
  const auto bound = bind_arguments(call_of("Module.conv1.Conv2d",
                                            {{"0", false, {tensor_of(1, {1, 8, 16, 16})}},
                                             {"weight", false, {tensor_of(2, {8, 4, 3, 3})}}},
                                            {{1, 8, 8, 8}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->op.attributes.at("stride").integers, (Integers{2, 2}));
  EXPECT_EQ(bound->op.attributes.at("padding").integers, (Integers{1, 1}));
  EXPECT_EQ(bound->op.attributes.at("groups").integers, (Integers{2}));
}

TEST(ApiArguments, WhatTheRowCannotTakeIsRefusedWithAReason) {
  const auto softmax =
      bind_arguments(call_of("Functional.softmax", {{"0", false, {tensor_of(1, {4})}}}, {{4}}));
  ASSERT_FALSE(softmax);
  EXPECT_EQ(softmax.error().message, "the argument dim was not recorded");
  const auto tensor_bound = bind_arguments(
      call_of("Torch.clamp", {{"0", false, {tensor_of(1, {4})}}, {"1", false, {tensor_of(2, {4})}}},
              {{4}}));
  EXPECT_FALSE(tensor_bound);
  const auto unknown = bind_arguments(call_of("NPU.npu_fusion", {}, {}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "no replay knows npu_fusion");
}

TEST(ApiSignatures, EveryRowNamesAKindThatCanBeReplayed) {
  for (const ApiSignature& row : all_signatures()) {
    std::string functions(row.kind.empty() ? row.functions : row.kind);
    std::size_t start = 0;
    while (start < functions.size()) {
      const std::size_t end = std::min(functions.find(' ', start), functions.size());
      const std::string name = functions.substr(start, end - start);
      const replay::OperatorKind* kind = replay::find_kind(name, replay::Dialect::aten);
      kind = kind != nullptr ? kind : replay::find_kind(name, replay::Dialect::onnx);
      ASSERT_NE(kind, nullptr) << name;
      EXPECT_NE(kind->evaluate, nullptr) << name;
      start = end + 1;
    }
  }
}

}  // namespace
}  // namespace opdrift::pipeline
