#include "opdrift/replay/dot_products.hpp"

#include <bit>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "opdrift/replay/dot_products.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opdrift::replay::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Two sums side by side, so that one addition need not wait for the one before it.
HWY_ATTR void multiply(const double* left, const double* right, std::size_t count, double* sum,
                       double* squares) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto squares0 = hn::Zero(d);
  auto squares1 = hn::Zero(d);
  std::size_t k = 0;
  for (; k + 2 * lanes <= count; k += 2 * lanes) {
    const auto product0 = hn::Mul(hn::LoadU(d, left + k), hn::LoadU(d, right + k));
    const auto product1 = hn::Mul(hn::LoadU(d, left + k + lanes), hn::LoadU(d, right + k + lanes));
    sum0 = hn::Add(sum0, product0);
    sum1 = hn::Add(sum1, product1);
    squares0 = hn::MulAdd(product0, product0, squares0);
    squares1 = hn::MulAdd(product1, product1, squares1);
  }
  *sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  *squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(squares0, squares1)));
  for (; k < count; ++k) {
    const double product = left[k] * right[k];
    *sum += product;
    *squares += product * product;
  }
}

// The exponent stands in the bits of a double. The loop is plain: the compiler makes vectors of it.
HWY_ATTR void errors_of(const double* values, std::size_t count, std::int64_t least,
                        std::int64_t digits, double* errors) {
  for (std::size_t k = 0; k < count; ++k) {
    const auto exponent =
        static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(values[k]) >> 52U & 0x7FFU) - 1023;
    const std::int64_t biased = (exponent > least ? exponent : least) - digits + 1023;
    const auto step = std::bit_cast<double>(static_cast<std::uint64_t>(biased) << 52U);
    errors[k] = narrowing_error(values[k], step);
  }
}

}  // namespace opdrift::replay::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opdrift::replay {

HWY_EXPORT(multiply);
HWY_EXPORT(errors_of);

DotProducts dot_products(std::span<const double> left, std::span<const double> right) {
  DotProducts products;
  HWY_DYNAMIC_DISPATCH(multiply)
  (left.data(), right.data(), left.size(), &products.sum, &products.squares);
  return products;
}

void narrowing_errors(std::span<const double> values, const EvenSteps& steps, double* errors) {
  HWY_DYNAMIC_DISPATCH(errors_of)
  (values.data(), values.size(), steps.least, steps.digits, errors);
}

}  // namespace opdrift::replay
#endif
