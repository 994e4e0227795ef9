#include "unit/replay/ascend/bench.hpp"

// Beside attention written out for one head after the other.

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Sizes {
  std::size_t batch = 2;
  std::size_t heads = 4;
  std::size_t groups = 2;
  std::size_t queries = 3;
  std::size_t keys = 3;
  std::size_t size = 2;
};

double element(const Array& x, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  return x.values[((a * x.shape[1] + b) * x.shape[2] + c) * x.shape[3] + d];
}

/// All arrays (batch, head, position, element); `more` and `sees` by batch, head, query and key.
template <typename More, typename Sees>
Array plain_attention(const Array& q, const Array& k, const Array& v, double scale, More more,
                      Sees sees) {
  Array y = q;
  const std::size_t shared = q.shape[1] / k.shape[1];
  for (std::size_t b = 0; b < q.shape[0]; ++b) {
    for (std::size_t h = 0; h < q.shape[1]; ++h) {
      for (std::size_t i = 0; i < q.shape[2]; ++i) {
        double sum = 0;
        Values mixed(q.shape[3], 0.0);
        for (std::size_t j = 0; j < k.shape[2]; ++j) {
          double score = 0;
          for (std::size_t d = 0; d < q.shape[3]; ++d) {
            score += element(q, b, h, i, d) * element(k, b, h / shared, j, d);
          }
          const double weight = sees(b, h, i, j) ? std::exp(score * scale + more(b, h, i, j)) : 0.0;
          sum += weight;
          for (std::size_t d = 0; d < q.shape[3]; ++d) {
            mixed[d] += weight * element(v, b, h / shared, j, d);
          }
        }
        for (std::size_t d = 0; d < q.shape[3]; ++d) {
          y.values[((b * q.shape[1] + h) * q.shape[2] + i) * q.shape[3] + d] = mixed[d] / sum;
        }
      }
    }
  }
  return y;
}

double nothing(std::size_t, std::size_t, std::size_t, std::size_t) {
  return 0.0;
}
bool everything(std::size_t, std::size_t, std::size_t, std::size_t) {
  return true;
}

struct Case {
  Array q;
  Array k;
  Array v;
};

Case made(const Sizes& s) {
  return {noise({s.batch, s.heads, s.queries, s.size}, 1),
          noise({s.batch, s.groups, s.keys, s.size}, 2),
          noise({s.batch, s.groups, s.keys, s.size}, 3)};
}

// (batch, head, position, element) in another layout.
Array as(const std::string& layout, const Array& x) {
  if (layout == "BNSD") {
    return x;
  }
  Array y = transposed(x, {0, 2, 1, 3});
  if (layout == "BSND") {
    return y;
  }
  y.shape = {y.shape[0], y.shape[1], y.shape[2] * y.shape[3]};
  return layout == "SBH" ? transposed(y, {1, 0, 2}) : y;
}

Bench inference(const Case& c, const std::string& layout, const Sizes& s = {}) {
  return ascend("FusedInferAttentionScore")
      .in(as(layout, c.q))
      .in(as(layout, c.k))
      .in(as(layout, c.v))
      .text("input_layout", layout)
      .ints("num_heads", {static_cast<std::int64_t>(s.heads)})
      .ints("num_key_value_heads", {static_cast<std::int64_t>(s.groups)})
      .real("scale", 0.7);
}

TEST(AscendAttention, EveryLayoutIsTheSameAttention) {
  const Case c = made(Sizes{});
  const Array expected = plain_attention(c.q, c.k, c.v, 0.7, nothing, everything);
  for (const char* layout : {"BNSD", "BSND", "BSH", "SBH"}) {
    const Bench bench = inference(c, layout);
    expect_near(bench.values(), as(layout, expected).values, 1e-14);
    EXPECT_EQ(bench.first().shape, as(layout, c.q).shape) << layout;
    const Terms terms = bench.terms_of();
    Array a2 = expected;
    a2.values = inference(c, "BNSD").terms_of().a2;
    expect_near(terms.a2, as(layout, a2).values, 1e-14);
    EXPECT_EQ(terms.extra.size(), expected.size());
  }
  EXPECT_THAT(inference(c, "BNSD").text("input_layout", "TND").failure(), HasSubstr("TND"));
}

TEST(AscendAttention, MasksHideKeys) {
  const Case c = made(Sizes{});
  const auto below = [](std::size_t, std::size_t, std::size_t i, std::size_t j) { return j <= i; };
  const Array causal = plain_attention(c.q, c.k, c.v, 0.7, nothing, below);
  const Array upper = array({1, 1, 3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0}, tensor::DType::boolean);
  expect_near(inference(c, "BNSD").absent().in(upper).values(), causal.values, 1e-14);
  expect_near(inference(c, "BNSD").ints("sparse_mode", {2}).values(), causal.values, 1e-14);
  expect_near(inference(c, "BNSD").ints("sparse_mode", {3}).values(), causal.values, 1e-14);
  // A band of mode 0 is looked at only where there is a mask.
  const Array none = array({3, 3}, Values(9, 0.0), tensor::DType::boolean);
  expect_near(inference(c, "BNSD").absent().in(none).ints("next_tokens", {0}).values(),
              causal.values, 1e-14);
  EXPECT_NE(inference(c, "BNSD").ints("next_tokens", {0}).values(), causal.values);
  const Array all = array({3, 3}, Values(9, 1.0), tensor::DType::boolean);
  EXPECT_THAT(inference(c, "BNSD").absent().in(all).failure(), HasSubstr("sees no key"));
  EXPECT_THAT(inference(c, "BNSD").ints("sparse_mode", {1}).failure(), HasSubstr("missing"));
  EXPECT_THAT(inference(c, "BNSD").ints("sparse_mode", {9}).failure(), HasSubstr("sparse mode 9"));
}

// Two queries against five keys: mode 3 counts from the last key.
TEST(AscendAttention, BandsOfDifferentLengths) {
  Sizes s;
  s.queries = 2;
  s.keys = 5;
  const Case c = made(s);
  const auto last = [](std::size_t, std::size_t, std::size_t i, std::size_t j) {
    return j <= i + 3;
  };
  const auto band = [](std::size_t, std::size_t, std::size_t i, std::size_t j) {
    return j <= i + 3 && j + 1 >= i + 3;
  };
  expect_near(inference(c, "BNSD", s).ints("sparse_mode", {3}).values(),
              plain_attention(c.q, c.k, c.v, 0.7, nothing, last).values, 1e-14);
  expect_near(inference(c, "BNSD", s)
                  .ints("sparse_mode", {4})
                  .ints("pre_tokens", {1})
                  .ints("next_tokens", {0})
                  .values(),
              plain_attention(c.q, c.k, c.v, 0.7, nothing, band).values, 1e-14);
}

TEST(AscendAttention, ShiftsAndLengths) {
  const Case c = made(Sizes{});
  const Array shift = noise({1, 4, 3, 3}, 9);
  const auto more = [&](std::size_t, std::size_t h, std::size_t i, std::size_t j) {
    return element(shift, 0, h, i, j);
  };
  expect_near(inference(c, "BNSD").in(shift).values(),
              plain_attention(c.q, c.k, c.v, 0.7, more, everything).values, 1e-14);
  const auto shorter = [](std::size_t b, std::size_t, std::size_t, std::size_t j) {
    return j < (b == 0 ? 2U : 3U);
  };
  const auto cut = [&] {
    return ascend("IncreFlashAttention")
        .in(c.q)
        .in(c.k)
        .in(c.v)
        .absent()
        .absent()
        .text("input_layout", "BNSD")
        .real("scale_value", 0.7);
  };
  expect_near(cut().in(integers({2, 3})).values(),
              plain_attention(c.q, c.k, c.v, 0.7, nothing, shorter).values, 1e-14);
  EXPECT_THAT(cut().in(integers({9, 3})).failure(), HasSubstr("longer than its axis"));
  EXPECT_THAT(cut().in(integers({2, 3, 3})).failure(), HasSubstr("one length per batch"));
  EXPECT_THAT(cut().absent().in(array({1}, {1})).failure(), HasSubstr("codes"));
}

// The training operator multiplies the shift by the scale and gives out its softmax first.
TEST(AscendFlashAttentionScore, GivesOutFactsOfItsSoftmax) {
  const Case c = made(Sizes{});
  const Array shift = noise({2, 4, 3, 3}, 9);
  const Bench bench = ascend("FlashAttentionScore")
                          .in(c.q)
                          .in(c.k)
                          .in(c.v)
                          .in(shift)
                          .text("input_layout", "BNSD")
                          .ints("head_num", {4})
                          .real("scale_value", 0.7)
                          .outputs(4);
  const auto more = [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    return 0.7 * element(shift, b, h, i, j);
  };
  const Outputs outputs = bench.run();
  ASSERT_EQ(outputs.size(), 4U);
  expect_near(outputs[3].values, plain_attention(c.q, c.k, c.v, 0.7, more, everything).values,
              1e-14);
  EXPECT_EQ(outputs[0].shape, (tensor::Shape{2, 4, 3, 8}));
  Values scores;
  for (std::size_t j = 0; j < 3; ++j) {
    double score = 0;
    for (std::size_t d = 0; d < 2; ++d) {
      score += element(c.q, 0, 0, 0, d) * element(c.k, 0, 0, j, d);
    }
    scores.push_back(0.7 * score + more(0, 0, 0, j));
  }
  const double top = std::max({scores[0], scores[1], scores[2]});
  EXPECT_NEAR(outputs[0].values[7], top, 1e-15);
  EXPECT_NEAR(outputs[1].values[0],
              std::exp(scores[0] - top) + std::exp(scores[1] - top) + std::exp(scores[2] - top),
              1e-14);
  EXPECT_EQ(bench.terms_of(3).a2.size(), outputs[3].size());
  EXPECT_EQ(bench.terms_of(0).extra.size(), outputs[0].size());
  EXPECT_THAT(Bench(bench).real("keep_prob", 0.9).failure(), HasSubstr("random"));
}

TEST(AscendAttention, RefusesWhereThereAreNoQueries) {
  Sizes s;
  s.queries = 0;
  EXPECT_THAT(inference(made(s), "BSND", s).failure(), HasSubstr("no queries"));
}

TEST(AscendAttention, RefusesHeadsThatDoNotFit) {
  const Case c = made(Sizes{});
  EXPECT_THAT(inference(c, "BSH").ints("num_heads", {3}).failure(), HasSubstr("do not divide"));
  Case odd = c;
  odd.v = noise({2, 2, 4, 2}, 3);
  EXPECT_THAT(inference(odd, "BNSD").failure(), HasSubstr("do not fit each other"));
}

TEST(AscendRotary, TurnsHalvesOrPairs) {
  const Array x = array({1, 1, 1, 4}, {1, 2, 3, 4});
  const Array c = array({1, 1, 1, 4}, {2, 2, 2, 2});
  const Array s = array({1, 1, 1, 4}, {10, 10, 10, 10});
  const Bench bench = ascend("RotaryMul").in(x).in(c).in(s);
  EXPECT_THAT(bench.values(), ElementsAre(2 - 30, 4 - 40, 6 + 10, 8 + 20));
  EXPECT_THAT(bench.terms_of().a2, ElementsAre(904, 1616, 136, 464));
  EXPECT_THAT(ascend("RotaryPositionEmbedding").in(x).in(c).in(s).ints("mode", {1}).values(),
              ElementsAre(2 - 20, 4 + 10, 6 - 40, 8 + 30));
  const Outputs both = ascend("ApplyRotaryPosEmb").in(x).in(c).in(c).in(s).outputs(2).run();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_THAT(both[0].values, ElementsAre(-28, -36, 16, 28));
  EXPECT_THAT(both[1].values, ElementsAre(4 - 20, 4 - 20, 4 + 20, 4 + 20));
  EXPECT_THAT(ascend("RotaryMul").in(x).in(array({1}, {1})).in(array({1}, {1})).failure(),
              HasSubstr("do not fit"));
  EXPECT_THAT(ascend("RotaryPositionEmbedding").in(x).in(c).in(s).ints("mode", {2}).failure(),
              HasSubstr("mode"));
}

TEST(AscendGeGlu, GatesTheLeftHalf) {
  const Array x = array({1, 4}, {2, 3, 1, -1});
  const auto gelu = [](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); };
  const Bench bench = ascend("GeGluV2").in(x).ints("approximate", {0}).outputs(2);
  const Outputs outputs = bench.run();
  expect_near(outputs[0].values, {2 * gelu(1), 3 * gelu(-1)}, 1e-15);
  expect_near(outputs[1].values, {gelu(1), gelu(-1)}, 1e-15);
  expect_near(Bench(bench).ints("activate_left", {1}).values(), {gelu(2), -gelu(3)}, 1e-15);
  EXPECT_THAT(ascend("GeGluV2").in(array({1, 3}, {1, 2, 3})).failure(), HasSubstr("halves"));
}

}  // namespace
}  // namespace opdrift::replay::test
