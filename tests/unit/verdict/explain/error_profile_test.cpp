#include "opdrift/verdict/error_profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/verdict/explain/made_data.hpp"

namespace opdrift::verdict {
namespace {

using tensor::DType;
using testing::activations;
using testing::made_view;

using Values = std::vector<double>;

ErrorProfile profile_of(const Values& golden, const Values& target) {
  auto profile = profile_errors(made_view(golden, {golden.size()}, DType::f64),
                                made_view(target, {target.size()}, DType::f64));
  EXPECT_TRUE(profile.has_value());
  return profile.has_value() ? *profile : ErrorProfile{};
}

bool all_close(const Values& golden, const Values& target, double atol, double rtol) {
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!(std::abs(target[i] - golden[i]) <= atol + rtol * std::abs(golden[i]))) {
      return false;
    }
  }
  return true;
}

double exact_rtol(const Values& golden, const Values& target, double atol) {
  double rtol = 0.0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double beyond = std::abs(target[i] - golden[i]) - atol;
    if (beyond > 0.0) {
      rtol = std::max(rtol, beyond / std::abs(golden[i]));
    }
  }
  return rtol;
}

// The definition is the oracle: pass and fail must be right, and undecided rare.
TEST(ErrorProfile, DecidesAsTheElementsWould) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::size_t undecided = 0;
  std::size_t asked = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Values golden = activations({500}, seed);
    Values target = golden;
    for (double& value : target) {
      value += 1e-3 * value * normal(random) + 1e-4 * normal(random);
    }
    const ErrorProfile profile = profile_of(golden, target);
    EXPECT_LE(profile.bins.size(), 40U);
    for (double atol = 1e-6; atol < 1.0; atol *= 1.7) {
      for (double rtol = 1e-6; rtol < 1.0; rtol *= 1.7) {
        const Decision decision = profile.decide(atol, rtol);
        ++asked;
        undecided += decision == Decision::undecided ? 1U : 0U;
        if (decision != Decision::undecided) {
          EXPECT_EQ(decision == Decision::pass, all_close(golden, target, atol, rtol));
        }
      }
    }
  }
  EXPECT_LT(undecided * 20, asked);
}

TEST(ErrorProfile, SmallestTolerancesEncloseTheTruth) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Values golden = activations({300}, seed);
    Values target = golden;
    for (double& value : target) {
      value += 1e-2 * normal(random);
    }
    const ErrorProfile profile = profile_of(golden, target);
    for (const double atol : {0.0, 1e-4, 1e-2, 3e-2}) {
      const double truth = exact_rtol(golden, target, atol);
      const Bounds bounds = profile.smallest_rtol(atol);
      EXPECT_LE(bounds.low, truth * (1.0 + 1e-12));
      EXPECT_GE(bounds.high, truth * (1.0 - 1e-12));
      // |g| varies by two within a bin, so the bounds stay near each other.
      EXPECT_LE(bounds.high, 2.5 * bounds.low + 1e-300);
    }
    EXPECT_TRUE(profile.smallest_rtol(0.0).exact());
    EXPECT_TRUE(profile.smallest_atol(0.0).exact());
  }
}

// |d| = 1 at g = 0 no rtol can excuse; atol 1 does.
TEST(ErrorProfile, ZeroGoldenNeedsAtol) {
  const ErrorProfile profile = profile_of({0.0, 2.0}, {1.0, 2.0});
  EXPECT_EQ(profile.decide(0.5, 1e9), Decision::fail);
  EXPECT_EQ(profile.decide(1.0, 0.0), Decision::pass);
  EXPECT_TRUE(std::isinf(profile.smallest_rtol(0.5).low));
  EXPECT_EQ(profile.smallest_atol(0.0).low, 1.0);
}

TEST(ErrorProfile, ClassesMustAgree) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(profile_of({1.0, nan}, {1.0, nan}).decide(0.0, 0.0), Decision::pass);
  EXPECT_EQ(profile_of({1.0, nan}, {1.0, nan}).decide(0.0, 0.0, false), Decision::fail);
  EXPECT_EQ(profile_of({inf, 1.0}, {inf, 1.0}).decide(0.0, 0.0), Decision::pass);
  EXPECT_EQ(profile_of({inf, 1.0}, {-inf, 1.0}).decide(1e9, 1e9), Decision::fail);
  EXPECT_EQ(profile_of({1.0}, {nan}).decide(1e9, 1e9), Decision::fail);
  EXPECT_TRUE(std::isinf(profile_of({1.0}, {nan}).smallest_rtol(0.0).high));
}

TEST(ErrorProfile, TolerancesThatAreNoneFail) {
  const ErrorProfile profile = profile_of({1.0}, {1.0});
  EXPECT_EQ(profile.decide(std::nan(""), 0.0), Decision::fail);
  EXPECT_EQ(profile.decide(0.0, -1.0), Decision::fail);
  EXPECT_EQ(profile_of({}, {}).decide(0.0, 0.0), Decision::pass);
}

TEST(ErrorProfile, PartsMergeToTheWhole) {
  const Values golden = activations({4000}, 3);
  Values target = golden;
  for (double& value : target) {
    value *= 1.0 + 1e-3 * std::sin(value * 1e3);
  }
  ErrorProfile merged = profile_of(Values(golden.begin(), golden.begin() + 1500),
                                   Values(target.begin(), target.begin() + 1500));
  merged.merge(profile_of(Values(golden.begin() + 1500, golden.end()),
                          Values(target.begin() + 1500, target.end())));
  const ErrorProfile whole = profile_of(golden, target);
  ASSERT_EQ(merged.bins.size(), whole.bins.size());
  for (std::size_t i = 0; i < whole.bins.size(); ++i) {
    EXPECT_EQ(merged.bins[i].count, whole.bins[i].count);
    EXPECT_EQ(merged.bins[i].largest, whole.bins[i].largest);
    EXPECT_EQ(merged.bins[i].ratio(), whole.bins[i].ratio());
    EXPECT_EQ(merged.bins[i].smallest_golden, whole.bins[i].smallest_golden);
  }
}

TEST(ErrorProfile, UnequalCountsAreRefused) {
  const auto profile =
      profile_errors(made_view({1, 2}, {2}, DType::f32), made_view({1}, {1}, DType::f32));
  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace opdrift::verdict
