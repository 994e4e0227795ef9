#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "unit/verdict/explain/made_data.hpp"

#include "opdrift/verdict/explain/explain.hpp"

/// Asking for explanations of made data.
namespace opdrift::verdict::testing {

using Values = std::vector<double>;

inline std::vector<Explanation> explained(const Values& golden, const Values& target,
                                          const Shape& shape, DType dtype,
                                          const ExplainContext& context = {}) {
  auto result = explain(made_view(golden, shape, DType::f32), made_view(target, shape, dtype),
                        nullptr, context);
  EXPECT_TRUE(result.has_value());
  return result.has_value() ? *result : std::vector<Explanation>{};
}

inline std::string kinds_of(const std::vector<Explanation>& explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    text += std::string(to_string(explanation.kind)) + ": " + explanation.sentence + "\n";
  }
  return text;
}

inline std::uint64_t inner_of(const Shape& shape, std::size_t axis) {
  std::uint64_t inner = 1;
  for (std::size_t k = axis + 1; k < shape.size(); ++k) {
    inner *= shape[k];
  }
  return inner;
}

/// Index of flat position `i` along an axis.
inline std::uint64_t index_along(std::uint64_t i, const Shape& shape, std::size_t axis) {
  return i / inner_of(shape, axis) % shape[axis];
}

inline Values mapped(Values values, const std::function<double(double)>& function) {
  std::transform(values.begin(), values.end(), values.begin(), function);
  return values;
}

/// Values at index c of an axis taken from index map(c).
inline Values taken(const Values& values, const Shape& shape, std::size_t axis,
                    const std::function<std::uint64_t(std::uint64_t)>& map) {
  Values out(values.size());
  const std::uint64_t inner = inner_of(shape, axis);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t c = index_along(i, shape, axis);
    out[i] = values[i - c * inner + map(c) * inner];
  }
  return out;
}

/// Flat data with the axes in another order.
inline Values permuted(const Values& values, const Shape& shape,
                       const std::vector<std::size_t>& order) {
  Values out;
  out.reserve(values.size());
  Shape shuffled;
  for (const std::size_t axis : order) {
    shuffled.push_back(shape[axis]);
  }
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    std::uint64_t source = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      source += index_along(i, shuffled, k) * inner_of(shape, order[k]);
    }
    out.push_back(values[source]);
  }
  return out;
}

inline Values with_range(Values values, std::uint64_t first, std::uint64_t end,
                         const std::function<double(std::uint64_t)>& value) {
  for (std::uint64_t i = first; i < end; ++i) {
    values[i] = value(i);
  }
  return values;
}

inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {{2, 8, 17, 19}, {1, 16, 13, 11}, {33, 65},
                                             {4, 31, 48},    {64, 160},       {6007}};
  return kShapes;
}

}  // namespace opdrift::verdict::testing
