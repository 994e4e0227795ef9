#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

namespace opdrift::verdict::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using N = MemoryNetwork;

void hide_all(MemoryNetwork& net, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    net.hide(net.id(name));
  }
}

TEST(Missing, CleanRunsWithHalfOfTheTensorsHiddenBlameNobody) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    MemoryNetwork net;
    build_text_network(net);
    net.run(stored_as(DType::f32), stored_as(dtype));
    hide_all(net, {"norm1", "k", "kt", "scaled", "mixed", "norm2", "gelu"});
    const JudgedRun run = net.judge();
    EXPECT_THAT(net.with(run, Label::culprit), IsEmpty()) << tensor::name_of(dtype);
    EXPECT_THAT(net.with(run, Label::unjudged), IsEmpty());
    EXPECT_FALSE(run.values[net.id("gelu")].has_value());
    EXPECT_TRUE(net.of(run, "q").inputs_replayed);
    EXPECT_THAT(net.of(run, "q").group, ElementsAre("norm1", "q"));
    EXPECT_THAT(net.of(run, "attention").group, ElementsAre("scaled", "attention"));
  }
}

TEST(Missing, AFaultInAHiddenOperatorIsBlamedOnItsGroup) {
  MemoryNetwork net;
  build_text_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16), {{"gelu", [](Array& y) {
                                                            for (double& value : y.values) {
                                                              value *= 1.05;
                                                            }
                                                          }}});
  hide_all(net, {"up", "gelu"});
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.first(run), ElementsAre("down"));
  EXPECT_THAT(net.of(run, "down").group, ElementsAre("up", "gelu", "down"));
  EXPECT_THAT(net.of(run, "down").sentence, HasSubstr("judged as one with up, gelu"));
}

// Peaks of a hidden map: values that one storage type makes equal differ in what stands in for
// them.
TEST(Missing, ComparisonsOfHiddenValuesAreBlamedOnlyFarFromATie) {
  MemoryNetwork net;
  const ValueId x = net.input("x", N::noise({1, 1, 40, 40}, 5, 3.0));
  const ValueId score = net.op("score", "Sigmoid", {x});
  const ValueId peak = net.op("peak", "MaxPool", {score},
                              {{"kernel_shape", N::ints({3, 3})}, {"pads", N::ints({1, 1, 1, 1})}});
  const ValueId kept = net.op("kept", "Equal", {score, peak});
  net.run(stored_as(DType::f32), stored_as(DType::bf16));
  net.hide(score);
  EXPECT_THAT(net.with(net.judge(), Label::culprit), IsEmpty());
  Array flipped = net.stored(RunSide::target, kept);
  for (double& value : flipped.values) {
    value = 1.0 - value;
  }
  net.store(RunSide::target, kept, flipped, DType::boolean);
  EXPECT_THAT(net.first(net.judge()), ElementsAre("kept"));
}

TEST(Missing, TensorsThatTheGoldenLacksAreReplayedToo) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.hide(net.id("relu1"), RunSide::golden);
  net.hide(net.id("gate"), RunSide::golden);
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
  EXPECT_TRUE(net.of(run, "conv2").inputs_replayed);
}

TEST(Missing, OnlyTheEndsOfANetworkAreEnough) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  for (ValueId value = 0; value < net.problem.values.size(); ++value) {
    if (net.problem.values[value].role == ProblemValue::Role::computed &&
        !net.problem.values[value].network_output) {
      net.hide(value);
    }
  }
  const JudgedRun run = net.judge();
  EXPECT_EQ(run.run.outcome, Outcome::pass) << run.run.sentence;
  EXPECT_EQ(net.of(run, "softmax").group.size(), 11U);
}

TEST(Missing, AnOutputOfTheNetworkOnOneSideOnlyFails) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.hide(net.id("softmax"));
  const JudgedRun run = net.judge();
  EXPECT_EQ(run.run.outcome, Outcome::fail);
  EXPECT_THAT(run.run.sentence, HasSubstr("\"softmax\""));
}

// Without weights the operator cannot be replayed; a local fault still shows in the shape.
TEST(Shape, MissingParametersLeaveTheShape) {
  for (const bool faulty : {false, true}) {
    MemoryNetwork net;
    build_picture_network(net);
    const auto fault = [](Array& y) { y.values[700] += 5.0; };
    net.run(
        stored_as(DType::f32), stored_as(DType::f16),
        faulty ? std::map<std::string, Fault>{{"conv2", fault}} : std::map<std::string, Fault>{});
    net.hide(net.id("w2"), RunSide::golden);
    const JudgedRun run = net.judge();
    const Judgement& conv = net.of(run, "conv2");
    EXPECT_EQ(conv.tier, Tier::shape);
    EXPECT_EQ(conv.label == Label::culprit, faulty) << conv.sentence;
    EXPECT_THAT(conv.sentence, HasSubstr("w2"));
    EXPECT_THAT(net.first(run).size(), faulty ? 1U : 0U);
    if (faulty) {
      EXPECT_EQ(conv.worst, 700U);
    }
  }
}

TEST(Shape, AnUnknownOperatorIsNotBlamedForItsInputs) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16),
          {{"conv2", [](Array& y) { y.values[700] += 5.0; }}});
  for (ProblemOperator& op : net.problem.operators) {
    if (op.op->name == "gated") {
      op.kind = nullptr;
    }
  }
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.first(run), ElementsAre("conv2"));
  EXPECT_NE(net.of(run, "gated").label, Label::culprit);
}

// Read with the wrong epsilon the model strays from the golden; that is said, not blamed.
TEST(SelfCheck, AnAttributeReadWronglyIsNotModelled) {
  MemoryNetwork net;
  const ValueId x = net.input("x", N::noise({64, 16}, 1, 0.05));
  const ValueId one = net.parameter("one", Array{{16}, std::vector<double>(16, 1.0), DType::f32});
  net.op("norm", "LayerNormalization", {x, one}, {{"epsilon", N::real(1e-5)}});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  graph::Operator wrong = *net.problem.operators[0].op;
  wrong.attributes["epsilon"] = N::real(1e-2);
  net.problem.operators[0].op = &wrong;
  const JudgedRun run = net.judge();
  const Judgement& norm = net.of(run, "norm");
  EXPECT_NE(norm.label, Label::culprit);
  EXPECT_GT(norm.self_check, 10.0);
  EXPECT_EQ(norm.tier, Tier::shape);
  EXPECT_THAT(norm.sentence, HasSubstr("not modelled"));
}

}  // namespace
}  // namespace opdrift::verdict::test
