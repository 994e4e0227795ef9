#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "unit/pipeline/dump_folders.hpp"

#include "opdrift/graph/atc_json.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/judge/atc_problem.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::pipeline {
namespace {

using verdict::Label;
using verdict::Outcome;

constexpr std::size_t kWidth = 64;
using Values = std::vector<float>;

/// x -> cast -> add (with the constant c) -> relu -> mul by itself; the device stores in float16.
GraphJson chain() {
  GraphJson graph;
  graph.op("x", "Data", {}, "\"x\"", "x")
      .op("c", "Const", {}, "\"c\"", "c")
      .op("trans_cast", "Cast", {"x:0"}, "", "")
      .op("add", "Add", {"trans_cast:0", "c:0"}, "\"add\"", "add")
      .op("relu", "Relu", {"add:0"}, "\"relu\"", "relu")
      .op("mul", "Mul", {"relu:0", "relu:0"}, "\"mul\"", "mul")
      .op("out", "NetOutput", {"mul:0"}, "\"out\"", "");
  return graph;
}

Values rounded(Values values, tensor::DType dtype) {
  for (float& value : values) {
    value = static_cast<float>(replay::round_to(static_cast<double>(value), dtype));
  }
  return values;
}

struct Chain {
  Values x, c, add, relu, mul;
};

Chain run(tensor::DType dtype, const std::function<void(Chain&)>& after_add = nullptr,
          const std::function<void(Chain&)>& after_relu = nullptr) {
  Chain chain;
  for (std::size_t i = 0; i < kWidth; ++i) {
    chain.x.push_back(std::sin(1.7F * static_cast<float>(i)));
    chain.c.push_back(0.011F * static_cast<float>(i));
  }
  chain.x = rounded(chain.x, dtype);
  chain.c = rounded(chain.c, dtype);
  for (std::size_t i = 0; i < kWidth; ++i) {
    chain.add.push_back(chain.x[i] + chain.c[i]);
  }
  chain.add = rounded(chain.add, dtype);
  if (after_add) {
    after_add(chain);
  }
  for (const float value : chain.add) {
    chain.relu.push_back(std::max(value, 0.0F));
  }
  if (after_relu) {
    after_relu(chain);
  }
  for (const float value : chain.relu) {
    chain.mul.push_back(value * value);
  }
  chain.mul = rounded(chain.mul, dtype);
  return chain;
}

class JudgeNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chain golden = run(tensor::DType::f32);
    const std::string folder = folder_.sub("golden");
    write_array(folder, "x.0.1700000000000000.npy", golden.x);
    write_array(folder, "add.0.1700000000000001.npy", golden.add);
    write_array(folder, "relu.0.1700000000000002.npy", golden.relu);
    write_array(folder, "mul.0.1700000000000003.npy", golden.mul);
    graph_ = folder_.file("graph.json", chain().text());
  }

  void write_op(const std::string& type, const std::string& name, const std::vector<Values>& inputs,
                const Values& output) {
    io::AscendContent content;
    content.op_name = name;
    std::vector<std::vector<std::byte>> kept;
    kept.reserve(inputs.size() + 1);
    const auto add = [&](const Values& values, io::TensorRole role) {
      const std::vector<double> wide(values.begin(), values.end());
      kept.emplace_back(values.size() * 2);
      tensor::encode(tensor::DType::f16, wide.data(), wide.size(), kept.back().data());
      io::AscendTensor tensor;
      tensor.role = role;
      tensor.desc = plain_desc({values.size()});
      tensor.desc.dtype = tensor::DType::f16;
      tensor.bytes = kept.back();
      content.tensors.push_back(tensor);
    };
    for (const Values& input : inputs) {
      add(input, io::TensorRole::input);
    }
    add(output, io::TensorRole::output);
    ASSERT_TRUE(io::write_ascend_dump(
        folder_.sub("target") + "/" + type + "." + name + ".1.1.1700000000000000", content));
  }

  verdict::RunResult compare(const Chain& target) {
    write_op("Add", "add", {target.x, target.c}, target.add);
    write_op("Relu", "relu", {target.add}, target.relu);
    write_op("Mul", "mul", {target.relu, target.relu}, target.mul);
    CompareOptions options;
    options.graphs = {graph_};
    auto result = compare_dumps(folder_.sub("target"), folder_.sub("golden"), options);
    EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
    return result ? std::move(*result) : verdict::RunResult{};
  }

  static Label label_of(const verdict::RunResult& result, const std::string& name) {
    for (const verdict::TensorResult& row : result.tensors) {
      if (row.operator_name == name && row.role == "output" && row.judgement) {
        return row.judgement->label;
      }
    }
    return Label::unjudged;
  }

  TestFolder folder_;
  std::string graph_;
};

TEST_F(JudgeNetwork, TheTargetsOwnGraphJudgesACleanRun) {
  const verdict::RunResult result = compare(run(tensor::DType::f16));
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::pass) << result.verdict->sentence;
  for (const char* name : {"add", "relu", "mul"}) {
    EXPECT_EQ(label_of(result, name), Label::healthy) << name;
  }
}

TEST_F(JudgeNetwork, TheOperatorThatAddsTheErrorIsTheCulprit) {
  const verdict::RunResult result =
      compare(run(tensor::DType::f16, nullptr, [](Chain& chain) { chain.relu[9] += 0.5F; }));
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  EXPECT_EQ(label_of(result, "relu"), Label::culprit);
  EXPECT_NE(label_of(result, "mul"), Label::culprit);
  EXPECT_EQ(result.failed(), 1U);  // what mul read is a copy of what relu made
}

TEST_F(JudgeNetwork, AnOperatorWithAConstantIsReplayedWithTheDumpedOne) {
  const verdict::RunResult result =
      compare(run(tensor::DType::f16, [](Chain& chain) { chain.add[20] *= 1.5F; }));
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(label_of(result, "add"), Label::culprit);
  EXPECT_NE(label_of(result, "relu"), Label::culprit);
}

TEST(AtcProblem, CastsWithoutAGoldenAreLookedThrough) {
  const std::string text = chain().text();
  auto graph = graph::parse_atc_json(as_bytes(text), "g.json", {.attributes = true});
  ASSERT_TRUE(graph) << graph.error().to_string();
  const AtcLookup lookup{
      [](const std::string& name, std::uint32_t) { return name != "trans_cast"; },
      [](const std::string&, std::uint32_t) -> Result<tensor::View> {
        return Error{ErrorCode::not_found, "none"};
      }};
  const GraphProblem problem = atc_problem(std::move(*graph), lookup);
  ASSERT_EQ(problem.problem.operators.size(), 3U);
  const verdict::ProblemOperator& add = problem.problem.operators[0];
  EXPECT_EQ(problem.problem.values[add.inputs[0]].name, "x:0");
  EXPECT_EQ(problem.problem.values[add.inputs[0]].role, verdict::ProblemValue::Role::network_input);
  EXPECT_EQ(problem.problem.values[add.inputs[1]].role, verdict::ProblemValue::Role::parameter);
  EXPECT_TRUE(problem.problem.values[problem.problem.operators[2].outputs[0]].network_output);
}

/// Dumps that hold every tensor of the graph, of which no value can be read.
AtcLookup everything_without_values() {
  return {[](const std::string&, std::uint32_t) { return true; },
          [](const std::string&, std::uint32_t) -> Result<tensor::View> {
            return Error{ErrorCode::not_found, "none"};
          }};
}

TEST(AtcProblem, OfOperatorsWithOneNameTheFirstCounts) {
  GraphJson graph;
  graph.plain("add", {}).op("add", "Relu", {}, "\"add\"", "add");
  const std::string text = graph.text();
  auto read = graph::parse_atc_json(as_bytes(text), "g.json", {.attributes = true});
  ASSERT_TRUE(read);
  const GraphProblem problem = atc_problem(std::move(*read), everything_without_values());
  ASSERT_EQ(problem.problem.operators.size(), 1U);
  EXPECT_EQ(problem.problem.operators[0].op->type, "Add");
  EXPECT_EQ(problem.notes.size(), 1U);
}

TEST(AtcProblem, OptionalInputsThatNothingFeedsAreAbsent) {
  GraphJson graph;
  graph.plain("q", {}).plain("k", {}).plain("attend", {"q:0", "", "k:0", ""});
  const std::string text = graph.text();
  auto read = graph::parse_atc_json(as_bytes(text), "g.json", {.attributes = true});
  ASSERT_TRUE(read);
  const GraphProblem problem = atc_problem(std::move(*read), everything_without_values());
  ASSERT_EQ(problem.problem.operators.size(), 3U);
  const std::vector<verdict::ValueId>& inputs = problem.problem.operators[2].inputs;
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_EQ(problem.problem.values[inputs[0]].name, "q:0");
  EXPECT_EQ(inputs[1], verdict::kAbsent);
  EXPECT_EQ(problem.problem.values[inputs[2]].name, "k:0");
}

TEST(AtcProblem, CastsInACircleEndTheSearch) {
  GraphJson circle;
  circle.op("a", "Cast", {"b:0"}, "", "").op("b", "Cast", {"a:0"}, "", "").plain("add", {"a:0"});
  const std::string text = circle.text();
  auto graph = graph::parse_atc_json(as_bytes(text), "g.json", {.attributes = true});
  ASSERT_TRUE(graph);
  const AtcLookup lookup{[](const std::string& name, std::uint32_t) { return name == "add"; },
                         [](const std::string&, std::uint32_t) -> Result<tensor::View> {
                           return Error{ErrorCode::not_found, "none"};
                         }};
  const GraphProblem problem = atc_problem(std::move(*graph), lookup);
  ASSERT_EQ(problem.problem.operators.size(), 1U);
  EXPECT_EQ(problem.problem.operators[0].inputs[0], verdict::kAbsent);
}

}  // namespace
}  // namespace opdrift::pipeline
