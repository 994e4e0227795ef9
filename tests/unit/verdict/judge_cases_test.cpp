#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

namespace opdrift::verdict::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using N = MemoryNetwork;

Array ramp(std::uint64_t count, double first, double step) {
  Array array{{count}, std::vector<double>(count), DType::f32};
  for (std::size_t i = 0; i < count; ++i) {
    array.values[i] = first + step * static_cast<double>(i);
  }
  return array;
}

// The target dumped the weights it used: not the operator is to blame for them.
TEST(Judge, OtherParametersAreBlamedThemselves) {
  N net;
  const ValueId x = net.input("x", N::noise({8, 16}, 1));
  const ValueId w = net.parameter("w", N::noise({16, 8}, 2));
  const ValueId y = net.op("dense", "MatMul", {x, w});
  net.run({DType::f32}, {DType::f16});
  Array damaged = N::noise({16, 8}, 2);
  damaged.values[5] *= 1.5;
  Array product{{8, 8}, std::vector<double>(64, 0.0), DType::f16};
  const Array inputs = net.stored(RunSide::target, x);
  for (auto& value : damaged.values) {
    value = replay::round_to(value, DType::f16);
  }
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t k = 0; k < 16; ++k) {
      product.values[i] += inputs.values[i / 8 * 16 + k] * damaged.values[k * 8 + i % 8];
    }
  }
  net.store(RunSide::target, y, product, DType::f16);
  EXPECT_THAT(net.with(net.judge(), Label::culprit), ElementsAre("dense"));

  net.store(RunSide::target, w, damaged, DType::f16);
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.with(run, Label::culprit), ElementsAre("w"));
  EXPECT_THAT(net.of(run, "w").sentence,
              HasSubstr("another parameter than the golden (read by MatMul \"dense\"); worst"));
  EXPECT_EQ(run.run.outcome, Outcome::fail);
  EXPECT_THAT(net.first(run), ElementsAre("w"));

  // Stored narrower, and nothing else.
  net.run({DType::f32}, {DType::f16});
  net.store(RunSide::target, w, N::noise({16, 8}, 2), DType::f16);
  EXPECT_THAT(net.with(net.judge(), Label::healthy), ElementsAre("x", "w", "dense"));
}

// Other inputs explain what follows from them, and no fault behind them.
TEST(Judge, AFaultIsNamedEvenWhereTheInputsDiffer) {
  N net;
  const ValueId x = net.input("x", N::noise({64}, 1));
  const ValueId y = net.op("relu", "Relu", {x});
  net.op("twice", "Add", {y, y});
  net.run({DType::f32}, {DType::f16}, {{"twice", [](Array& array) { array.values[7] += 3.0; }}});
  net.store(RunSide::golden, x, N::noise({64}, 2), DType::f32);
  Array golden = N::noise({64}, 2);
  for (double& value : golden.values) {
    value = std::max(value, 0.0);
  }
  net.store(RunSide::golden, y, golden, DType::f32);
  for (double& value : golden.values) {
    value *= 2.0;
  }
  net.store(RunSide::golden, net.id("twice"), golden, DType::f32);
  const JudgedRun run = net.judge();
  EXPECT_TRUE(run.run.inputs_differ);
  EXPECT_EQ(run.run.outcome, Outcome::fail);
  EXPECT_THAT(net.first(run), ElementsAre("twice"));
  EXPECT_THAT(run.run.sentence, HasSubstr("first divergence at \"twice\""));
}

TEST(Judge, WhatFollowsFromAnInfiniteParameterIsItsVictim) {
  N net;
  const ValueId x = net.input("x", N::noise({64}, 1, 1000.0));
  const ValueId c = net.parameter("c", replay::scalar_array(1e5));
  const ValueId y = net.op("quotient", "Div", {x, c});
  net.run({DType::f32}, {DType::f16});
  net.store(RunSide::target, c, replay::scalar_array(HUGE_VAL), DType::f16);
  net.store(RunSide::target, y, Array{{64}, std::vector<double>(64, 0.0), DType::f16}, DType::f16);
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.with(run, Label::culprit), ElementsAre("c"));
  EXPECT_THAT(net.with(run, Label::victim), ElementsAre("quotient"));
}

// 1.23e-7 is two steps of float16's subnormals and comes out 3 % off: all of it rounding, so what
// follows from it is no drift.
TEST(Judge, ConstantsBelowTheNormalNumbersCauseNoDrift) {
  N net;
  const ValueId x = net.input("x", N::noise({64}, 1));
  const ValueId tiny = net.parameter("tiny", replay::scalar_array(1.23e-7));
  const ValueId large = net.parameter("large", replay::scalar_array(1e6));
  const ValueId y = net.op("scaled", "Mul", {x, tiny});
  net.op("back", "Mul", {y, large});
  net.run({DType::f32}, {DType::f32});
  const double rounded = replay::round_to(1.23e-7, DType::f16);
  net.store(RunSide::target, tiny, replay::scalar_array(rounded), DType::f16);
  const Array inputs = net.stored(RunSide::target, x);
  Array product = inputs;
  for (double& value : product.values) {
    value = replay::round_to(value * rounded, DType::f32);
  }
  net.store(RunSide::target, y, product, DType::f32);
  for (double& value : product.values) {
    value = replay::round_to(value * 1e6, DType::f32);
  }
  net.store(RunSide::target, net.id("back"), product, DType::f32);
  const JudgedRun run = net.judge();
  EXPECT_EQ(run.run.outcome, Outcome::pass);
  EXPECT_THAT(net.with(run, Label::healthy), ElementsAre("x", "tiny", "scaled", "back"));
}

TEST(Judge, AMaskBeyondTheRangeIsSaidToBeOne) {
  for (const double stored : {-HUGE_VAL, -65504.0}) {
    N net;
    const ValueId x = net.input("x", N::noise({4}, 1));
    const ValueId mask = net.parameter("mask", Array{{4}, {0.0, -3.4e38, 0.0, 0.0}, DType::f32});
    net.op("masked", "Add", {x, mask});
    net.run({DType::f32}, {DType::f16});
    net.store(RunSide::target, mask, Array{{4}, {0.0, stored, 0.0, 0.0}, DType::f16}, DType::f16);
    const Judgement judged = net.of(net.judge(), "mask");
    EXPECT_EQ(judged.label, Label::culprit);
    EXPECT_EQ(judged.cause, std::isinf(stored) ? Cause::overflow : Cause::saturated);
  }
}

// 300 * 300 = 90000 is beyond fp16.
TEST(Classes, OverflowIsBlamedWhereItArisesAndInheritedAfter) {
  MemoryNetwork net;
  const ValueId x = net.input("x", ramp(8, 240, 10));
  const ValueId y = net.op("square", "Mul", {x, x});
  const ValueId z = net.op("half", "Mul", {y, net.parameter("c", replay::scalar_array(0.5))});
  net.problem.values[z].network_output = true;
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.first(run), ElementsAre("square"));
  EXPECT_EQ(net.of(run, "square").cause, Cause::overflow);
  EXPECT_THAT(net.of(run, "square").sentence, HasSubstr("target inf"));
  EXPECT_EQ(net.of(run, "half").label, Label::victim);
  EXPECT_EQ(net.of(run, "half").cause, Cause::inherited_class);
}

TEST(Classes, SaturationIsBlamed) {
  MemoryNetwork net;
  const ValueId x = net.input("x", ramp(8, 200, 20));
  net.op("triple", "Mul", {x, net.parameter("c", replay::scalar_array(3.0))});
  net.run(stored_as(DType::f32), stored_as(DType::e4m3fn), {{"triple", [](Array& y) {
                                                               for (double& value : y.values) {
                                                                 value = std::min(value, 448.0);
                                                               }
                                                             }}});
  const JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "triple").cause, Cause::saturated);
}

TEST(Classes, AGoldenOverflowIsSaid) {
  MemoryNetwork net;
  const ValueId x = net.input("x", ramp(8, 240, 10));
  net.op("square", "Mul", {x, x});
  net.run(stored_as(DType::f16), stored_as(DType::f32));
  const JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "square").label, Label::culprit);
  EXPECT_EQ(net.of(run, "square").cause, Cause::golden_overflow);
}

TEST(Classes, NanOnBothSidesAgreesAndIsReported) {
  MemoryNetwork net;
  Array x = ramp(64, -1, 0.1);
  x.values[3] = std::nan("");
  net.op("relu", "Relu", {net.input("x", x)});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  const JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "relu").label, Label::healthy);
  EXPECT_THAT(net.of(run, "relu").sentence, HasSubstr("1 element NaN or infinite on both sides"));
}

TEST(Integers, DifferingShapesAreBlamed) {
  MemoryNetwork net;
  const ValueId x = net.input("x", ramp(64, 0, 1));
  const ValueId y = net.op("relu", "Relu", {x});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.store(RunSide::target, y, ramp(60, 0, 1), DType::f16);
  const JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "relu").cause, Cause::shape);
  EXPECT_EQ(net.of(run, "relu").sentence, "expected 64 elements, found 60");
}

// Two scores that fp16 cannot tell apart: either index is right.
TEST(Integers, AnIndexOfAnEqualValueIsATie) {
  MemoryNetwork net;
  const ValueId x = net.input("x", Array{{1, 4}, {0.1, 0.50000001, 0.5, 0.2}, DType::f32});
  const ValueId best = net.op("best", "ArgMax", {x}, {{"axis", N::ints({1})}});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.store(RunSide::target, best, Array{{1, 1}, {2}, DType::i64}, DType::i64);
  JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "best").label, Label::healthy);
  EXPECT_EQ(net.of(run, "best").cause, Cause::tie);
  net.store(RunSide::target, best, Array{{1, 1}, {3}, DType::i64}, DType::i64);
  run = net.judge();
  EXPECT_EQ(net.of(run, "best").label, Label::culprit);
  EXPECT_EQ(net.of(run, "best").cause, Cause::different);
}

TEST(Integers, ComparisonsFollowTheirInputsElseAreBlamed) {
  MemoryNetwork net;
  const ValueId x = net.input("x", N::noise({1000}, 3, 1e-3));
  const ValueId limit = net.parameter("limit", replay::scalar_array(0.00012345));
  const ValueId y = net.op("above", "Greater", {x, limit});
  net.run(stored_as(DType::f32), stored_as(DType::bf16));
  EXPECT_THAT(net.with(net.judge(), Label::culprit), IsEmpty());
  Array flipped = net.stored(RunSide::target, y);
  flipped.values[7] = 1.0 - flipped.values[7];
  net.store(RunSide::target, y, flipped, DType::boolean);
  EXPECT_THAT(net.first(net.judge()), ElementsAre("above"));
}

// 0.1 is 0.0999756 in half precision: code 100.49 may become 101, 100.2 may not.
TEST(Quantised, AScaleStoredNarrowMovesTheBorder) {
  MemoryNetwork net;
  const ValueId x = net.input("x", Array{{3}, {10.046875, 10.0234375, -0.5}, DType::f32});
  const ValueId scale = net.parameter("scale", replay::scalar_array(0.1));
  const ValueId zero = net.parameter("zero", replay::scalar_array(0, DType::i8));
  const ValueId y = net.op("codes", "QuantizeLinear", {x, scale, zero});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.store(RunSide::target, y, Array{{3}, {101, 100, -5}, DType::i8}, DType::i8);
  EXPECT_THAT(net.with(net.judge(), Label::culprit), IsEmpty());
  net.store(RunSide::target, y, Array{{3}, {100, 101, -5}, DType::i8}, DType::i8);
  EXPECT_THAT(net.with(net.judge(), Label::culprit), ElementsAre("codes"));
}

// Codes one apart are right next to a rounding border only: x / scale = 10.4999 against 10.2.
TEST(Quantised, OneCodeApartOnlyNextToARoundingBorder) {
  MemoryNetwork net;
  const ValueId x = net.input("x", Array{{3}, {1.0499999, 1.02, -0.5}, DType::f32});
  const ValueId scale = net.parameter("scale", replay::scalar_array(0.1));
  const ValueId zero = net.parameter("zero", replay::scalar_array(0, DType::i8));
  const ValueId y = net.op("codes", "QuantizeLinear", {x, scale, zero});
  net.run(stored_as(DType::f32), stored_as(DType::f32));
  net.store(RunSide::target, y, Array{{3}, {11, 10, -5}, DType::i8}, DType::i8);
  EXPECT_EQ(net.of(net.judge(), "codes").label, Label::healthy);
  net.store(RunSide::target, y, Array{{3}, {10, 11, -5}, DType::i8}, DType::i8);
  const JudgedRun run = net.judge();
  EXPECT_EQ(net.of(run, "codes").label, Label::culprit);
  EXPECT_EQ(net.of(run, "codes").worst, 1U);
}

TEST(Edge, ZerosConstantsAndSingleElementsAreHealthy) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::e4m3fn}) {
    MemoryNetwork net;
    const ValueId zeros = net.input("zeros", ramp(50, 0, 0));
    const ValueId constant = net.input("constant", ramp(50, 0.1, 0));
    const ValueId one = net.input("one", Array{{}, {0.3}, DType::f32});
    const ValueId sum = net.op("sum", "Add", {zeros, constant});
    const ValueId product = net.op("product", "Mul", {zeros, constant});
    const ValueId last = net.op("last", "Exp", {one});
    net.op("all", "Add", {net.op("both", "Add", {sum, product}), last});
    net.op("gone", "Sub", {constant, constant});
    net.run(stored_as(DType::f32), stored_as(dtype));
    const JudgedRun run = net.judge();
    EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
    EXPECT_THAT(net.with(run, Label::watch), IsEmpty());
    EXPECT_EQ(run.run.outcome, Outcome::pass);
  }
}

// A row that is nearly constant: its difference from the mean is all rounding.
TEST(Edge, CancellationIsNotBlamed) {
  MemoryNetwork net;
  Array x = N::noise({16, 64}, 9, 1e-4);
  for (double& value : x.values) {
    value += 100.0;
  }
  const ValueId in = net.input("x", x);
  const ValueId mean = net.op("mean", "ReduceMean", {in}, {{"axes", N::ints({1})}});
  net.op("centred", "Sub", {in, mean});
  for (const DType dtype : {DType::f32, DType::f16}) {
    net.run(stored_as(DType::f32), stored_as(dtype));
    EXPECT_THAT(net.with(net.judge(), Label::culprit), IsEmpty());
  }
}

TEST(Edge, InputsThatDifferMakeTheRunInconclusive) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.store(RunSide::target, net.id("image"), N::noise({1, 3, 20, 20}, 99), DType::f16);
  const JudgedRun run = net.judge();
  // conv1 is judged on the inputs it is said to have had: it does not fit them.
  EXPECT_NE(run.run.outcome, Outcome::pass);
  EXPECT_EQ(net.of(run, "image").label, Label::watch);
}

TEST(Edge, TheSameRunTwiceIsEqual) {
  MemoryNetwork net;
  build_text_network(net);
  net.run(stored_as(DType::f16), stored_as(DType::f16));
  const JudgedRun run = net.judge();
  for (const auto& judgement : run.values) {
    if (judgement) {
      EXPECT_EQ(judgement->label, Label::healthy);
      EXPECT_EQ(judgement->tier, Tier::exact);
    }
  }
}

TEST(Edge, ACancelledRunSaysSo) {
  MemoryNetwork net;
  build_text_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  CancelFlag cancel;
  cancel.cancel();
  JudgeOptions options;
  options.cancel = &cancel;
  const Result<JudgedRun> run = judge(net.problem, net, options);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::cancelled);
}

TEST(Edge, TooLittleMemoryIsSaid) {
  MemoryNetwork net;
  build_text_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  JudgeOptions options;
  options.memory_budget = 4096;
  const JudgedRun run = net.judge(options);
  EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
  EXPECT_EQ(net.of(run, "up").tier, Tier::shape);
  EXPECT_THAT(net.of(run, "up").sentence, HasSubstr("memory budget"));
}

TEST(Edge, AnEmptyProblemIsInconclusive) {
  MemoryNetwork net;
  const JudgedRun run = net.judge();
  EXPECT_EQ(run.run.outcome, Outcome::inconclusive);
}

// Ids that point nowhere, twice made values, operators without outputs: nothing may crash.
TEST(Edge, BrokenProblemsAreSurvived) {
  MemoryNetwork net;
  const ValueId x = net.input("x", ramp(10, 0, 1));
  net.op("a", "Relu", {x});
  net.op("b", "Add", {x, x});
  net.op("c", "Relu", {x});
  net.run(stored_as(DType::f32), stored_as(DType::f16));
  net.problem.operators[0].inputs = {x, 1234, kAbsent};
  net.problem.operators[0].outputs.push_back(77777);
  net.problem.operators[1].inputs = {x};
  net.problem.operators[1].outputs = net.problem.operators[0].outputs;
  net.problem.operators[2].kind = nullptr;
  net.problem.operators[2].outputs.clear();
  const JudgedRun run = net.judge();
  EXPECT_EQ(run.values.size(), net.problem.values.size());
}

bool same_number(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

TEST(Threads, TheJudgementDoesNotDependOnTheirNumber) {
  MemoryNetwork net;
  build_text_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::bf16),
          {{"up", [](Array& y) { y.values[100] += 1.0; }}});
  net.hide(net.id("gelu"));
  JudgeOptions options;
  options.jobs = 1;
  const JudgedRun one = net.judge(options);
  options.jobs = 4;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const JudgedRun many = net.judge(options);
    ASSERT_EQ(one.values.size(), many.values.size());
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      ASSERT_EQ(one.values[i].has_value(), many.values[i].has_value());
      if (one.values[i]) {
        EXPECT_EQ(one.values[i]->sentence, many.values[i]->sentence);
        EXPECT_TRUE(same_number(one.values[i]->q_own, many.values[i]->q_own));
        EXPECT_TRUE(same_number(one.values[i]->z, many.values[i]->z));
        EXPECT_TRUE(same_number(one.values[i]->q_cum, many.values[i]->q_cum));
      }
    }
  }
}

// Noise between runs of the golden itself widens the budget.
TEST(Goldens, TheirSpreadIsAddedToTheBudget) {
  MemoryNetwork net;
  MemoryNetwork again;
  for (MemoryNetwork* own : {&net, &again}) {
    const ValueId x = own->input("x", N::noise({500}, 1));
    own->op("noisy", "Relu", {x});
  }
  const auto add_noise = [](std::uint64_t seed) {
    return [seed](Array& y) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        y.values[i] += 0.01 * replay::normal_noise(seed, i);
      }
    };
  };
  net.run(stored_as(DType::f32), stored_as(DType::f32), {{"noisy", add_noise(5)}});
  EXPECT_EQ(net.of(net.judge(), "noisy").label, Label::culprit);
  again.run(stored_as(DType::f32), stored_as(DType::f32), {{"noisy", add_noise(6)}});
  again.store(RunSide::golden, again.id("noisy"), again.stored(RunSide::target, again.id("noisy")),
              DType::f32);
  JudgeOptions options;
  options.more_goldens = {&again};
  EXPECT_EQ(net.of(net.judge(options), "noisy").label, Label::healthy);
}

}  // namespace
}  // namespace opdrift::verdict::test
