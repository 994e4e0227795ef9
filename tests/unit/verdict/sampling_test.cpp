#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

#include "opdrift/metrics/measure.hpp"
#include "opdrift/verdict/judge/reader.hpp"
#include "opdrift/verdict/judge/survey.hpp"

namespace opdrift::verdict::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using N = MemoryNetwork;

// Values hold more than 8192 elements, so that they are sampled; those whose rows are normalised
// have too few rows for it.
void build_large_network(MemoryNetwork& net) {
  const ValueId x = net.input("image", N::noise({2, 16, 24, 24}, 1));
  const ValueId w = net.parameter("w", N::noise({16, 16, 3, 3}, 2, 0.08));
  const ValueId b = net.parameter("b", N::noise({16}, 3, 0.1));
  const auto positive = [](std::uint64_t count, std::uint64_t seed) {
    Array array = N::noise({count}, seed, 0.2);
    for (double& value : array.values) {
      value = 1.0 + std::abs(value);
    }
    return array;
  };
  const ValueId scale = net.parameter("scale", positive(16, 4));
  const ValueId shift = net.parameter("shift", N::noise({16}, 5));
  const ValueId mean = net.parameter("mean", N::noise({16}, 6, 0.1));
  const ValueId deviation = net.parameter("deviation", positive(16, 7));
  const ValueId rows = net.parameter("rows", replay::vector_array({2, 16, 576}, DType::i64));
  const ValueId norm = net.parameter("norm_scale", positive(576, 8));
  const ValueId channel = net.parameter("channel", N::noise({16, 1, 1}, 9));
  const ValueId c = net.op("conv", "Conv", {x, w, b}, {{"pads", N::ints({1, 1, 1, 1})}});
  const ValueId n = net.op("batch_norm", "BatchNormalization", {c, scale, shift, mean, deviation});
  const ValueId r = net.op("relu", "Relu", {n});
  const ValueId m = net.op("scaled", "Mul", {r, channel});
  const ValueId a = net.op("sum", "Add", {m, x});
  const ValueId both = net.op("both", "Concat", {a, r}, {{"axis", N::ints({1})}});
  net.op("mean_of", "ReduceMean", {both}, {{"axes", N::ints({2, 3})}});
  const ValueId flat = net.op("flat", "Reshape", {a, rows});
  const ValueId layer = net.op("layer_norm", "LayerNormalization", {flat, norm});
  const ValueId soft = net.op("soft", "Softmax", {layer}, {{"axis", N::ints({-1})}});
  const ValueId turned = net.op("turned", "Transpose", {soft}, {{"perm", N::ints({0, 2, 1})}});
  const ValueId product = net.op("product", "MatMul", {turned, layer});
  net.problem.values[product].network_output = true;
}

TEST(Sampling, AgreesWithTheWholeReplay) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    MemoryNetwork net;
    build_large_network(net);
    net.run(stored_as(DType::f32), stored_as(dtype));
    const JudgedRun sampled = net.judge();
    JudgeOptions options;
    options.strongest = Tier::replay;
    const JudgedRun whole = net.judge(options);
    EXPECT_THAT(net.with(sampled, Label::culprit), IsEmpty());
    EXPECT_THAT(net.with(whole, Label::culprit), IsEmpty());
    for (const char* name :
         {"conv", "batch_norm", "relu", "scaled", "sum", "both", "flat", "turned", "product"}) {
      const Judgement& one = net.of(sampled, name);
      const Judgement& other = net.of(whole, name);
      EXPECT_EQ(one.tier, Tier::sampled) << name << ": " << one.sentence;
      EXPECT_EQ(other.tier, Tier::replay) << name;
      EXPECT_EQ(one.label, other.label) << name;
      EXPECT_NEAR(one.q_own, other.q_own, 0.12 + 0.1 * other.q_own) << name;
      EXPECT_NEAR(one.relative, other.relative, 0.02 * other.relative) << name;
      // A few rows of the softmax hold most of what its product may err by.
      EXPECT_NEAR(one.rho, other.rho, (name == std::string("product") ? 0.3 : 0.15) * other.rho)
          << name;
      EXPECT_NEAR(one.inherited, other.inherited, 0.5 * other.inherited) << name;
      EXPECT_LE(one.z, other.z * 1.001) << name;
    }
  }
}

TEST(Sampling, OneWrongElementIsFoundAndConfirmedWhereThereIsDoubt) {
  for (const char* name :
       {"conv", "batch_norm", "sum", "both", "flat", "layer_norm", "soft", "turned", "product"}) {
    MemoryNetwork net;
    build_large_network(net);
    net.run(stored_as(DType::f32), stored_as(DType::f16),
            {{name, [](Array& y) { y.values[4321] += 2.0; }}});
    const JudgedRun run = net.judge();
    EXPECT_THAT(net.first(run), ElementsAre(name));
    EXPECT_THAT(net.with(run, Label::culprit), ElementsAre(name));
    EXPECT_EQ(net.of(run, name).worst, 4321U) << name;
    const Judgement& own = net.of(run, name);
    // Whole rows of the normalising ones are more than half of so small a tensor.
    const bool rows = std::string(name) == "layer_norm" || std::string(name) == "soft";
    EXPECT_EQ(own.tier, own.z > 16.0 && !rows ? Tier::sampled : Tier::replay) << name;
  }
}

TEST(Sampling, WhatIsNotBeyondDoubtIsConfirmedByTheWholeReplay) {
  for (const char* name : {"conv", "sum", "both"}) {
    MemoryNetwork net;
    build_large_network(net);
    // A few parts in a thousand: some eight times what storing in half precision costs.
    net.run(stored_as(DType::f32), stored_as(DType::f16), {{name, [](Array& y) {
                                                              for (double& value : y.values) {
                                                                value *= 1.0025;
                                                              }
                                                            }}});
    const JudgedRun run = net.judge();
    EXPECT_THAT(net.first(run), ElementsAre(name));
    EXPECT_EQ(net.of(run, name).tier, Tier::replay) << name;
  }
}

// One channel of many is hit by few random draws or none, whatever it errs by.
TEST(Sampling, AnErrorOfOneChannelIsAsLargeAsInTheWholeReplay) {
  MemoryNetwork net;
  const ValueId x = net.input("image", N::noise({1, 8, 20, 20}, 1));
  const ValueId w = net.parameter("w", N::noise({300, 8, 3, 3}, 2, 0.1));
  net.op("conv", "Conv", {x, w}, {{"pads", N::ints({1, 1, 1, 1})}});
  net.run(stored_as(DType::f32), stored_as(DType::f16), {{"conv", [](Array& y) {
                                                            for (std::size_t i = 0; i < 400; ++i) {
                                                              y.values[7 * 400 + i] *= 20.0;
                                                            }
                                                          }}});
  const Judgement sampled = net.of(net.judge(), "conv");
  JudgeOptions options;
  options.strongest = Tier::replay;
  const Judgement whole = net.of(net.judge(options), "conv");
  EXPECT_EQ(sampled.label, Label::culprit);
  ASSERT_EQ(sampled.tier, Tier::sampled);
  ASSERT_EQ(whole.tier, Tier::replay);
  EXPECT_NEAR(sampled.q_own, whole.q_own,
              0.5 * whole.q_own);  // that channel's budget is missed too
  EXPECT_NEAR(sampled.own, whole.own, 0.1 * whole.own);
}

TEST(Survey, FindsClassesNormsAndTheWorstElements) {
  Array g = N::noise({100, 32}, 1);
  Array t = g;
  t.values[700] += 1.0;
  t.values[10] = std::nan("");
  g.values[20] = t.values[20] = HUGE_VAL;
  const auto golden = tensor_of(g, DType::f32);
  const auto target = tensor_of(t, DType::f32);
  const judging::Survey survey =
      judging::survey(*tensor::stored_view(golden), *tensor::stored_view(target)).value();
  EXPECT_FALSE(survey.equal);
  EXPECT_EQ(survey.finite, 3198U);
  EXPECT_EQ(survey.shared_nonfinite, 1U);
  EXPECT_THAT(survey.mismatches, ElementsAre(10U));
  EXPECT_THAT(survey.worst, ElementsAre(700U));
  EXPECT_NEAR(survey.error_norm, 1.0, 1e-6);
}

// Tiles of 2048 elements hold rows of 32, of 3000 and of 9000 in part.
TEST(Survey, OfAMeasuredPairFindsTheSameAndReadsOnlyTheWorstTiles) {
  for (const std::uint64_t row : {32U, 3000U, 9000U}) {
    Array g = N::noise({300000 / row, row}, 3);
    Array t = g;
    for (std::size_t i = 0; i < 64; ++i) {
      t.values[(i * 40009 + 17) % t.values.size() / 20 * 20] += 0.5 + 0.01 * static_cast<double>(i);
    }
    const auto golden = tensor_of(g, DType::f32);
    const auto target = tensor_of(t, DType::f32);
    const tensor::View golden_view = *tensor::stored_view(golden);
    const tensor::View target_view = *tensor::stored_view(target);
    std::vector<metrics::Peaks> peaks;
    const metrics::Measurement measured =
        metrics::measure(golden_view, target_view, {.peaks = &peaks}).value();
    const judging::Survey whole = judging::survey(golden_view, target_view).value();
    const judging::Survey known =
        judging::survey(golden_view, target_view, {&measured, peaks.front()}).value();
    EXPECT_EQ(known.equal, whole.equal);
    EXPECT_EQ(known.count, whole.count);
    EXPECT_EQ(known.finite, whole.finite);
    EXPECT_NEAR(known.golden_norm, whole.golden_norm, 1e-9 * whole.golden_norm);
    EXPECT_NEAR(known.error_norm, whole.error_norm, 1e-9 * whole.error_norm);
    ASSERT_FALSE(known.worst.empty());
    EXPECT_TRUE(std::is_sorted(known.worst.begin(), known.worst.end()));
    for (const std::uint64_t position : known.worst) {
      EXPECT_NE(g.values[position], t.values[position]) << row;
    }
    EXPECT_THAT(known.worst, testing::Contains(measured.max_abs.index)) << row;
  }
}

// Whatever a device made of some elements: the same is found with and without a measurement.
TEST(Survey, OfAMeasuredPairFindsTheFirstDifferingClasses) {
  for (const std::size_t broken : {1U, 40U, 5000U}) {
    Array g = N::noise({100, 300}, 1);
    Array t = g;
    for (std::size_t i = 0; i < broken; ++i) {
      const std::size_t at = (29000 + i * 7) % t.values.size();
      t.values[at] = i % 3 == 0 ? std::nan("") : HUGE_VAL;
      g.values[at] = i % 5 == 4 ? t.values[at] : g.values[at];
    }
    t.values[1234] += 1.0;
    g.values[1240] = -HUGE_VAL;
    const auto golden = tensor_of(g, DType::f32);
    const auto target = tensor_of(t, DType::f32);
    const tensor::View golden_view = *tensor::stored_view(golden);
    const tensor::View target_view = *tensor::stored_view(target);
    std::vector<metrics::Peaks> peaks;
    const metrics::Measurement measured =
        metrics::measure(golden_view, target_view, {.peaks = &peaks}).value();
    const judging::Survey whole = judging::survey(golden_view, target_view).value();
    const judging::Survey known =
        judging::survey(golden_view, target_view, {&measured, peaks.front()}).value();
    EXPECT_FALSE(known.equal);
    EXPECT_EQ(known.mismatches, whole.mismatches) << broken;
    EXPECT_EQ(known.class_mismatches, whole.class_mismatches) << broken;
    EXPECT_EQ(known.shared_nonfinite, whole.shared_nonfinite) << broken;
    EXPECT_EQ(known.finite, whole.finite) << broken;
    EXPECT_EQ(known.worst, whole.worst) << broken;
  }
}

TEST(Reader, ReadsEveryTypeAtAnyPlace) {
  const Array values = N::noise({4, 5}, 1);
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::e4m3fn}) {
    const auto tensor = tensor_of(values, dtype);
    const judging::Reader reader(*tensor::stored_view(tensor));
    const std::vector<std::uint64_t> places = {19, 0, 7};
    const std::vector<double> read = reader.at(places);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(read[i], replay::round_to(values.values[places[i]], dtype));
      EXPECT_EQ(reader.at(places[i]), read[i]);
    }
  }
}

// In stored order, turned, and from an array that stands in.
TEST(Reader, ReadsRunsAsItReadsTheirElements) {
  const Array values = N::noise({4, 5}, 1);
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::e4m3fn}) {
    const auto tensor = tensor_of(values, dtype);
    const tensor::View stored = *tensor::stored_view(tensor);
    tensor::View turned = stored;
    std::swap(turned.axes[0], turned.axes[1]);
    const judging::Reader readers[] = {judging::Reader(stored), judging::Reader(turned),
                                       judging::Reader(std::make_shared<const Array>(values))};
    for (const judging::Reader& reader : readers) {
      std::vector<double> run(7);
      reader.read_run(6, run.size(), run.data());
      for (std::size_t i = 0; i < run.size(); ++i) {
        EXPECT_EQ(run[i], reader.at(6 + i)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace opdrift::verdict::test
