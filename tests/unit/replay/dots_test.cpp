#include <array>
#include <limits>
#include <optional>
#include <set>

#include "unit/replay/bench.hpp"

#include "opdrift/replay/dot_plan.hpp"
#include "opdrift/replay/dot_products.hpp"
#include "opdrift/replay/number_format.hpp"

// Sampled sums of products give what the whole operator gives at the same positions.

namespace opdrift::replay::test {
namespace {

class ArrayElements final : public ElementReader {
 public:
  explicit ArrayElements(const Array& array) : array_(array) {}
  void read(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const override {
    for (const std::int64_t offset : offsets) {
      *out++ = array_.values.at(static_cast<std::size_t>(base + offset));
    }
  }

 private:
  const Array& array_;
};

constexpr std::size_t kDots = 100;

std::vector<std::uint64_t> positions_of(const DotPlan& plan, const Array& y) {
  std::vector<std::uint64_t> positions = plan.random_positions(kDots, 5);
  positions.push_back(0);
  positions.push_back(y.size() - 1);
  return positions;
}

void expect_dots_agree(const Bench& bench) {
  const Array y = bench.first();
  const Call call = bench.call();
  const auto plan = plan_dots(bench.kind(), call, y.shape);
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  const std::vector<std::uint64_t> positions = positions_of(**plan, y);
  const Result<Dots> dots = (*plan)->at(positions);
  ASSERT_TRUE(dots.has_value()) << dots.error().to_string();
  const ArrayElements left(*call.inputs[dots->left_input]);
  const ArrayElements right(*call.inputs[dots->right_input]);
  std::optional<ArrayElements> addend;
  if (dots->addend_input) {
    addend.emplace(*call.inputs[*dots->addend_input]);
  }
  RightOperands rights(*dots, {&right, tensor::DType::f16});
  const DotSide side{{&left}, rights, addend ? &*addend : nullptr};
  const std::array<DotSide, 2> sides = {{side, side}};
  const std::vector<Sample> samples = run_dots(*dots, sides, true);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].values, samples[1].values);
  const Terms whole = bench.terms_of();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double slack = 1e-14 * (1.0 + whole.a2[positions[i]]);
    EXPECT_NEAR(samples[0].values[i], y.values[positions[i]], 1e-12 + slack) << positions[i];
    EXPECT_NEAR(samples[0].terms.a2[i], whole.a2[positions[i]], 1e-12 + slack) << positions[i];
    EXPECT_NEAR(samples[0].terms.weights[i], whole.weights[positions[i]], 1e-15) << positions[i];
  }
}

Array narrowing_of(const Array& array) {
  Array delta = array;
  for (double& value : delta.values) {
    value = round_to(value, tensor::DType::f16) - value;
  }
  return delta;
}

Bench weighted(const std::string& type, const Array& x, const Array& w) {
  return Bench(type).in(x).in(w).delta(1, narrowing_of(w));
}

TEST(Dots, MatricesOfEveryLayout) {
  expect_dots_agree(weighted("MatMul", noise({2, 7, 33}, 1), noise({33, 19}, 2)));
  expect_dots_agree(weighted("MatMul", noise({3, 5, 16}, 1), noise({3, 16, 9}, 2)));
  expect_dots_agree(weighted("MatMul", noise({64}, 1), noise({64, 200}, 2)));
  expect_dots_agree(weighted("Gemm", noise({33, 7}, 1), noise({19, 33}, 2))
                        .ints("transA", {1})
                        .ints("transB", {1}));
}

// Neighbouring columns share what they read: 2 rows of 2^17 and more elements of the right operand.
TEST(Dots, MatricesTooLargeForTheCache) {
  expect_dots_agree(weighted("MatMul", noise({12, 260}, 1), noise({260, 515}, 2)));
  expect_dots_agree(weighted("MatMul", noise({9, 20000}, 1), noise({20000, 11}, 2)));
}

TEST(Dots, ConvolutionsWithBordersGroupsAndStrides) {
  expect_dots_agree(weighted("Conv", noise({2, 4, 9, 8}, 1), noise({6, 4, 3, 3}, 2))
                        .ints("pads", {1, 1, 1, 1})
                        .ints("strides", {2, 1}));
  expect_dots_agree(weighted("Conv", noise({1, 6, 7, 7}, 1), noise({6, 1, 3, 3}, 2))
                        .ints("group", {6})
                        .ints("pads", {2, 2, 2, 2})
                        .ints("dilations", {2, 2}));
  expect_dots_agree(
      weighted("Conv", noise({2, 8, 30}, 1), noise({20, 4, 5}, 2)).ints("group", {2}));
  expect_dots_agree(weighted("ConvTranspose", noise({1, 4, 5, 6}, 1), noise({4, 3, 3, 3}, 2))
                        .ints("strides", {2, 2}));
}

// The inputs of the original are read, wherever the other kind has them.
TEST(Dots, OperatorsWrittenAnew) {
  expect_dots_agree(Bench("FullyConnection")
                        .in(noise({30, 2, 3, 2}, 1))
                        .in(noise({20, 2, 3, 2}, 2))
                        .in(noise({20}, 3))
                        .delta(1, narrowing_of(noise({20, 2, 3, 2}, 2))));
  expect_dots_agree(Bench("Conv2DTranspose")
                        .in(integers({1, 3, 12, 13}))
                        .in(noise({1, 4, 5, 6}, 1))
                        .in(noise({4, 3, 3, 3}, 2))
                        .in(noise({3}, 3))
                        .delta(2, narrowing_of(noise({4, 3, 3, 3}, 2)))
                        .ints("strides", {1, 1, 2, 2}));
}

// A place may have no tap at all inside the input, others share its offsets.
TEST(Dots, PlacesThatSeeOnlyPadding) {
  expect_dots_agree(
      weighted("Conv", noise({1, 2, 3, 3}, 1), noise({5, 2, 2, 2}, 2)).ints("pads", {4, 4, 4, 4}));
}

TEST(Dots, RandomPositionsCoverRowsAndColumnsAlike) {
  const Bench bench = weighted("MatMul", noise({64, 300}, 1), noise({300, 520}, 2));
  const auto plan = plan_dots(bench.kind(), bench.call(), {64, 520});
  ASSERT_TRUE(plan.has_value());
  std::set<std::uint64_t> rows;
  std::set<std::uint64_t> columns;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::uint64_t> positions = (*plan)->random_positions(512, seed);
    ASSERT_EQ(positions.size(), 512U);
    EXPECT_EQ(positions, (*plan)->random_positions(512, seed));
    for (const std::uint64_t position : positions) {
      rows.insert(position / 520);
      columns.insert(position % 520);
    }
  }
  EXPECT_EQ(rows.size(), 64U);
  EXPECT_EQ(columns.size(), 520U);
}

TEST(Dots, RandomPositionsOfAConvolutionCoverBatchesGroupsAndChannels) {
  const Bench bench =
      weighted("Conv", noise({3, 8, 6, 6}, 1), noise({20, 4, 1, 1}, 2)).ints("group", {2});
  const auto plan = plan_dots(bench.kind(), bench.call(), {3, 20, 6, 6});
  ASSERT_TRUE(plan.has_value());
  std::set<std::uint64_t> all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::uint64_t position : (*plan)->random_positions(512, seed)) {
      all.insert(position);
    }
  }
  EXPECT_EQ(all.size(), 3U * 20U * 36U);
}

TEST(DotProducts, AgreeWithThePlainSumsAtEveryLength) {
  for (std::size_t count = 0; count < 70; ++count) {
    const Array left = noise({count}, 1);
    const Array right = noise({count}, 2);
    const DotProducts found = dot_products(left.values, right.values);
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      const double product = left.values[k] * right.values[k];
      sum += product;
      squares += product * product;
    }
    EXPECT_NEAR(found.sum, sum, 1e-13) << count;
    EXPECT_NEAR(found.squares, squares, 1e-13) << count;
  }
}

TEST(DotProducts, NarrowingErrorsAreThoseOfRounding) {
  const EvenSteps half{-14, 10};
  Values values = {0.0, -0.0, 1e-7, 6e-8, 6.2e-5, 1.0 / 3.0, -2049.0, 65504.0, 3e38};
  for (std::uint64_t i = 0; i < 300; ++i) {
    values.push_back(std::ldexp(normal_noise(3, i), static_cast<int>(i % 40) - 25));
  }
  Values errors(values.size());
  narrowing_errors(values, half, errors.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rounded = round_to(values[i], tensor::DType::f16);
    if (std::isfinite(rounded)) {
      EXPECT_EQ(errors[i], rounded - values[i]) << values[i];
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Values odd = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  narrowing_errors(odd, half, errors.data());
  EXPECT_EQ(errors[0], 0.0);
  EXPECT_EQ(errors[1], 0.0);
  EXPECT_EQ(errors[2], 0.0);
}

TEST(RandomInPart, StaysInItsPartAndReachesAllOfIt) {
  for (const std::uint64_t end : {1U, 5U, 64U, 1000U}) {
    std::set<std::uint64_t> seen;
    std::uint64_t before = 0;
    for (std::uint64_t part = 0; part < 7; ++part) {
      for (std::uint64_t bits = 0; bits < 2000; ++bits) {
        const std::uint64_t at = random_in_part(bits, part, 7, end);
        ASSERT_LT(at, end);
        ASSERT_GE(at, before);
        seen.insert(at);
      }
      before = *seen.rbegin();
    }
    EXPECT_EQ(seen.size(), end);
  }
  EXPECT_LT(random_in_part(~0ULL, 511, 512, ~0ULL), ~0ULL);
}

}  // namespace
}  // namespace opdrift::replay::test
