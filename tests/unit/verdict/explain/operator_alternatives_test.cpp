#include "opdrift/verdict/explain/operator_alternatives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verdict/explain/made_data.hpp"

#include "opdrift/replay/registry.hpp"
#include "opdrift/replay/replay.hpp"

namespace opdrift::verdict {
namespace {

using replay::Array;
using tensor::DType;
using tensor::Shape;
using testing::activations;
using ::testing::HasSubstr;
using testing::made_view;

using Values = std::vector<double>;

Array array_of(const Shape& shape, Values values) {
  return {shape, std::move(values)};
}

/// An operator, its inputs, and what a target made of them.
struct Bench {
  graph::Operator op;
  std::vector<Array> inputs;

  std::vector<Explanation> explained(const Values& golden, const Values& target,
                                     const Shape& shape) const {
    const replay::OperatorKind* kind = replay::find_kind(op.type, replay::Dialect::onnx);
    EXPECT_NE(kind, nullptr);
    std::vector<const Array*> pointers;
    for (const Array& input : inputs) {
      pointers.push_back(&input);
    }
    const replay::Call call{op, pointers};
    ExplainContext context;
    context.alternatives = operator_alternatives(*kind, call, DType::f16);
    auto found = explain(made_view(golden, shape, DType::f32), made_view(target, shape, DType::f16),
                         nullptr, context);
    EXPECT_TRUE(found.has_value());
    return found.has_value() ? *found : std::vector<Explanation>{};
  }

  Values replayed() const {
    std::vector<const Array*> pointers;
    for (const Array& input : inputs) {
      pointers.push_back(&input);
    }
    auto outputs = replay::evaluate(*replay::find_kind(op.type, replay::Dialect::onnx),
                                    replay::Call{op, pointers});
    EXPECT_TRUE(outputs.has_value());
    return outputs.has_value() ? outputs->front().values : Values{};
  }
};

Values mapped(Values values, const std::function<double(double)>& function) {
  std::transform(values.begin(), values.end(), values.begin(), function);
  return values;
}

TEST(OperatorAlternatives, AnotherActivationIsNamed) {
  const Shape shape = {30, 40};
  Bench bench;
  bench.op.type = "Relu";
  const Values input = activations(shape, 5);
  bench.inputs = {array_of(shape, input)};
  const auto gelu = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  const auto silu = [](double x) { return x / (1.0 + std::exp(-x)); };
  const std::vector<std::pair<std::function<double(double)>, std::string>> others = {
      {gelu, "exact Gelu"}, {silu, "Silu"}, {[](double x) { return std::tanh(x); }, "Tanh"}};
  for (const auto& [function, name] : others) {
    const auto found = bench.explained(bench.replayed(), mapped(input, function), shape);
    ASSERT_FALSE(found.empty()) << name;
    EXPECT_EQ(found.front().kind, ExplanationKind::other_function);
    EXPECT_THAT(found.front().sentence, HasSubstr("computes " + name + " where Relu"));
  }
}

TEST(OperatorAlternatives, AnotherEpsilonIsNamed) {
  const Shape shape = {24, 64};
  Bench bench;
  bench.op.type = "LayerNormalization";
  graph::Attribute epsilon;
  epsilon.kind = graph::Attribute::Kind::real;
  epsilon.reals = {1e-3};
  // Small rows: epsilon weighs as much as the variance.
  bench.inputs = {array_of(shape, mapped(activations(shape, 5), [](double x) { return 0.02 * x; })),
                  array_of({64}, Values(64, 1.0))};
  const Values golden = bench.replayed();
  bench.op.attributes["epsilon"] = epsilon;
  const Values target = bench.replayed();
  bench.op.attributes.clear();
  const auto found = bench.explained(golden, target, shape);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::other_function);
  EXPECT_THAT(found.front().sentence, HasSubstr("adds epsilon 0.001 where 1e-05 is expected"));
}

TEST(OperatorAlternatives, TheKindItWasTakenForIsNamed) {
  const Shape shape = {6, 8, 16};
  for (const auto& [kind, other] :
       {std::pair("Mul", "Add"), std::pair("Add", "Sub"), std::pair("Max", "Min")}) {
    Bench bench;
    bench.op.type = kind;
    bench.inputs = {array_of(shape, activations(shape, 5)), array_of(shape, activations(shape, 6))};
    const Values golden = bench.replayed();
    bench.op.type = other;
    const Values target = bench.replayed();
    bench.op.type = kind;
    const auto found = bench.explained(golden, target, shape);
    ASSERT_FALSE(found.empty()) << kind;
    EXPECT_THAT(found.front().sentence,
                HasSubstr(std::string("computes ") + other + " where " + kind + " is expected"));
  }
}

// The sum in float16 after every term, products rounded: the definition, term by term.
TEST(OperatorAlternatives, HalfAccumulationOfAProduct) {
  const std::size_t m = 12;
  const std::size_t k = 700;
  const std::size_t n = 20;
  Bench bench;
  bench.op.type = "MatMul";
  bench.inputs = {array_of({m, k}, testing::stored(activations({m, k}, 1), DType::f16)),
                  array_of({k, n}, testing::stored(activations({k, n}, 2), DType::f16))};
  Values target;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t l = 0; l < k; ++l) {
        const double product = tensor::round_through(
            DType::f16, bench.inputs[0].values[i * k + l] * bench.inputs[1].values[l * n + j]);
        sum = tensor::round_through(DType::f16, sum + product);
      }
      target.push_back(sum);
    }
  }
  const auto found = bench.explained(bench.replayed(), target, {m, n});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::half_accumulation);
  EXPECT_THAT(found.front().sentence, HasSubstr("sums are kept in float16, products rounded"));
  EXPECT_EQ(found.front().residual, 0.0);
}

TEST(OperatorAlternatives, HalfAccumulationOfAConvolution) {
  Bench bench;
  bench.op.type = "Conv";
  graph::Attribute pads;
  pads.kind = graph::Attribute::Kind::integers;
  pads.integers = {1, 1, 1, 1};
  bench.op.attributes["pads"] = pads;
  const std::size_t channels = 64;
  bench.inputs = {array_of({1, channels, 6, 5},
                           testing::stored(activations({1, channels, 6, 5}, 1), DType::f16)),
                  array_of({8, channels, 3, 3},
                           testing::stored(activations({8, channels, 3, 3}, 2), DType::f16)),
                  array_of({8}, activations({8}, 3))};
  Values target;
  for (std::size_t o = 0; o < 8; ++o) {
    for (std::size_t p = 0; p < 30; ++p) {
      double sum = 0.0;
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t t = 0; t < 9; ++t) {
          const std::size_t y = p / 5 + t / 3;
          const std::size_t x = p % 5 + t % 3;
          if (y < 1 || y > 6 || x < 1 || x > 5) {
            continue;
          }
          sum = tensor::round_through(DType::f16,
                                      sum + bench.inputs[0].values[(c * 6 + y - 1) * 5 + x - 1] *
                                                bench.inputs[1].values[(o * channels + c) * 9 + t]);
        }
      }
      target.push_back(sum + bench.inputs[2].values[o]);
    }
  }
  const auto found = bench.explained(bench.replayed(), target, {1, 8, 6, 5});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::half_accumulation);
}

TEST(OperatorAlternatives, OtherKindsHaveNone) {
  Bench bench;
  bench.op.type = "Concat";
  const Array one = array_of({2}, {1.0, 2.0});
  const std::vector<const Array*> inputs = {&one, &one};
  const replay::Call call{bench.op, inputs};
  EXPECT_TRUE(operator_alternatives(*replay::find_kind("Concat"), call, DType::f16).empty());
  bench.op.type = "MatMul";
  EXPECT_TRUE(operator_alternatives(*replay::find_kind("MatMul"), call, DType::f32).empty());
}

TEST(OperatorAlternatives, InputsThatDoNotFitGiveNothing) {
  Bench bench;
  bench.op.type = "MatMul";
  bench.inputs = {array_of({2, 3}, Values(6, 1.0))};
  EXPECT_TRUE(bench.explained({1, 2, 3, 4}, {2, 1, 5, 4}, {2, 2}).empty());
  bench.op.type = "Relu";
  bench.inputs = {array_of({2}, Values(2, 1.0))};
  EXPECT_TRUE(bench.explained({1, 2, 3, 4}, {2, 1, 5, 4}, {2, 2}).empty());
}

}  // namespace
}  // namespace opdrift::verdict
