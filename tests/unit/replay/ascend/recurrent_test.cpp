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
  EXPECT_THAT(net().text("cell_type", "GRU").failure(), HasSubstr("no plain LSTM"));
  EXPECT_THAT(net().text("direction", "BIDIRECTIONAL").failure(), HasSubstr("no plain LSTM"));
  EXPECT_THAT(net().in(integers({1, 2})).failure(), HasSubstr("different lengths"));
  EXPECT_THAT(ascend("DynamicRNN").in(x).in(noise({4, 12}, 2)).in(b).failure(),
              HasSubstr("do not fit"));
  EXPECT_THAT(ascend("DynamicRNN").in(x).in(w).in(noise({5}, 3)).failure(), HasSubstr("one bias"));
}

}  // namespace
}  // namespace opdrift::replay::test
