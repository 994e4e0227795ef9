#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/registry.hpp"
#include "opdrift/replay/replay.hpp"

namespace opdrift::replay::test {

using Values = std::vector<double>;
using Integers = std::vector<std::int64_t>;

inline Array array(tensor::Shape shape, Values values, tensor::DType dtype = tensor::DType::f32) {
  return Array{std::move(shape), std::move(values), dtype};
}

inline Array integers(Values values) {
  return vector_array(std::move(values), tensor::DType::i64);
}

/// Deterministic numbers in (-1, 1) without structure.
inline Array noise(const tensor::Shape& shape, std::uint64_t seed) {
  Array a{shape, Values(count_of(shape)), tensor::DType::f32};
  for (std::size_t i = 0; i < a.size(); ++i) {
    a.values[i] = std::tanh(normal_noise(seed, i));
  }
  return a;
}

/// One operator put together by a test, with the arrays it is called on.
class Bench {
 public:
  explicit Bench(std::string type, int opset = 0) {
    op_.type = std::move(type);
    op_.name = "node";
    op_.opset = opset;
    op_.outputs.resize(1);
  }

  Bench& in(Array a) {
    inputs_.push_back(std::move(a));
    return *this;
  }
  Bench& absent() {
    inputs_.push_back(std::nullopt);
    return *this;
  }
  Bench& delta(std::size_t index, Array a) {
    deltas_.resize(inputs_.size());
    deltas_[index] = std::move(a);
    return *this;
  }
  Bench& ints(const std::string& name, Integers values) {
    op_.attributes[name].kind = graph::Attribute::Kind::integers;
    op_.attributes[name].integers = std::move(values);
    return *this;
  }
  Bench& real(const std::string& name, double value) { return reals(name, {value}); }
  Bench& reals(const std::string& name, Values values) {
    op_.attributes[name].kind = graph::Attribute::Kind::reals;
    op_.attributes[name].reals = std::move(values);
    return *this;
  }
  Bench& text(const std::string& name, const std::string& value) {
    op_.attributes[name].kind = graph::Attribute::Kind::text;
    op_.attributes[name].texts = {value};
    return *this;
  }
  Bench& outputs(std::size_t count) {
    op_.outputs.resize(count);
    return *this;
  }
  Bench& domain(const std::string& name) {
    op_.domain = name;
    return *this;
  }
  Bench& dialect(Dialect dialect) {
    dialect_ = dialect;
    return *this;
  }
  Bench& limits(Limits limits) {
    limits_ = limits;
    return *this;
  }
  graph::Operator& op() { return op_; }

  const OperatorKind& kind() const {
    const OperatorKind* found = find_kind(op_.type, dialect_);
    EXPECT_NE(found, nullptr) << op_.type;
    return *found;
  }
  /// Valid until this bench changes, moves or dies.
  Call call() const {
    const auto point_at = [](const std::vector<std::optional<Array>>& arrays,
                             std::vector<const Array*>& pointers) {
      pointers.clear();
      for (const std::optional<Array>& a : arrays) {
        pointers.push_back(a ? &*a : nullptr);
      }
    };
    point_at(inputs_, input_pointers_);
    point_at(deltas_, delta_pointers_);
    return Call{op_, input_pointers_, delta_pointers_, limits_};
  }

  Result<Outputs> try_run() const { return evaluate(kind(), call()); }
  Outputs run() const {
    Result<Outputs> result = try_run();
    EXPECT_TRUE(result.has_value())
        << op_.type << ": " << (result ? "" : result.error().to_string());
    return result ? *result : Outputs(8);
  }
  Array first() const { return run().front(); }
  Values values() const { return first().values; }
  Terms terms_of(std::size_t index = 0) const {
    const Outputs outputs = run();
    Result<Terms> result = terms(kind(), call(), index, outputs[index]);
    EXPECT_TRUE(result.has_value()) << op_.type;
    return result ? *result : Terms{};
  }
  std::string failure() const {
    const Result<Outputs> result = try_run();
    return result ? "" : result.error().message;
  }

 private:
  graph::Operator op_;
  std::vector<std::optional<Array>> inputs_;
  std::vector<std::optional<Array>> deltas_;
  mutable std::vector<const Array*> input_pointers_;
  mutable std::vector<const Array*> delta_pointers_;
  Dialect dialect_ = Dialect::any;
  Limits limits_;
};

inline void expect_near(const Values& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance) << "element " << i;
  }
}

/// evaluate_at and its terms agree with evaluate and terms at every position.
inline void expect_samples_agree(const Bench& bench) {
  const Array y = bench.first();
  std::vector<std::uint64_t> positions(y.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = positions.size() - 1 - i;
  }
  const Result<Sample> sample = evaluate_at(bench.kind(), bench.call(), y.shape, positions, true);
  ASSERT_TRUE(sample.has_value()) << sample.error().message;
  const Terms whole = bench.terms_of();
  EXPECT_EQ(sample->terms.n, whole.n);
  EXPECT_EQ(sample->terms.weights.empty(), whole.weights.empty());
  EXPECT_EQ(sample->terms.extra.empty(), whole.extra.empty());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_NEAR(sample->values[i], y.values[positions[i]], 1e-12);
    EXPECT_NEAR(sample->terms.a2[i], whole.a2[positions[i]], 1e-12);
    if (!whole.weights.empty()) {
      EXPECT_NEAR(sample->terms.weights[i], whole.weights[positions[i]], 1e-15);
    }
    if (!whole.extra.empty()) {
      EXPECT_NEAR(sample->terms.extra[i], whole.extra[positions[i]], 1e-12);
    }
  }
}

}  // namespace opdrift::replay::test
