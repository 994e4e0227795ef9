#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "unit/io/onnx_testing.hpp"
#include "unit/metrics/oracle.hpp"
#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::pipeline {
namespace {

namespace onnx = io::onnx;
using verdict::Label;
using verdict::Outcome;

constexpr std::size_t kWidth = 64;

/// x -> Add c -> Relu -> Mul by itself -> y over 64 elements.
onnx::Model chain(float factor = 1.0F) {
  onnx::Model model = io::testing::empty_model();
  std::vector<float> c;
  for (std::size_t i = 0; i < kWidth; ++i) {
    c.push_back(factor * 0.01F * static_cast<float>(i));
  }
  model.graph.inputs = {io::testing::floats("x", {{kWidth, ""}})};
  model.graph.initializers = {io::testing::constant("c", {kWidth}, c)};
  model.graph.nodes = {onnx::make_node("Add", "first", {"x", "c"}, {"s"}),
                       onnx::make_node("Relu", "层/激活", {"s"}, {"r"}),
                       onnx::make_node("Mul", "last", {"r", "r"}, {"y"})};
  model.graph.outputs = {io::testing::floats("y", {{kWidth, ""}})};
  return model;
}

using Values = std::map<std::string, std::vector<double>>;

/// The chain in one type: every value rounded where it is stored. `fault` changes stored values.
Values run_chain(tensor::DType dtype,
                 const std::function<void(Values&, const std::string&)>& fault) {
  Values run;
  const auto store = [&](const std::string& name, std::vector<double> values) {
    for (double& value : values) {
      value = replay::round_to(value, dtype);
    }
    run[name] = std::move(values);
    if (fault) {
      fault(run, name);
    }
  };
  std::vector<double> x;
  std::vector<double> s;
  std::vector<double> r;
  std::vector<double> y;
  for (std::size_t i = 0; i < kWidth; ++i) {
    x.push_back(std::sin(1.7 * static_cast<double>(i)));
  }
  store("x", x);
  for (std::size_t i = 0; i < kWidth; ++i) {
    const double c = replay::round_to(static_cast<double>(0.01F * static_cast<float>(i)), dtype);
    s.push_back(run["x"][i] + c);
  }
  store("first", s);
  for (const double value : run["first"]) {
    r.push_back(std::fmax(value, 0.0));
  }
  store("层/激活", r);
  for (const double value : run["层/激活"]) {
    y.push_back(value * value);
  }
  store("last", y);
  return run;
}

class JudgeCompare : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    ASSERT_TRUE(onnx::write_model(path("model.onnx"), chain()));
    write("golden", tensor::DType::f32, run_chain(tensor::DType::f32, nullptr));
  }

  void write(const std::string& folder, tensor::DType dtype, const Values& run,
             const std::string& without = "") {
    for (const auto& [name, values] : run) {
      if (name != without) {
        std::string file = name == "层/激活" ? "层_激活" : name;
        testing::write_npy_file(path(folder + "/" + file + ".0.1700000000000000.npy"), dtype,
                                {values.size()}, values);
      }
    }
  }

  verdict::RunResult compare(const std::string& target, CompareOptions options = {}) {
    if (options.graphs.empty()) {
      options.graphs = {path("model.onnx")};
    }
    auto result = compare_dumps(path(target), path("golden"), options);
    EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
    return result ? std::move(*result) : verdict::RunResult{};
  }

  static const verdict::TensorResult* row(const verdict::RunResult& result,
                                          const std::string& name) {
    for (const verdict::TensorResult& tensor : result.tensors) {
      if (tensor.operator_name == name) {
        return &tensor;
      }
    }
    return nullptr;
  }
};

TEST_F(JudgeCompare, ACleanNarrowRunPassesWithoutATolerance) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  const verdict::RunResult result = compare("half");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::pass) << result.verdict->sentence;
  EXPECT_EQ(result.failed(), 0U);
  for (const verdict::TensorResult& tensor : result.tensors) {
    ASSERT_TRUE(tensor.judgement) << tensor.operator_name;
    EXPECT_NE(tensor.judgement->label, Label::culprit) << tensor.judgement->sentence;
  }
}

TEST_F(JudgeCompare, TheOperatorThatAddsTheErrorIsNamedAndNotThoseBehind) {
  write("wrong", tensor::DType::f16,
        run_chain(tensor::DType::f16, [](Values& run, const auto& name) {
          if (name == "层/激活") {
            run[name][40] += 0.25;
          }
        }));
  const verdict::RunResult result = compare("wrong");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  ASSERT_EQ(result.verdict->first_divergence.size(), 1U);
  const verdict::TensorResult& culprit = result.tensors[result.verdict->first_divergence[0]];
  EXPECT_EQ(culprit.tensor_name.empty() ? culprit.operator_name : culprit.operator_name, "层_激活");
  EXPECT_EQ(culprit.judgement->label, Label::culprit);
  EXPECT_EQ(culprit.judgement->worst, 40U);
  EXPECT_TRUE(row(result, "last")->passed);
  EXPECT_EQ(row(result, "last")->judgement->label, Label::victim);
}

TEST_F(JudgeCompare, TheResultTellsWhoReadsWhomAndWhichRowsTheyMade) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  const verdict::RunResult result = compare("half");
  ASSERT_EQ(result.network.size(), 3U);
  EXPECT_EQ(result.network[0].name, "first");
  EXPECT_EQ(result.network[1].type, "Relu");
  EXPECT_TRUE(result.network[0].producers.empty());
  EXPECT_EQ(result.network[1].producers, std::vector<std::uint32_t>{0});
  EXPECT_EQ(result.network[2].producers, std::vector<std::uint32_t>{1}) << "read twice, told once";
  for (const verdict::NetworkOperator& op : result.network) {
    ASSERT_EQ(op.rows.size(), 1U) << op.name;
    EXPECT_EQ(result.tensors[op.rows[0]].role, "output");
  }
}

TEST_F(JudgeCompare, ATensorThatIsMissingIsJudgedWithWhatReadsIt) {
  write("fused", tensor::DType::f16,
        run_chain(tensor::DType::f16,
                  [](Values& run, const auto& name) {
                    if (name == "last") {
                      run[name][3] += 0.5;
                    }
                  }),
        "层/激活");
  const verdict::RunResult result = compare("fused");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  EXPECT_EQ(row(result, "last")->judgement->label, Label::culprit);
  EXPECT_TRUE(row(result, "last")->judgement->inputs_replayed);
}

// Of a large constant only pieces are looked at; a mask fills one that is small or large.
TEST_F(JudgeCompare, AConstantBeyondTheRangeOfTheTargetIsNotedWhateverItsSize) {
  for (const std::uint64_t rows : {1U, 100U, 4096U, 20000U}) {
    std::vector<float> mask(rows * kWidth, 0.0F);
    std::fill(mask.begin() + static_cast<std::ptrdiff_t>(mask.size() * 3 / 4), mask.end(), -1e9F);
    onnx::Model model = chain();
    model.graph.initializers.push_back(io::testing::constant("mask", {rows, kWidth}, mask));
    model.graph.nodes.push_back(onnx::make_node("Add", "masked", {"r", "mask"}, {"z"}));
    ASSERT_TRUE(onnx::write_model(path("masked.onnx"), model));
    write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
    CompareOptions options;
    options.graphs = {path("masked.onnx")};
    const verdict::RunResult result = compare("half", options);
    ASSERT_EQ(result.overflow.constants.size(), 1U) << rows;
    EXPECT_EQ(result.overflow.constants[0].name, "mask");
    EXPECT_FLOAT_EQ(static_cast<float>(result.overflow.constants[0].value), -1e9F) << rows;
  }
}

// Dumps of a part of the network are judged for that part.
TEST_F(JudgeCompare, AnOutputFailsTheRunWhereOneSideHasItAndNotWhereNeitherHas) {
  const Values half = run_chain(tensor::DType::f16, nullptr);
  write("half", tensor::DType::f16, half, "last");
  const verdict::RunResult one_side = compare("half");
  ASSERT_TRUE(one_side.verdict);
  EXPECT_EQ(one_side.verdict->outcome, Outcome::fail);
  EXPECT_EQ(one_side.verdict->missing_outputs, 1U);
  std::filesystem::remove(path("golden/last.0.1700000000000000.npy"));
  const verdict::RunResult neither = compare("half");
  ASSERT_TRUE(neither.verdict);
  EXPECT_EQ(neither.verdict->outcome, Outcome::pass) << neither.verdict->sentence;
  EXPECT_EQ(neither.verdict->missing_outputs, 0U);
}

TEST_F(JudgeCompare, OtherInputsMakeARunInconclusive) {
  write("other", tensor::DType::f16,
        run_chain(tensor::DType::f16, [](Values& run, const auto& name) {
          if (name == "x") {
            run[name][5] = 3.0;
          }
        }));
  const verdict::RunResult result = compare("other");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::inconclusive) << result.verdict->sentence;
}

TEST_F(JudgeCompare, WithoutAModelTheLimitsDecideAndThatIsSaid) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  const auto result = compare_dumps(path("half"), path("golden"), {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->verdict);
  ASSERT_FALSE(result->notes.empty());
  EXPECT_NE(result->notes.back().find("judged by limits"), std::string::npos);
}

TEST_F(JudgeCompare, AVerdictThatCannotBeHadIsRefused) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  CompareOptions options;
  options.decided_by = DecidedBy::verdict;
  EXPECT_FALSE(compare_dumps(path("half"), path("golden"), options));
  options.graphs = {path("nowhere.onnx")};
  EXPECT_FALSE(compare_dumps(path("half"), path("golden"), options));
}

TEST_F(JudgeCompare, LimitsThatWereAskedForDecideAlone) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  CompareOptions options;
  options.decided_by = DecidedBy::gates;
  options.gates = *verdict::parse_gates("rel_l2=1e-9");
  const verdict::RunResult result = compare("half", options);
  EXPECT_FALSE(result.verdict);
  EXPECT_GT(result.failed(), 0U);
}

TEST_F(JudgeCompare, ASelectionShowsItsOperatorsAndJudgesThemAlike) {
  write("wrong", tensor::DType::f16,
        run_chain(tensor::DType::f16, [](Values& run, const auto& name) {
          if (name == "last") {
            run[name][40] += 0.25;
          }
        }));
  CompareOptions options;
  options.only = "last";
  const verdict::RunResult result = compare("wrong", options);
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_EQ(result.tensors[0].judgement->label, Label::culprit);
  EXPECT_FALSE(result.tensors[0].judgement->inputs_replayed);
}

TEST_F(JudgeCompare, AnInterruptionWhileJudgingKeepsWhatWasMeasured) {
  write("half", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  CancelFlag cancel;
  CompareOptions options;
  options.cancel = &cancel;
  options.jobs = 1;
  options.progress = [&](std::uint64_t done, std::uint64_t, std::uint64_t) {
    if (done == 2) {
      cancel.cancel();
    }
  };
  const verdict::RunResult result = compare("half", options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.verdict);
  EXPECT_EQ(result.tensors.size(), 2U);
  EXPECT_EQ(result.ledger.size(), 8U);
}

TEST_F(JudgeCompare, RowsMeasuredWhileTheyAreJudgedHoldWhatMeasuringAloneFinds) {
  write("wrong", tensor::DType::f16,
        run_chain(tensor::DType::f16, [](Values& run, const auto& name) {
          if (name == "层/激活") {
            run[name][40] += 0.25;
          }
        }));
  CompareOptions limits;
  limits.decided_by = DecidedBy::gates;
  const verdict::RunResult judged = compare("wrong");
  const verdict::RunResult measured = compare("wrong", limits);
  ASSERT_EQ(judged.tensors.size(), measured.tensors.size());
  EXPECT_EQ(judged.bytes_read, measured.bytes_read);
  EXPECT_EQ(judged.ledger.size(), measured.ledger.size());
  for (std::size_t i = 0; i < judged.tensors.size(); ++i) {
    EXPECT_EQ(judged.tensors[i].operator_name, measured.tensors[i].operator_name);
    ASSERT_TRUE(judged.tensors[i].measurement && measured.tensors[i].measurement);
    metrics::testing::expect_identical(*judged.tensors[i].measurement,
                                       *measured.tensors[i].measurement);
  }
}

TEST_F(JudgeCompare, WeightsThatTheTargetHasOnPurposeAreGivenAndNobodyIsBlamed) {
  ASSERT_TRUE(onnx::write_model(path("tuned.onnx"), chain(2.0F)));
  write("tuned", tensor::DType::f16,
        run_chain(tensor::DType::f16, [](Values& run, const std::string& name) {
          for (std::size_t i = 0; name == "first" && i < kWidth; ++i) {
            const double c = static_cast<double>(0.02F * static_cast<float>(i));
            run["first"][i] = replay::round_to(run["x"][i] + c, tensor::DType::f16);
          }
        }));
  const auto without = compare("tuned");
  EXPECT_EQ(row(without, "first")->judgement->label, Label::culprit);
  CompareOptions options;
  options.target_weights = path("tuned.onnx");
  const auto with = compare("tuned", options);
  ASSERT_TRUE(with.verdict);
  EXPECT_EQ(with.verdict->outcome, Outcome::pass) << with.verdict->sentence;
  EXPECT_EQ(row(with, "first")->judgement->label, Label::healthy);
  ASSERT_FALSE(with.notes.empty());
  EXPECT_NE(with.notes.front().find("1 of 1 parameters are the target's own"), std::string::npos)
      << with.notes.front();
}

TEST_F(JudgeCompare, WeightsOfTheTargetThatWouldNotBeUsedAreRefused) {
  write("target", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  onnx::Model other = chain();
  other.graph.initializers = {io::testing::constant("c", {2}, std::vector<float>{1.0F, 2.0F})};
  ASSERT_TRUE(onnx::write_model(path("other.onnx"), other));
  const auto refusal = [&](CompareOptions options) {
    const auto result = compare_dumps(path("target"), path("golden"), options);
    return result ? std::string() : result.error().to_string();
  };
  CompareOptions options;
  options.target_weights = path("other.onnx");
  EXPECT_NE(refusal(options).find("need the golden's ONNX model"), std::string::npos);
  options.graphs = {path("model.onnx")};
  EXPECT_NE(refusal(options).find("names and shapes of the golden's, found none"),
            std::string::npos);
  options.decided_by = DecidedBy::gates;
  EXPECT_NE(refusal(options).find("limits do not look at them"), std::string::npos);
}

TEST_F(JudgeCompare, WeightsOfTheTargetThatCannotBeReadAreRefusedBeforeAnythingIsRead) {
  write("target", tensor::DType::f16, run_chain(tensor::DType::f16, nullptr));
  CompareOptions options;
  options.graphs = {path("model.onnx")};
  options.target_weights = path("absent.onnx");
  const auto result = compare_dumps(path("target"), path("golden"), options);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().to_string().find("absent.onnx"), std::string::npos);
}

TEST_F(JudgeCompare, ASecondModelIsRefusedBeforeAnythingIsRead) {
  CompareOptions options;
  options.graphs = {path("model.onnx"), path("model.onnx")};
  const auto result = compare_dumps(path("nowhere"), path("golden"), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
}

// Found through the manifest, which stands in the dump or in its steps.
TEST_F(JudgeCompare, AModelOfTheSameSizeWithOtherBytesIsNotTheGoldens) {
  std::filesystem::create_directories(path("golden/step2"));
  for (const char* manifest : {"golden/step2/manifest.json", "golden/manifest.json"}) {
    ASSERT_TRUE(io::write_file(path(manifest),
                               R"({"schema":"opdrift.dump","schema_version":1,"model":{"path":")" +
                                   path("model.onnx") + R"(","size_bytes":)" +
                                   std::to_string(std::filesystem::file_size(path("model.onnx"))) +
                                   R"(,"content_hash":"fnv1a64:0000000000000000"}})"));
    const auto model = golden_model("", path("golden"));
    ASSERT_TRUE(model);
    EXPECT_FALSE(model->model);
    EXPECT_NE(model->note.find("has changed"), std::string::npos) << model->note;
    std::filesystem::remove(path(manifest));
  }
}

/// The chain with a Reshape ("flat") and a Concat ("twice") of the first sum, and a Neg ("side") of
/// x.
onnx::Model chain_with_copies() {
  onnx::Model model = chain();
  model.graph.nodes.push_back(onnx::make_node("Flatten", "flat", {"s"}, {"f"}));
  model.graph.nodes.push_back(onnx::make_node("Concat", "twice", {"x", "f"}, {"t"}));
  model.graph.nodes.push_back(onnx::make_node("Neg", "side", {"x"}, {"n"}));
  return model;
}

/// Its run in float32 with `first` as the sum.
Values run_with_copies(std::vector<double> first) {
  Values run = run_chain(tensor::DType::f32, [&](Values& values, const std::string& name) {
    if (name == "first" && !first.empty()) {
      values[name] = first;
    }
  });
  run["flat"] = run["first"];
  run["twice"] = run["x"];
  run["twice"].insert(run["twice"].end(), run["first"].begin(), run["first"].end());
  for (const double value : run["x"]) {
    run["side"].push_back(-value);
  }
  return run;
}

std::string sentences(const verdict::TensorResult& row) {
  std::string text;
  for (const verdict::Explanation& explanation : row.explanations) {
    text += explanation.sentence + "\n";
  }
  return text;
}

// What a Reshape or a Concat holds of the culprit was copied; an output that has nothing to do with
// it can only be there by a mistake.
TEST_F(JudgeCompare, CopiesOfACulpritAreNoStaleBuffers) {
  ASSERT_TRUE(onnx::write_model(path("model.onnx"), chain_with_copies()));
  write("golden", tensor::DType::f32, run_with_copies({}));
  std::vector<double> noise;
  for (std::size_t i = 0; i < kWidth; ++i) {
    noise.push_back(std::cos(3.1 * static_cast<double>(i)));
  }
  write("noise", tensor::DType::f32, run_with_copies(noise));
  write("stale", tensor::DType::f32, run_with_copies(run_with_copies({})["side"]));
  const verdict::RunResult noisy = compare("noise");
  ASSERT_NE(row(noisy, "first"), nullptr);
  EXPECT_EQ(row(noisy, "first")->judgement->label, Label::culprit);
  EXPECT_EQ(sentences(*row(noisy, "first")).find("stale"), std::string::npos)
      << sentences(*row(noisy, "first"));
  const verdict::RunResult stale = compare("stale");
  EXPECT_NE(sentences(*row(stale, "first")).find("that of side (n): a stale"), std::string::npos)
      << sentences(*row(stale, "first"));
}

/// Steps of one network: every step has other inputs.
class JudgeSteps : public JudgeCompare {
 protected:
  static Values step_of(tensor::DType dtype, int step,
                        const std::function<void(Values&, const std::string&)>& fault = nullptr) {
    return run_chain(dtype, [&](Values& run, const std::string& name) {
      for (std::size_t i = 0; name == "x" && i < kWidth; ++i) {
        run[name][i] = replay::round_to(std::cos(0.3 * static_cast<double>(i) + step), dtype);
      }
      if (fault) {
        fault(run, name);
      }
    });
  }

  verdict::RunResult judged() {
    CompareOptions options;
    options.graphs = {path("model.onnx")};
    auto result = compare_dumps(path("target"), path("steps"), options);
    EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
    return result ? std::move(*result) : verdict::RunResult{};
  }
};

TEST_F(JudgeSteps, AStepThatIsMissingIsSaid) {
  for (const int step : {2, 9, 10}) {
    write("steps/step" + std::to_string(step), tensor::DType::f32,
          step_of(tensor::DType::f32, step));
    if (step != 9) {
      write("target/step" + std::to_string(step), tensor::DType::f16,
            step_of(tensor::DType::f16, step));
    }
  }
  write("target/step11", tensor::DType::f16, step_of(tensor::DType::f16, 11));
  const verdict::RunResult result = judged();
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::pass) << result.verdict->sentence;
  ASSERT_EQ(result.verdict->findings.size(), 1U);
  EXPECT_EQ(result.verdict->findings[0].sentence,
            "the target lacks golden steps step9; the target has steps of its own: step11");
}

// "step10" is behind "step9", whatever their letters say.
TEST_F(JudgeSteps, WhatTheStepBeforeLeftIsRecognised) {
  const Values before = step_of(tensor::DType::f16, 9);
  for (const int step : {9, 10}) {
    write("steps/step" + std::to_string(step), tensor::DType::f32,
          step_of(tensor::DType::f32, step));
  }
  write("target/step9", tensor::DType::f16, before);
  write("target/step10", tensor::DType::f16,
        step_of(tensor::DType::f16, 10, [&](Values& run, const std::string& name) {
          if (name == "first") {
            run[name] = before.at("first");
          }
        }));
  const verdict::RunResult result = judged();
  ASSERT_TRUE(result.verdict);
  ASSERT_EQ(result.verdict->first_divergence.size(), 1U) << result.verdict->sentence;
  const auto& culprit = result.tensors[result.verdict->first_divergence[0]];
  EXPECT_EQ(culprit.step, "step10");
  ASSERT_FALSE(culprit.explanations.empty());
  EXPECT_EQ(culprit.explanations[0].sentence.substr(0, 48),
            "every byte is that of first (s) in step9: a stal");
}

// The two runs got other inputs, and how they differ is said instead of blaming an operator.
TEST_F(JudgeCompare, InputsThatDifferAreExplained) {
  Values run = run_chain(tensor::DType::f32, [](Values& values, const std::string& name) {
    for (double& value : values[name]) {
      value = name == "x" ? replay::round_to(value / 255.0, tensor::DType::f32) : value;
    }
  });
  write("scaled", tensor::DType::f32, run);
  const verdict::RunResult result = compare("scaled");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->outcome, Outcome::inconclusive);
  const verdict::TensorResult* input = row(result, "x");
  ASSERT_NE(input, nullptr);
  ASSERT_FALSE(input->explanations.empty());
  EXPECT_EQ(input->explanations[0].kind, verdict::ExplanationKind::scaled)
      << input->explanations[0].sentence;
}

TEST(GraphProblem, OperatorsOnACycleAreLeftOutAndSaid) {
  onnx::Model model = chain();
  model.graph.nodes.push_back(onnx::make_node("Add", "loop_a", {"x", "b"}, {"a"}));
  model.graph.nodes.push_back(onnx::make_node("Relu", "loop_b", {"a"}, {"b"}));
  const GraphProblem problem = onnx_problem(model);
  EXPECT_EQ(problem.problem.operators.size(), 3U);
  ASSERT_EQ(problem.notes.size(), 1U);
  EXPECT_NE(problem.notes[0].find("cycle"), std::string::npos);
}

// Channels in blocks of eight are not what the ordinary kind of that name takes.
TEST(GraphProblem, LayoutsOfTheRuntimeHaveNoKind) {
  for (const char* domain : {"", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"}) {
    onnx::Model model = chain();
    model.graph.nodes[0].domain = domain;
    const GraphProblem problem = onnx_problem(model);
    ASSERT_EQ(problem.problem.operators.size(), 3U);
    const bool layout = std::string(domain).size() > std::string("com.microsoft").size();
    EXPECT_EQ(problem.problem.operators[0].kind == nullptr, layout) << domain;
  }
}

TEST(GraphProblem, OperatorsInAnyOrderAreSorted) {
  onnx::Model model = chain();
  std::swap(model.graph.nodes[0], model.graph.nodes[2]);
  const GraphProblem problem = onnx_problem(model);
  ASSERT_EQ(problem.problem.operators.size(), 3U);
  EXPECT_EQ(problem.problem.operators[0].op->name, "first");
  EXPECT_EQ(problem.problem.operators[2].op->name, "last");
}

TEST(GraphProblem, AValueMadeTwiceCountsOnce) {
  onnx::Model model = chain();
  model.graph.nodes.push_back(onnx::make_node("Neg", "again", {"x"}, {"r"}));
  const GraphProblem problem = onnx_problem(model);
  EXPECT_EQ(problem.problem.operators.size(), 3U);
  EXPECT_EQ(problem.notes.size(), 1U);
}

TEST(GraphProblem, ConstantNodesAreParametersWithTheirValue) {
  onnx::Model model = chain();
  onnx::Node node = onnx::make_node("Constant", "k", {}, {"two"});
  onnx::Attribute attribute;
  attribute.name = "value_floats";
  attribute.type = onnx::AttributeType::reals;
  attribute.reals = {2.0F, 4.0F};
  node.attributes.push_back(attribute);
  model.graph.nodes.push_back(node);
  const GraphProblem problem = onnx_problem(model);
  const auto value = problem.value_of.at("two");
  EXPECT_EQ(problem.problem.values[value].role, verdict::ProblemValue::Role::parameter);
  ASSERT_TRUE(problem.parameters[value]);
  EXPECT_EQ(problem.parameters[value]->shape(), tensor::Shape{2});
}

}  // namespace
}  // namespace opdrift::pipeline
