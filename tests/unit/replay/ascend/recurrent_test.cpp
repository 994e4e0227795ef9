#include "unit/replay/ascend/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSteps = 3;
constexpr std::size_t kBatch = 2;
constexpr std::size_t kInput = 2;
constexpr std::size_t kHidden = 3;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// The cell written out, block `order[g]` of the columns holding gate g of i, j, f, o.
Values plain_cell(const Array& x, const Array& w, const Array& b, const Array& h0, const Array& c0,
                  const std::vector<std::size_t>& order, double forget) {
  Values h = h0.values;
  Values c = c0.values;
  Values y;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Values old = h;
    for (std::size_t n = 0; n < kBatch; ++n) {
      for (std::size_t u = 0; u < kHidden; ++u) {
        Values gate(4);
        for (std::size_t g = 0; g < 4; ++g) {
          const std::size_t column = order[g] * kHidden + u;
          gate[g] = b.values[column];
          for (std::size_t k = 0; k < kInput + kHidden; ++k) {
            const double in = k < kInput ? x.values[(t * kBatch + n) * kInput + k]
                                         : old[n * kHidden + k - kInput];
            gate[g] += in * w.values[k * 4 * kHidden + column];
          }
        }
        double& cell = c[n * kHidden + u];
        cell = sigmoid(gate[2] + forget) * cell + sigmoid(gate[0]) * std::tanh(gate[1]);
        h[n * kHidden + u] = sigmoid(gate[3]) * std::tanh(cell);
      }
    }
    y.insert(y.end(), h.begin(), h.end());
  }
  return y;
}

TEST(AscendDynamicRNN, IsTheCellWrittenOut) {
  const Array x = noise({kSteps, kBatch, kInput}, 1);
  const Array w = noise({kInput + kHidden, 4 * kHidden}, 2);
  const Array b = noise({4 * kHidden}, 3);
  const Array h = noise({1, kBatch, kHidden}, 4);
  const Array c = noise({1, kBatch, kHidden}, 5);
  const auto net = [&] {
    return ascend("DynamicRNN").in(x).in(w).in(b).absent().in(h).in(c).outputs(2);
  };
  const Outputs outputs = net().real("forget_bias", 1).run();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].shape, (tensor::Shape{kSteps, kBatch, kHidden}));
  expect_near(outputs[0].values, plain_cell(x, w, b, h, c, {0, 1, 2, 3}, 1), 1e-14);
  EXPECT_EQ(outputs[1].values, outputs[0].values);
  expect_near(net().text("gate_order", "ifjo").values(), plain_cell(x, w, b, h, c, {0, 2, 1, 3}, 0),
              1e-14);
  EXPECT_EQ(net().terms_of().n, kInput + kHidden);
  EXPECT_EQ(Bench(net()).delta(1, noise(w.shape, 6)).terms_of().weights.size(), outputs[0].size());
}

TEST(AscendDynamicRNN, RefusesOtherCells) {
  const Array x = noise({kSteps, kBatch, kInput}, 1);
  const Array w = noise({kInput + kHidden, 4 * kHidden}, 2);
  const Array b = noise({4 * kHidden}, 3);
  const auto net = [&] { return ascend("DynamicRNN").in(x).in(w).in(b); };
  EXPECT_THAT(net().text("cell_type", "GRU").failure(), HasSubstr("no plain one"));
  EXPECT_THAT(net().text("direction", "BIDIRECTIONAL").failure(), HasSubstr("no plain one"));
  EXPECT_THAT(net().in(integers({1, 2})).failure(), HasSubstr("different lengths"));
  EXPECT_THAT(ascend("DynamicRNN").in(x).in(noise({4, 12}, 2)).in(b).failure(),
              HasSubstr("do not fit"));
  EXPECT_THAT(ascend("DynamicRNN").in(x).in(w).in(noise({5}, 3)).failure(), HasSubstr("one bias"));
}

/// h = (1 - z) n + z h', n = tanh(x part + r (h part)) or tanh(x part + h part of r h').
Values plain_unit(const Array& x, const Array& w, const Array& r, const Array& bw, const Array& br,
                  bool reset_after, std::size_t update) {
  Values h(kBatch * kHidden, 0.0);
  Values y;
  const auto column = [](const Array& m, const double* in, std::size_t count, std::size_t c) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += in[k] * m.values[k * 3 * kHidden + c];
    }
    return sum;
  };
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Values old = h;
    for (std::size_t n = 0; n < kBatch; ++n) {
      const double* in = x.values.data() + (t * kBatch + n) * kInput;
      const double* state = old.data() + n * kHidden;
      Values z(kHidden);
      Values reset(kHidden);
      Values kept(kHidden);
      for (std::size_t u = 0; u < kHidden; ++u) {
        const std::size_t at = update * kHidden + u;
        const std::size_t other = (1 - update) * kHidden + u;
        z[u] = sigmoid(column(w, in, kInput, at) + bw.values[at] + column(r, state, kHidden, at) +
                       br.values[at]);
        reset[u] = sigmoid(column(w, in, kInput, other) + bw.values[other] +
                           column(r, state, kHidden, other) + br.values[other]);
        kept[u] = reset[u] * state[u];
      }
      for (std::size_t u = 0; u < kHidden; ++u) {
        const std::size_t at = 2 * kHidden + u;
        const double recurrent = reset_after
                                     ? reset[u] * (column(r, state, kHidden, at) + br.values[at])
                                     : column(r, kept.data(), kHidden, at) + br.values[at];
        const double fresh = std::tanh(column(w, in, kInput, at) + bw.values[at] + recurrent);
        h[n * kHidden + u] = (1 - z[u]) * fresh + z[u] * state[u];
      }
    }
    y.insert(y.end(), h.begin(), h.end());
  }
  return y;
}

TEST(AscendDynamicGRU, IsTheUnitWrittenOut) {
  const Array x = noise({kSteps, kBatch, kInput}, 1);
  const Array w = noise({kInput, 3 * kHidden}, 2);
  const Array r = noise({kHidden, 3 * kHidden}, 3);
  const Array bw = noise({3 * kHidden}, 4);
  const Array br = noise({3 * kHidden}, 5);
  const auto net = [&] { return ascend("DynamicGRUV2").in(x).in(w).in(r).in(bw).in(br); };
  EXPECT_EQ(net().first().shape, (tensor::Shape{kSteps, kBatch, kHidden}));
  expect_near(net().values(), plain_unit(x, w, r, bw, br, true, 0), 1e-14);
  expect_near(net().ints("reset_after", {0}).values(), plain_unit(x, w, r, bw, br, false, 0),
              1e-14);
  expect_near(net().text("gate_order", "rzh").values(), plain_unit(x, w, r, bw, br, true, 1),
              1e-14);
  EXPECT_EQ(net().terms_of().n, kInput + kHidden);
  EXPECT_THAT(net().text("gate_order", "hzr").failure(), HasSubstr("another order"));
  EXPECT_THAT(ascend("DynamicGRUV2").in(x).in(r).in(r).failure(), HasSubstr("do not fit"));
  EXPECT_THAT(net().in(integers({1, 2})).failure(), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace opdrift::replay::test
