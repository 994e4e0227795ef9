#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/dots.hpp"
#include "opdrift/replay/kind.hpp"

// Weighted kinds as dot products that can be taken one by one.

namespace opdrift::replay {

/// One weighted operator, planned. Refers to the arrays it was planned from.
class DotPlan {
 public:
  DotPlan() = default;
  DotPlan(const DotPlan&) = delete;
  DotPlan& operator=(const DotPlan&) = delete;
  virtual ~DotPlan() = default;

  /// `count` positions of the output at random, with repeats, from `seed` alone. Where operands lie
  /// scattered, some that follow each other share what they read: eight channels at one place of a
  /// convolution; four neighbouring columns of the product of a large matrix, at four rows.
  virtual std::vector<std::uint64_t> random_positions(std::size_t count,
                                                      std::uint64_t seed) const = 0;

  /// The dot products behind flat positions of the output. Fails with `limit`.
  virtual Result<Dots> at(std::span<const std::uint64_t> positions) const = 0;
};

/// Plans MatMul, Gemm, Linear, AddMatMul, Conv and ConvTranspose, and what is one of them rewritten
/// (kinds/ascend/rewrite.hpp). The arrays of `call` need shapes only, but for small ones. Fails
/// with `unsupported` for other kinds, shapes that do not fit, or an output of another shape than
/// `output`.
Result<std::unique_ptr<const DotPlan>> plan_dots(const OperatorKind& kind, const Call& call,
                                                 const tensor::Shape& output);

}  // namespace opdrift::replay
