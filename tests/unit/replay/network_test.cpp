#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// scale 2 / sqrt(4) = 1: (x - 1) + 5 in the first channel.
TEST(BatchNormalization, AffinePerChannel) {
  const Bench bench = Bench("BatchNormalization")
                          .in(array({1, 2, 2}, {1, 2, 3, 4}))
                          .in(array({2}, {2, 1}))
                          .in(array({2}, {5, 0}))
                          .in(array({2}, {1, 3}))
                          .in(array({2}, {4, 1}))
                          .real("epsilon", 0);
  EXPECT_THAT(bench.values(), ElementsAre(5, 6, 0, 1));
  // (x s)^2 + (m s)^2 + b^2
  EXPECT_THAT(bench.terms_of().extra, ElementsAre(27, 30, 18, 25));
}

TEST(BatchNormalization, RefusesOtherChannelCounts) {
  const Bench bench = Bench("BatchNormalization")
                          .in(array({1, 2, 1}, {1, 2}))
                          .in(array({3}, {1, 1, 1}))
                          .in(array({2}, {0, 0}))
                          .in(array({2}, {0, 0}))
                          .in(array({2}, {1, 1}));
  EXPECT_THAT(bench.failure(), HasSubstr("one parameter per channel"));
}

// (1, 3): mean 2, deviation 1.
TEST(LayerNormalization, MeanDeviationAndThreeOutputs) {
  const Bench bench = Bench("LayerNormalization")
                          .in(array({2, 2}, {1, 3, 10, 10}))
                          .in(array({2}, {1, 2}))
                          .in(array({2}, {0, 1}))
                          .real("epsilon", 0.25);
  const double inverse = 1 / std::sqrt(1.25);
  expect_near(bench.values(), {-inverse, 2 * inverse + 1, 0, 1}, 1e-15);
  const Outputs outputs = bench.run();
  EXPECT_THAT(outputs[1].shape, ElementsAre(2U, 1U));
  EXPECT_THAT(outputs[1].values, ElementsAre(2, 10));
  expect_near(outputs[2].values, {inverse, 2}, 1e-15);
}

// A near-constant row amplifies: the factor (1 / 0.5)^2 meets 10^2 + 10^2.
TEST(LayerNormalization, ConstantRowsAmplify) {
  const Terms terms = Bench("LayerNormalization")
                          .in(array({1, 2}, {10, 10}))
                          .in(array({2}, {1, 1}))
                          .real("epsilon", 0.25)
                          .terms_of();
  expect_near(terms.extra, {800, 800}, 1e-11);
}

TEST(RmsNorm, DividesByTheRootMeanSquare) {
  for (const char* type : {"RMSNormalization", "SimplifiedLayerNormalization"}) {
    const Bench bench =
        Bench(type).in(array({1, 2}, {3, 4})).in(array({2}, {1, 1})).real("epsilon", 0);
    expect_near(bench.values(), {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-15);
  }
}

TEST(GroupNormalization, GroupsOfChannelsAndPerGroupScales) {
  const Array x = array({1, 4, 1}, {1, 3, 5, 9});
  const Bench per_channel = Bench("GroupNormalization", 21)
                                .in(x)
                                .in(array({4}, {1, 2, 1, 2}))
                                .in(array({4}, {0, 0, 0, 0}))
                                .ints("num_groups", {2})
                                .real("epsilon", 0);
  expect_near(per_channel.values(), {-1, 2, -1, 2}, 1e-15);
  const Bench per_group = Bench("GroupNormalization", 18)
                              .in(x)
                              .in(array({2}, {1, 3}))
                              .in(array({2}, {0, 1}))
                              .ints("num_groups", {2})
                              .real("epsilon", 0);
  expect_near(per_group.values(), {-1, 1, -2, 4}, 1e-15);
}

TEST(InstanceNormalization, NormalisesEveryPlane) {
  const Bench bench = Bench("InstanceNormalization")
                          .in(array({1, 2, 2}, {1, 3, 0, 4}))
                          .in(array({2}, {1, 10}))
                          .in(array({2}, {0, 1}))
                          .real("epsilon", 0);
  expect_near(bench.values(), {-1, 1, -9, 11}, 1e-15);
}

TEST(LpNormalization, UnitLength) {
  expect_near(Bench("LpNormalization").in(array({1, 2}, {3, 4})).values(), {0.6, 0.8}, 1e-15);
  expect_near(Bench("LpNormalization").in(array({2}, {0, 0})).values(), {0, 0}, 0);
}

// One unit, one step, all weights 1, bias 0, h = c = 0, x = 1:
// i = o = f = sigmoid(1), candidate tanh(1), C = i tanh(1), H = o tanh(C).
TEST(Lstm, OneStepByHand) {
  const Bench bench = Bench("LSTM")
                          .in(array({1, 1, 1}, {1}))
                          .in(array({1, 4, 1}, {1, 1, 1, 1}))
                          .in(array({1, 4, 1}, {1, 1, 1, 1}));
  const double gate = 1 / (1 + std::exp(-1.0));
  const double c = gate * std::tanh(1.0);
  const Outputs outputs = bench.run();
  expect_near(outputs[0].values, {gate * std::tanh(c)}, 1e-15);
  expect_near(outputs[2].values, {c}, 1e-15);
  EXPECT_THAT(outputs[0].shape, ElementsAre(1U, 1U, 1U, 1U));
}

// The reverse direction over a sequence is the forward one over the turned sequence.
TEST(Lstm, BidirectionalIsForwardAndBackward) {
  const Array x = noise({5, 2, 3}, 1);
  const Array w = noise({2, 16, 3}, 2);
  const Array r = noise({2, 16, 4}, 3);
  const auto half = [](const Array& both, std::size_t which, const tensor::Shape& shape) {
    const std::size_t size = both.size() / 2;
    const auto from = both.values.begin() + static_cast<std::ptrdiff_t>(which * size);
    return array(shape, Values(from, from + static_cast<std::ptrdiff_t>(size)));
  };
  const Outputs both = Bench("LSTM").in(x).in(w).in(r).text("direction", "bidirectional").run();
  const Array turned = Bench("ReverseSequence").in(x).in(integers({5, 5})).first();
  const Outputs back =
      Bench("LSTM").in(turned).in(half(w, 1, {1, 16, 3})).in(half(r, 1, {1, 16, 4})).run();
  const Array back_turned =
      Bench("ReverseSequence").in(array({5, 2, 4}, back[0].values)).in(integers({5, 5})).first();
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(both[0].values[t * 16 + 8 + i], back_turned.values[t * 8 + i], 1e-14);
    }
  }
}

TEST(Lstm, ShortSequencesStopEarly) {
  const Array x = noise({3, 2, 1}, 1);
  const Bench bench = Bench("LSTM")
                          .in(x)
                          .in(noise({1, 4, 1}, 2))
                          .in(noise({1, 4, 1}, 3))
                          .absent()
                          .in(integers({3, 1}));
  const Outputs outputs = bench.run();
  EXPECT_EQ(outputs[0].values[3], 0);                     // step 1, batch 1
  EXPECT_EQ(outputs[1].values[1], outputs[0].values[1]);  // its state is that of step 0
}

// z = r = sigmoid(1), h~ = tanh(1), H = (1 - z) h~ from h = 0.
TEST(Gru, OneStepByHand) {
  const Bench bench = Bench("GRU")
                          .in(array({1, 1, 1}, {1}))
                          .in(array({1, 3, 1}, {1, 1, 1}))
                          .in(array({1, 3, 1}, {1, 1, 1}));
  const double z = 1 / (1 + std::exp(-1.0));
  expect_near(bench.values(), {(1 - z) * std::tanh(1.0)}, 1e-15);
}

// From h = 1 with a reset bias: linear_before_reset multiplies after the bias is added.
TEST(Gru, ResetBeforeOrAfter) {
  const auto run = [](std::int64_t after) {
    return Bench("GRU")
        .in(array({1, 1, 1}, {0}))
        .in(array({1, 3, 1}, {0, 0, 0}))
        .in(array({1, 3, 1}, {0, 0, 1}))
        .in(array({1, 6}, {0, 0, 0, 0, 0, 2}))
        .absent()
        .in(array({1, 1, 1}, {1}))
        .ints("linear_before_reset", {after})
        .values();
  };
  expect_near(run(0), {0.5 * std::tanh(2.5) + 0.5}, 1e-15);
  expect_near(run(1), {0.5 * std::tanh(1.5) + 0.5}, 1e-15);
}

TEST(Rnn, RefusesWeightsThatDoNotFit) {
  EXPECT_THAT(Bench("RNN")
                  .in(noise({2, 1, 3}, 1))
                  .in(noise({1, 4, 2}, 2))
                  .in(noise({1, 4, 4}, 3))
                  .failure(),
              HasSubstr("input 1: expected 12 elements"));
}

TEST(Recurrent, NarrowedWeightsLeaveTheirMeanSquare) {
  const Bench plain =
      Bench("LSTM").in(noise({4, 1, 3}, 1)).in(noise({1, 8, 3}, 2)).in(noise({1, 8, 2}, 3));
  EXPECT_TRUE(plain.terms_of().weights.empty());
  Array small = noise({1, 8, 3}, 4);
  for (double& value : small.values) {
    value *= 1e-3;
  }
  Bench narrowed =
      Bench("LSTM").in(noise({4, 1, 3}, 1)).in(noise({1, 8, 3}, 2)).in(noise({1, 8, 2}, 3));
  narrowed.delta(1, small);
  const Terms terms = narrowed.terms_of();
  ASSERT_EQ(terms.weights.size(), 8U);
  EXPECT_GT(terms.weights[0], 0);
  EXPECT_LT(terms.weights[0], 1e-5);
  EXPECT_EQ(terms.n, 5);
}

// 0.5 and 1.5 are ties; 300 saturates at 255.
TEST(Quantise, RoundsToEvenAndSaturates) {
  const Bench bench = Bench("QuantizeLinear")
                          .in(array({4}, {1, 3, 600, -7}))
                          .in(array({}, {2}))
                          .in(array({}, {10}, tensor::DType::u8));
  EXPECT_THAT(bench.values(), ElementsAre(10, 12, 255, 6));
  EXPECT_EQ(bench.first().dtype, tensor::DType::u8);
}

TEST(Quantise, PerAxisAndBack) {
  const Array scales = array({2}, {1, 0.5});
  const Array zeros = array({2}, {0, 1}, tensor::DType::i8);
  const Bench codes =
      Bench("QuantizeLinear").in(array({1, 2, 2}, {1, -2, 1, 2})).in(scales).in(zeros);
  EXPECT_THAT(codes.values(), ElementsAre(1, -2, 3, 5));
  EXPECT_THAT(Bench("DequantizeLinear").in(codes.first()).in(scales).in(zeros).values(),
              ElementsAre(1, -2, 1, 2));
}

TEST(Quantise, Blocks) {
  const Bench bench = Bench("DequantizeLinear", 21)
                          .in(array({1, 4}, {1, 2, 3, 4}, tensor::DType::i8))
                          .in(array({1, 2}, {1, 10}))
                          .ints("axis", {1})
                          .ints("block_size", {2});
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, 30, 40));
}

TEST(Quantise, IntegerProducts) {
  const Array u8 = array({1, 2}, {3, 5}, tensor::DType::u8);
  EXPECT_THAT(Bench("MatMulInteger")
                  .in(u8)
                  .in(array({2, 1}, {2, 4}, tensor::DType::u8))
                  .in(array({}, {1}))
                  .in(array({1}, {2}))
                  .values(),
              ElementsAre(8));
  const Bench conv = Bench("QLinearConv")
                         .in(array({1, 1, 2}, {3, 5}, tensor::DType::u8))
                         .in(array({}, {0.5}))
                         .in(array({}, {1}, tensor::DType::u8))
                         .in(array({1, 1, 1}, {4}, tensor::DType::i8))
                         .in(array({}, {0.25}))
                         .in(array({}, {0}, tensor::DType::i8))
                         .in(array({}, {0.125}))
                         .in(array({}, {7}, tensor::DType::u8))
                         .in(array({1}, {8}, tensor::DType::i32));
  // (x - 1) / 2 * 1 + 8 / 8 = 2 and 3; in eighths 16 and 24; plus 7.
  EXPECT_THAT(conv.values(), ElementsAre(23, 31));
}

TEST(Index, ArgMaxTakesTheFirstOrTheLast) {
  const Array x = array({1, 4}, {1, 3, 3, 2});
  EXPECT_THAT(Bench("ArgMax").in(x).ints("axis", {1}).values(), ElementsAre(1));
  EXPECT_THAT(Bench("ArgMax").in(x).ints("axis", {1}).ints("select_last_index", {1}).values(),
              ElementsAre(2));
}

TEST(Index, TopKByAttributeAndInput) {
  const Array x = array({5}, {1, 5, 2, 5, 4});
  const Outputs best = Bench("TopK", 11).in(x).in(integers({3})).run();
  EXPECT_THAT(best[0].values, ElementsAre(5, 5, 4));
  EXPECT_THAT(best[1].values, ElementsAre(1, 3, 4));
  EXPECT_THAT(Bench("TopK", 1).in(x).ints("k", {1}).run()[1].values, ElementsAre(1));
  EXPECT_THAT(Bench("TopK", 11).in(x).in(integers({2})).ints("largest", {0}).values(),
              ElementsAre(1, 2));
  EXPECT_THAT(Bench("TopK", 11).in(x).in(integers({6})).failure(), HasSubstr("larger"));
}

TEST(Index, NonZeroListsCoordinates) {
  const Bench bench = Bench("NonZero").in(array({2, 2}, {1, 0, 1, 1}));
  EXPECT_THAT(bench.first().shape, ElementsAre(2U, 3U));
  EXPECT_THAT(bench.values(), ElementsAre(0, 1, 1, 0, 0, 1));
}

// Two boxes that overlap by 0.9 / 1.1 and one apart.
TEST(Index, NonMaxSuppressionKeepsTheBest) {
  const Bench bench = Bench("NonMaxSuppression")
                          .in(array({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}))
                          .in(array({1, 1, 3}, {0.9, 0.95, 0.3}))
                          .in(array({}, {3}))
                          .in(array({}, {0.5}))
                          .in(array({}, {0.1}));
  EXPECT_THAT(bench.values(), ElementsAre(0, 0, 1, 0, 0, 2));
}

// Attention by its parts: scores, softmax and a product, one head at a time.
TEST(Attention, IsTheCompositionOfItsParts) {
  const Array q = noise({1, 2, 3, 4}, 1);
  const Array k = noise({1, 2, 5, 4}, 2);
  const Array v = noise({1, 2, 5, 6}, 3);
  const Array turned = Bench("Transpose").in(k).ints("perm", {0, 1, 3, 2}).first();
  Array scores = Bench("MatMul").in(q).in(turned).first();
  for (double& value : scores.values) {
    value /= 2;
  }
  const Array weights = Bench("Softmax").in(scores).first();
  const Array expected = Bench("MatMul").in(weights).in(v).first();
  const Bench bench = Bench("Attention", 23).in(q).in(k).in(v);
  EXPECT_EQ(bench.first().shape, expected.shape);
  expect_near(bench.values(), expected.values, 1e-14);
}

TEST(Attention, CausalMaskHidesTheFuture) {
  const Array one = array({1, 1, 2, 1}, {1, 1});
  const Bench bench = Bench("scaled_dot_product_attention")
                          .in(one)
                          .in(one)
                          .in(array({1, 1, 2, 1}, {3, 5}))
                          .ints("is_causal", {1});
  expect_near(bench.values(), {3, 4}, 1e-15);
}

TEST(Attention, MultiHeadSplitsTheHiddenSize) {
  const Array q = noise({2, 3, 8}, 1);
  const Array k = noise({2, 5, 8}, 2);
  const Array v = noise({2, 5, 8}, 3);
  const auto heads = [](const Array& x) {
    Array split = x;
    split.shape = {x.shape[0], x.shape[1], 2, 4};
    return Bench("Transpose").in(split).ints("perm", {0, 2, 1, 3}).first();
  };
  const Bench whole = Bench("MultiHeadAttention").in(q).in(k).in(v).ints("num_heads", {2});
  const Array parts = Bench("Attention", 23).in(heads(q)).in(heads(k)).in(heads(v)).first();
  const Array back = Bench("Transpose").in(parts).ints("perm", {0, 2, 1, 3}).first();
  EXPECT_THAT(whole.first().shape, ElementsAre(2U, 3U, 8U));
  expect_near(whole.values(), back.values, 1e-14);
}

TEST(Rotary, TurnsPairsByTheirPosition) {
  const Array cosine = array({2, 1}, {1, 0});
  const Array sine = array({2, 1}, {0, 1});
  const Bench bench = Bench("RotaryEmbedding")
                          .domain("com.microsoft")
                          .in(array({1, 1, 2, 2}, {1, 2, 3, 4}))
                          .in(array({1, 2}, {0, 1}, tensor::DType::i64))
                          .in(cosine)
                          .in(sine);
  EXPECT_THAT(bench.values(), ElementsAre(1, 2, -4, 3));
}

TEST(Fused, SkipLayerNormalizationGivesItsSum) {
  const Outputs outputs = Bench("SkipLayerNormalization")
                              .in(array({1, 2}, {1, 2}))
                              .in(array({1, 2}, {0, 1}))
                              .in(array({2}, {1, 1}))
                              .in(array({2}, {0, 0}))
                              .real("epsilon", 0)
                              .run();
  expect_near(outputs[0].values, {-1, 1}, 1e-15);
  EXPECT_THAT(outputs[3].values, ElementsAre(1, 3));
}

TEST(Fused, GeluAfterABias) {
  const Array x = array({1}, {0.5});
  const Array bias = array({1}, {0.5});
  expect_near(Bench("BiasGelu").in(x).in(bias).values(), {0.8413447460685429}, 1e-15);
  expect_near(Bench("FastGelu").in(x).in(bias).values(), {0.8411919906082768}, 1e-15);
}

// The transform of (1, 0, 0, 0) is 1 everywhere; of a constant only bin 0.
TEST(Signal, FourierTransform) {
  const Bench impulse = Bench("DFT", 17).in(array({1, 4, 1}, {1, 0, 0, 0}));
  expect_near(impulse.values(), {1, 0, 1, 0, 1, 0, 1, 0}, 1e-15);
  const Bench back = Bench("DFT", 17).in(impulse.first()).ints("inverse", {1});
  expect_near(back.values(), {1, 0, 0, 0, 0, 0, 0, 0}, 1e-15);
  const Bench frames = Bench("STFT")
                           .in(array({1, 6}, {1, 1, 1, 1, 1, 1}))
                           .in(array({}, {2}))
                           .in(array({4}, {1, 1, 1, 1}));
  EXPECT_THAT(frames.first().shape, ElementsAre(1U, 2U, 3U, 2U));
  expect_near(frames.values(), {4, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0}, 1e-15);
}

// Scores 1 and 2 of the wanted classes, weighted 1 and 3.
TEST(Loss, WeightsAndReductions) {
  const auto with = [](const char* reduction) {
    return Bench("NegativeLogLikelihoodLoss")
        .in(array({2, 2}, {1, 5, 6, 2}))
        .in(integers({0, 1}))
        .in(array({2}, {1, 3}))
        .text("reduction", reduction);
  };
  EXPECT_THAT(with("none").values(), ElementsAre(-1, -6));
  EXPECT_THAT(with("sum").values(), ElementsAre(-7));
  EXPECT_THAT(with("mean").values(), ElementsAre(-1.75));
  EXPECT_THAT(with("mean").terms_of().a2, ElementsAre(37.0 / 16.0));
  EXPECT_EQ(with("mean").ints("ignore_index", {1}).values(), Values{-1});
}

TEST(Loss, RefusesLabelsThatAreNoClasses) {
  const auto with = [](const char* type, Values labels) {
    return Bench(type).in(noise({2, 2}, 1)).in(integers(std::move(labels))).failure();
  };
  for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    EXPECT_THAT(with(type, {0, 2}), HasSubstr("a label is out of range"));
    EXPECT_THAT(with(type, {0, -1}), HasSubstr("a label is out of range"));
    EXPECT_THAT(with(type, {0}), HasSubstr("do not fit"));
  }
}

TEST(Loss, CrossEntropyGivesLogarithms) {
  const Bench bench =
      Bench("SoftmaxCrossEntropyLoss").in(array({1, 2}, {3, 3})).in(integers({1})).outputs(2);
  expect_near(bench.run()[0].values, {std::log(2.0)}, 1e-15);
  expect_near(bench.run()[1].values, {-std::log(2.0), -std::log(2.0)}, 1e-15);
  expect_near(bench.terms_of(0).extra, {0.18}, 1e-15);
  expect_near(bench.terms_of(1).extra, {0.18, 0.18}, 1e-15);
}

TEST(Classic, RefusesAttributesThatDoNotFit) {
  const Array x = noise({2, 3}, 1);
  EXPECT_THAT(Bench("Scaler").in(x).reals("scale", {1, 2}).failure(), HasSubstr("one for each"));
  EXPECT_THAT(Bench("Normalizer").in(x).text("norm", "L3").failure(), HasSubstr("the norm L3"));
  EXPECT_THAT(Bench("Imputer").in(x).reals("imputed_value_floats", {1, 2}).failure(),
              HasSubstr("one for each"));
  EXPECT_THAT(Bench("LinearRegressor").in(x).reals("coefficients", {1, 2}).failure(),
              HasSubstr("coefficients do not fit"));
  EXPECT_THAT(Bench("LinearRegressor")
                  .in(x)
                  .reals("coefficients", {1, 2, 3})
                  .ints("targets", {1})
                  .text("post_transform", "LOGISTIC")
                  .failure(),
              HasSubstr("transformed"));
  EXPECT_THAT(Bench("ArrayFeatureExtractor").in(x).in(integers({3})).failure(),
              HasSubstr("a position is out of range"));
  EXPECT_THAT(Bench("Scaler").in(array({2, 0}, {})).failure(), HasSubstr("features"));
}

}  // namespace
}  // namespace opdrift::replay::test
