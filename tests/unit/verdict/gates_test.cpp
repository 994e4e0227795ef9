#include "opdrift/verdict/gates.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "opdrift/verdict/result.hpp"

namespace opdrift::verdict {
namespace {

/// n pairs of golden 1 and target 1 + error.
metrics::Measurement shifted(double error, tensor::DType target) {
  metrics::Measurement m;
  m.count = m.finite_pairs = 100;
  m.golden.dtype = tensor::DType::f32;
  m.target.dtype = target;
  m.sum_golden2 = 100;
  m.sum_target2 = 100 * (1 + error) * (1 + error);
  m.sum_product = 100 * (1 + error);
  m.sum_d2 = 100 * error * error;
  m.max_abs = {error, 0, 1, 1 + error};
  m.max_relative = error;
  return m;
}

TEST(Gates, DefaultLimitFollowsTheCoarserType) {
  EXPECT_DOUBLE_EQ(default_relative_l2(tensor::DType::f32, tensor::DType::f32), 1e-3);
  EXPECT_DOUBLE_EQ(default_relative_l2(tensor::DType::f32, tensor::DType::f16), 32.0 / 2048.0);
  EXPECT_DOUBLE_EQ(default_relative_l2(tensor::DType::bf16, tensor::DType::f32), 32.0 / 256.0);
  EXPECT_DOUBLE_EQ(default_relative_l2(tensor::DType::i32, tensor::DType::i32), 0.0);
  EXPECT_TRUE(apply({}, shifted(0.01, tensor::DType::f16)).passed);
  EXPECT_FALSE(apply({}, shifted(0.01, tensor::DType::f32)).passed);
}

TEST(Gates, ParsesEveryGateAndSwitchesTheDefaultOff) {
  const auto gates = parse_gates("cosine=0.99,rel_l2=0.5, max_abs=1e-2 ,max_rel=0.1");
  ASSERT_TRUE(gates);
  EXPECT_FALSE(gates->default_relative_l2);
  EXPECT_DOUBLE_EQ(*gates->max_abs, 1e-2);
  EXPECT_TRUE(apply(*gates, shifted(0.01, tensor::DType::f32)).passed);
  const GateOutcome outcome = apply(*gates, shifted(0.2, tensor::DType::f32));
  EXPECT_FALSE(outcome.passed);
  EXPECT_NE(outcome.reason.find("max abs error"), std::string::npos);
}

TEST(Gates, RefusesWhatIsNoGateOrNoNumber) {
  for (const char* text : {"", "cosine", "cosine=", "cosine=x", "cosine=nan", "speed=1", "a=1,"}) {
    EXPECT_FALSE(parse_gates(text)) << text;
  }
}

TEST(Gates, NanNeverPassesAGate) {
  metrics::Measurement m = shifted(0.0, tensor::DType::f32);
  m.sum_d2 = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(apply({}, m).passed);
  m.max_abs.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(apply(*parse_gates("max_abs=1"), m).passed);
  m.sum_target2 = 0.0;  // cosine against a zero vector is not a number
  EXPECT_FALSE(apply(*parse_gates("cosine=-1"), m).passed);
}

TEST(Gates, LimitsThatDecideNothingAreMistakes) {
  for (const char* text : {"cosine=2", "cosine=99", "cosine=-1.5", "max_abs=-1", "max_rel=-0.01",
                           "rel_l2=-1e-9", "sqnr=nan"}) {
    EXPECT_FALSE(parse_gates(text)) << text;
  }
  for (const char* text : {"cosine=1", "cosine=-1", "max_abs=0", "sqnr=-5", "sqnr=20"}) {
    EXPECT_TRUE(parse_gates(text)) << text;
  }
}

// Relative errors are taken where the golden is not 0: nowhere.
TEST(Gates, AGoldenOfZerosHasNoRelativeErrorToPassWith) {
  metrics::Measurement m;
  m.count = m.finite_pairs = 4;
  m.max_abs.value = 5.0;
  EXPECT_FALSE(apply(*parse_gates("max_rel=0.01"), m).passed);
  m.max_abs.value = 0.0;
  EXPECT_TRUE(apply(*parse_gates("max_rel=0.01"), m).passed);
}

TEST(Gates, AnotherClassFailsWhateverTheNumbers) {
  metrics::Measurement m = shifted(0.0, tensor::DType::f32);
  m.class_mismatches = 1;
  EXPECT_FALSE(apply(*parse_gates("rel_l2=1"), m).passed);
}

TEST(RunResult, WorstComesFirstAndUnreadableBeforeAll) {
  RunResult result;
  for (const double error : {0.1, 0.5, 0.0}) {
    TensorResult tensor;
    tensor.measurement = shifted(error, tensor::DType::f32);
    tensor.passed = error < 0.2;
    result.tensors.push_back(tensor);
  }
  result.tensors.emplace_back();
  EXPECT_EQ(worst_first(result), (std::vector<std::size_t>{3, 1, 0, 2}));
  EXPECT_EQ(result.failed(), 2U);
  EXPECT_EQ(result.first_offender(), &result.tensors[1]);
}

TEST(RunResult, TotalsCountEachSideAndAddUp) {
  RunResult result;
  for (int i = 0; i < 7; ++i) {
    result.ledger.push_back({RunSide::golden, "f", "", static_cast<LedgerState>(i), ""});
  }
  result.ledger.push_back({RunSide::target, "g", "", LedgerState::equal, ""});
  EXPECT_EQ(result.totals(RunSide::golden).all(), 7U);
  EXPECT_EQ(result.totals(RunSide::golden).unreadable, 1U);
  EXPECT_EQ(result.totals(RunSide::target).equal, 1U);
}

TEST(Gates, AllCloseReadsItsTolerancesOrThoseOfTheDtype) {
  EXPECT_TRUE(parse_gates("allclose")->allclose);
  EXPECT_FALSE(parse_gates("allclose")->allclose->rtol);
  EXPECT_DOUBLE_EQ(*parse_gates("allclose=1e-3")->allclose->rtol, 1e-3);
  EXPECT_DOUBLE_EQ(*parse_gates("cosine=0.9,allclose=1e-3:1e-5")->allclose->atol, 1e-5);
  for (const char* text : {"allclose=", "allclose=x", "allclose=1:", "allclose=1:2:3",
                           "allclose=-1", "allclose:1", "allcloses"}) {
    EXPECT_FALSE(parse_gates(text)) << text;
  }
}

TEST(Gates, AllCloseIsDecidedByTheProfile) {
  ErrorProfile profile;
  profile.bins = {{0, 100, 0.01, 1.0, 0.01, 1.0, 1.0}};
  const metrics::Measurement m = shifted(0.01, tensor::DType::f32);
  EXPECT_TRUE(apply(*parse_gates("allclose=0.02:0"), m, &profile).passed);
  const GateOutcome failed = apply(*parse_gates("allclose=0.005:0"), m, &profile);
  EXPECT_FALSE(failed.passed);
  EXPECT_NE(failed.reason.find("rtol 0.01 would do"), std::string::npos) << failed.reason;
}

TEST(Gates, AllCloseThatCannotBeDecidedDoesNotPass) {
  metrics::Measurement m = shifted(0.01, tensor::DType::f32);
  EXPECT_TRUE(apply(*parse_gates("allclose=0:0.02"), m).passed);
  EXPECT_FALSE(apply(*parse_gates("allclose=0:0.001"), m).passed);
  EXPECT_FALSE(apply(*parse_gates("allclose=0.05:0"), m).passed);
}

}  // namespace
}  // namespace opdrift::verdict
