#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

// Kinds of com.microsoft beside the ordinary kinds they are made of, and inputs that do not fit.

namespace opdrift::replay::test {
namespace {

using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMicrosoft = "com.microsoft";

Bench contrib(const char* type) {
  return std::move(Bench(type).domain(kMicrosoft));
}

double silu(double x) {
  return x / (1.0 + std::exp(-x));
}

// (batch, space, channel): the ordinary group norm of turned axes, and Silu.
TEST(GroupNorm, ChannelsComeLastByDefault) {
  const Array x = noise({2, 3, 5, 4}, 1);
  const Bench plain = Bench("GroupNormalization", 21)
                          .in(channels_first(x))
                          .in(noise({4}, 2))
                          .in(noise({4}, 3))
                          .ints("num_groups", {2});
  const auto with = [&](std::int64_t activation) {
    return contrib("GroupNorm")
        .in(x)
        .in(noise({4}, 2))
        .in(noise({4}, 3))
        .ints("groups", {2})
        .ints("activation", {activation});
  };
  Array expected = channels_last(plain.first());
  expect_near(with(0).values(), expected.values, 1e-14);
  Array extra = expected;
  extra.shape = plain.first().shape;
  extra.values = plain.terms_of().extra;
  expect_near(with(0).terms_of().extra, channels_last(extra).values, 1e-12);
  for (double& value : expected.values) {
    value = silu(value);
  }
  expect_near(with(1).values(), expected.values, 1e-14);
  EXPECT_GT(with(1).terms_of().extra[0], 25.0 / 3.0);
  EXPECT_THAT(with(2).failure(), HasSubstr("activation"));
}

TEST(SkipGroupNorm, NormalisesTheSumAndGivesItOut) {
  const Array x = noise({2, 2, 3, 4}, 1);
  const Array skip = noise({2, 1, 1, 4}, 4);
  const Array bias = noise({4}, 5);
  Array sum = x;
  for (std::size_t at = 0; at < sum.size(); ++at) {
    sum.values[at] += skip.values[at / 24 * 4 + at % 4] + bias.values[at % 4];
  }
  const auto with = [](const char* type, const Array& input) {
    return contrib(type).in(input).in(noise({4}, 2)).in(noise({4}, 3)).ints("groups", {2});
  };
  const Outputs outputs = with("SkipGroupNorm", x).in(skip).in(bias).outputs(2).run();
  expect_near(outputs[0].values, with("GroupNorm", sum).values(), 1e-13);
  expect_near(outputs[1].values, sum.values, 1e-15);
  EXPECT_THAT(with("SkipGroupNorm", x).in(noise({3}, 1)).failure(), HasSubstr("skip"));
  EXPECT_THAT(with("SkipGroupNorm", x).in(skip).in(noise({3}, 1)).failure(), HasSubstr("bias"));
}

TEST(BiasSplitGelu, TheSecondHalfIsTheGate) {
  const Bench bench =
      contrib("BiasSplitGelu").in(array({1, 1, 4}, {1, 2, 3, 4})).in(array({4}, {1, 1, -3, -3}));
  const double gelu = 0.5 * (1.0 + std::erf(1.0 / std::sqrt(2.0)));
  expect_near(bench.values(), {0, 3 * gelu}, 1e-15);
  EXPECT_THAT(contrib("BiasSplitGelu").in(noise({1, 1, 3}, 1)).in(noise({3}, 2)).failure(),
              HasSubstr("halves"));
}

TEST(NhwcFusedConv, IsAFusedConvOfTurnedAxes) {
  const Array x = noise({2, 5, 6, 4}, 1);
  const Array added = noise({2, 5, 5, 3}, 4);
  const auto with = [](Bench bench, const Array& input, const Array& addend) {
    return bench.in(input)
        .in(noise({3, 4, 2, 3}, 2))
        .in(noise({3}, 3))
        .in(addend)
        .ints("pads", {1, 0, 0, 1})
        .text("activation", "Relu");
  };
  const Bench plain = with(Bench("FusedConv"), channels_first(x), channels_first(added));
  const Bench bench = with(contrib("NhwcFusedConv"), x, added);
  EXPECT_EQ(bench.values(), channels_last(plain.first()).values);
  Array a2 = plain.first();
  a2.values = plain.terms_of().a2;
  EXPECT_EQ(bench.terms_of().a2, channels_last(a2).values);
  EXPECT_THAT(with(contrib("NhwcFusedConv"), noise({5, 6}, 1), added).failure(),
              HasSubstr("operator not modelled"));
}

// With and without a buffer, it is the attention of all heads over what came before.
TEST(DecoderAttention, JoinsThePast) {
  const Array past_key = noise({2, 2, 3, 4}, 4);
  const Array past_value = noise({2, 2, 3, 4}, 5);
  const Bench plain = contrib("MultiHeadAttention")
                          .in(noise({2, 1, 8}, 1))
                          .in(noise({2, 1, 8}, 2))
                          .in(noise({2, 1, 8}, 3))
                          .in(noise({24}, 6))
                          .absent()
                          .absent()
                          .in(past_key)
                          .in(past_value)
                          .ints("num_heads", {2})
                          .outputs(3);
  const auto with = [](const Array& key, const Array& value) {
    return contrib("DecoderMaskedMultiHeadAttention")
        .in(noise({2, 1, 8}, 1))
        .in(noise({2, 1, 8}, 2))
        .in(noise({2, 1, 8}, 3))
        .absent()
        .absent()
        .in(key)
        .in(value)
        .in(integers({3}))
        .absent()
        .absent()
        .in(noise({24}, 6))
        .ints("num_heads", {2})
        .outputs(3);
  };
  const Outputs expected = plain.run();
  const Outputs outputs = with(past_key, past_value).run();
  for (std::size_t i = 0; i < 3; ++i) {
    expect_near(outputs[i].values, expected[i].values, 1e-14);
  }
  const auto buffer_of = [](const Array& past) {
    const Array zeros = array({2, 2, 5, 4}, Values(80, 0.0));
    return Bench("TensorScatter").in(zeros).in(past).first();
  };
  const Bench buffered =
      with(buffer_of(past_key), buffer_of(past_value)).ints("past_present_share_buffer", {1});
  expect_near(buffered.values(), expected[0].values, 1e-14);
  EXPECT_THAT(buffered.run()[1].shape, ElementsAre(2U, 2U, 5U, 4U));
  EXPECT_EQ(buffered.terms_of().a2.size(), 16U);
}

TEST(DecoderAttention, RefusesWhatDoesNotFit) {
  const auto with = [](const tensor::Shape& query, const tensor::Shape& past, double length) {
    return contrib("DecoderMaskedMultiHeadAttention")
        .in(noise(query, 1))
        .in(noise({2, 1, 8}, 2))
        .in(noise({2, 1, 8}, 3))
        .absent()
        .absent()
        .in(noise(past, 4))
        .in(noise(past, 5))
        .in(integers({length}))
        .ints("num_heads", {2})
        .ints("past_present_share_buffer", {1});
  };
  EXPECT_THAT(with({2, 2, 8}, {2, 2, 3, 4}, 1).failure(), HasSubstr("do not fit"));
  EXPECT_THAT(with({2, 1, 8}, {2, 2, 3, 4}, 4).failure(), HasSubstr("longer than its buffer"));
  EXPECT_THAT(with({2, 1, 8}, {2, 2, 3, 4}, -1).failure(), HasSubstr("longer than its buffer"));
  EXPECT_THAT(with({2, 1, 8}, {2, 3, 3, 4}, 1).failure(), HasSubstr("past keys"));
  EXPECT_THAT(with({2, 1, 8}, {2, 3, 4}, 1).failure(), HasSubstr("past keys"));
  EXPECT_THAT(with({2, 1, 8}, {2, 2, 3, 4}, 1).in(integers({4})).failure(),
              HasSubstr("several beams"));
}

TEST(GroupQueryAttention, RefusesSinksThatDoNotFit) {
  EXPECT_THAT(contrib("GroupQueryAttention")
                  .in(noise({1, 1, 2}, 1))
                  .in(noise({1, 1, 1}, 2))
                  .in(noise({1, 1, 1}, 3))
                  .absent()
                  .absent()
                  .in(array({1}, {0}, DType::i32))
                  .in(array({}, {1}, DType::i32))
                  .absent()
                  .absent()
                  .absent()
                  .absent()
                  .in(noise({3}, 4))
                  .ints("num_heads", {2})
                  .ints("kv_num_heads", {1})
                  .failure(),
              HasSubstr("one sink per head"));
}

// All three in one tensor, and keys and values in one.
TEST(MultiHeadAttention, PackedInputsAreTakenApart) {
  const Array q = noise({2, 3, 2, 4}, 1);
  const Array k = noise({2, 3, 2, 4}, 2);
  const Array v = noise({2, 3, 2, 4}, 3);
  const auto packed = [](const std::vector<const Array*>& parts) {
    Array all = array({2, 3, 2, parts.size(), 4}, {});
    for (std::size_t head = 0; head < 12; ++head) {
      for (const Array* part : parts) {
        const auto from = part->values.begin() + static_cast<std::ptrdiff_t>(4 * head);
        all.values.insert(all.values.end(), from, from + 4);
      }
    }
    return all;
  };
  const auto flat = [](const Array& x) { return array({2, 3, 8}, x.values); };
  const Values expected = contrib("MultiHeadAttention")
                              .in(flat(q))
                              .in(flat(k))
                              .in(flat(v))
                              .ints("num_heads", {2})
                              .values();
  EXPECT_EQ(contrib("MultiHeadAttention").in(packed({&q, &k, &v})).ints("num_heads", {2}).values(),
            expected);
  EXPECT_EQ(contrib("MultiHeadAttention")
                .in(flat(q))
                .in(packed({&k, &v}))
                .ints("num_heads", {2})
                .values(),
            expected);
  EXPECT_THAT(contrib("MultiHeadAttention").in(flat(q)).ints("num_heads", {2}).failure(),
              HasSubstr("packed otherwise"));
}

TEST(MultiHeadAttention, RefusesMasksThatDoNotFit) {
  for (const tensor::Shape& mask : {tensor::Shape{5}, tensor::Shape{2, 4}, tensor::Shape{8}}) {
    EXPECT_THAT(contrib("MultiHeadAttention")
                    .in(noise({2, 3, 8}, 1))
                    .in(noise({2, 3, 8}, 2))
                    .in(noise({2, 3, 8}, 3))
                    .absent()
                    .in(noise(mask, 4))
                    .ints("num_heads", {2})
                    .failure(),
                HasSubstr("a mask of shape"));
  }
}

// Opset 24: one key counts, so every query sees its value alone.
TEST(Attention, KeysThatDoNotCountAreHidden) {
  const auto with = [](Values counted) {
    return Bench("Attention", 24)
        .in(noise({1, 1, 2, 2}, 1))
        .in(noise({1, 1, 3, 2}, 2))
        .in(array({1, 1, 3, 1}, {7, 8, 9}))
        .absent()
        .absent()
        .absent()
        .in(integers(std::move(counted)));
  };
  EXPECT_THAT(with({1}).values(), ElementsAre(7, 7));
  EXPECT_THAT(with({4}).failure(), HasSubstr("out of range"));
  EXPECT_THAT(with({1, 1}).failure(), HasSubstr("one number of keys"));
}

Bench qgemm(const tensor::Shape& b, const tensor::Shape& scales, const tensor::Shape& addend) {
  return contrib("QGemm")
      .in(noise({2, 3}, 1))
      .in(array({}, {0.5}))
      .in(array({}, {1}, DType::u8))
      .in(noise(b, 2))
      .in(noise(scales, 3))
      .absent()
      .in(noise(addend, 4));
}

TEST(QGemm, RefusesWhatDoesNotFit) {
  EXPECT_THAT(qgemm({3, 4}, {4}, {4}).failure(), testing::IsEmpty());
  EXPECT_THAT(qgemm({2, 4}, {4}, {4}).failure(), HasSubstr("inner extents"));
  EXPECT_THAT(qgemm({3, 4}, {3}, {4}).failure(), HasSubstr("scales do not fit"));
  EXPECT_THAT(qgemm({3, 4}, {4}, {3, 4}).failure(), HasSubstr("broadcast"));
  EXPECT_THAT(qgemm({3, 4}, {4}, {1, 2, 4}).failure(), HasSubstr("addend is larger"));
}

TEST(GatherBlockQuantized, RefusesWhatDoesNotFit) {
  const auto with = [](Values indices, const tensor::Shape& scales, std::int64_t block) {
    return contrib("GatherBlockQuantized")
        .in(array({2, 16}, Values(32, 1.0), DType::u8))
        .in(integers(std::move(indices)))
        .in(noise(scales, 1))
        .ints("block_size", {block})
        .failure();
  };
  EXPECT_THAT(with({0, -2}, {2, 2}, 16), testing::IsEmpty());
  EXPECT_THAT(with({2}, {2, 2}, 16), HasSubstr("an index is out of range"));
  EXPECT_THAT(with({0}, {2, 1}, 16), HasSubstr("do not fit the blocks"));
  EXPECT_THAT(with({0}, {2, 2}, 0), HasSubstr("blocks of 0"));
}

}  // namespace
}  // namespace opdrift::replay::test
