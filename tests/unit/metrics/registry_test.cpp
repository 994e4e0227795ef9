#include "opdrift/metrics/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "unit/metrics/oracle.hpp"

namespace opdrift::metrics {
namespace {

using tensor::DType;
using ::testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();

Measurement measured(const std::vector<double>& target, const std::vector<double>& golden,
                     DType dtype = DType::f32) {
  MeasureOptions options;
  options.kl_divergence = true;
  return *measure(testing::view_of(dtype, golden), testing::view_of(dtype, target), options);
}

/// Text of the ten in order, as a drop-in prints them.
std::vector<std::string> reference_texts(const Measurement& m, bool scalar = false) {
  std::vector<std::string> texts;
  for (const Algorithm& row : all_algorithms()) {
    if (row.reference_index >= 0) {
      const AlgorithmInput input = {m, scalar, true};
      texts.push_back(format_value(row, row.compute(input)));
    }
  }
  return texts;
}

AlgorithmValue own_value(const char* name, const Measurement& m) {
  return find_algorithm(name)->compute({m, false, false});
}

// By hand: d = -2 everywhere, |x/y - 1| = 0.4, four elements; a constant normalises to uniform.
TEST(ReferenceAlgorithms, ConstantsThatDiffer) {
  const Measurement m = measured({3, 3, 3, 3}, {5, 5, 5, 5});
  EXPECT_THAT(reference_texts(m), ElementsAre("1.000000", "2.000000", "1.600000", "0.400000",
                                              "0.000000", "(3.000;0.000),(5.000;0.000)", "2.000000",
                                              "2.000000", "0.400000", "0.400000"));
}

// Section 4.2 of the behaviour description: golden zero contributes nothing, distance is 0.
TEST(ReferenceAlgorithms, GoldenOfZeros) {
  const Measurement m = measured({1, -1}, {0, 0});
  const auto texts = reference_texts(m);
  EXPECT_EQ(texts[0], "NaN");
  EXPECT_EQ(texts[1], "1.000000");
  EXPECT_EQ(texts[2], "0.000000");
  EXPECT_EQ(texts[3], "0.000000");
  EXPECT_EQ(texts[8], "0.000000");
  EXPECT_EQ(texts[9], "0.000000");
  const AlgorithmValue cosine = find_algorithm("0")->compute({m, false, true});
  EXPECT_EQ(cosine.note, AlgorithmNote::golden_all_zero);
}

TEST(ReferenceAlgorithms, TargetOfZerosIsNoted) {
  const Measurement m = measured({0, 0}, {1, 2});
  const AlgorithmValue cosine = find_algorithm("CosineSimilarity")->compute({m, false, true});
  EXPECT_EQ(cosine.text, "NaN");
  EXPECT_EQ(cosine.note, AlgorithmNote::target_all_zero);
  EXPECT_EQ(reference_texts(m)[3], "1.000000");
}

TEST(ReferenceAlgorithms, BothZeroPrintsOneShort) {
  EXPECT_THAT(
      reference_texts(measured({0, 0}, {0, 0})),
      ElementsAre("1.0", "0.000000", "0.000000", "0.000000", "0.000000",
                  "(0.000;0.000),(0.000;0.000)", "0.000000", "0.000000", "0.000000", "0.000000"));
}

// Norms of 1e-17 are below 2^-52, so both count as zero; one of them against 1 does not.
TEST(ReferenceAlgorithms, EpsilonsOfTheCosine) {
  EXPECT_EQ(reference_texts(measured({1e-17, 1e-17}, {2e-17, -1e-17}))[0], "1.0");
  EXPECT_EQ(reference_texts(measured({1e-17, 1e-17}, {1, 1}))[0], "1.000000");
  EXPECT_EQ(reference_texts(measured({1e-30, 1e-30}, {1, 1}))[0], "NaN");
}

TEST(ReferenceAlgorithms, TinyGoldenCountsAsZeroInRelativeErrors) {
  const Measurement m = measured({1, 2}, {1e-17, 1});
  const auto texts = reference_texts(m);
  EXPECT_EQ(texts[2], "1.000000");
  EXPECT_EQ(texts[9], "0.500000");
  const AlgorithmValue own = own_value("AccumulatedRelativeError", m);
  EXPECT_GT(own.value, 1e16);
}

TEST(ReferenceAlgorithms, EmptyTensors) {
  const Measurement m = measured({}, {});
  EXPECT_THAT(reference_texts(m), ElementsAre("1.0", "NaN", "0.000000", "0.000000", "NaN",
                                              "(nan;nan),(nan;nan)", "nan", "nan", "NaN", "nan"));
  EXPECT_EQ(find_algorithm("1")->compute({m, false, true}).note, AlgorithmNote::empty_tensor);
}

TEST(ReferenceAlgorithms, ScalarsAreAlwaysParallel) {
  const Measurement m = measured({-2.5}, {2});
  EXPECT_EQ(reference_texts(m, true)[0], "1.000000");
  EXPECT_EQ(find_algorithm("0")->compute({m, true, true}).note, AlgorithmNote::scalar_tensor);
  EXPECT_EQ(reference_texts(m, false)[0], "-1.000000");
}

TEST(ReferenceAlgorithms, NanInTheTarget) {
  EXPECT_THAT(reference_texts(measured({kNan, 1}, {1, 1})),
              ElementsAre("nan", "nan", "nan", "nan", "nan", "(nan;nan),(1.000;0.000)", "nan",
                          "nan", "nan", "nan"));
}

// NaN in the golden counts as relative error 0 there, and as NaN here.
TEST(ReferenceAlgorithms, NanInTheGolden) {
  const Measurement m = measured({1, 1.5}, {kNan, 1});
  EXPECT_THAT(reference_texts(m),
              ElementsAre("nan", "nan", "0.500000", "nan", "nan", "(1.250;0.250),(nan;nan)", "nan",
                          "nan", "0.500000", "0.250000"));
  EXPECT_TRUE(std::isnan(own_value("MeanRelativeError", m).value));
}

TEST(ReferenceAlgorithms, InfinityInTheTarget) {
  EXPECT_THAT(reference_texts(measured({-kInf, 1}, {1, 1})),
              ElementsAre("nan", "inf", "inf", "inf", "nan", "(-inf;nan),(1.000;0.000)", "inf",
                          "inf", "inf", "inf"));
}

TEST(ReferenceAlgorithms, InfinityInTheGolden) {
  EXPECT_THAT(reference_texts(measured({1, 1.5}, {kInf, 1})),
              ElementsAre("nan", "inf", "1.500000", "nan", "nan", "(1.250;0.250),(inf;nan)", "inf",
                          "inf", "1.000000", "0.750000"));
}

TEST(ReferenceAlgorithms, EqualAndOppositeInfinities) {
  EXPECT_THAT(reference_texts(measured({kInf, 1}, {kInf, 1})),
              ElementsAre("nan", "nan", "nan", "nan", "nan", "(inf;nan),(inf;nan)", "nan", "nan",
                          "nan", "nan"));
  EXPECT_THAT(reference_texts(measured({kInf, 1}, {-kInf, 1})),
              ElementsAre("nan", "inf", "nan", "nan", "nan", "(inf;nan),(-inf;nan)", "inf", "inf",
                          "nan", "nan"));
}

// A NaN or infinity beside a golden of zero is masked out of the reference's relative errors.
TEST(ReferenceAlgorithms, NonFiniteBesideAGoldenZero) {
  const Measurement m = measured({kNan, kInf, 2}, {0, 0, 1});
  EXPECT_EQ(reference_texts(m)[2], "1.000000");
  EXPECT_TRUE(std::isnan(own_value("AccumulatedRelativeError", m).value));
}

TEST(ReferenceAlgorithms, BooleansAreRefusedOnlyForTheReference) {
  const Measurement m = measured({1, 0, 1}, {1, 1, 0}, DType::boolean);
  EXPECT_THAT(reference_texts(m), ElementsAre("0.500000", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN",
                                              "NaN", "NaN", "NaN"));
  EXPECT_EQ(find_algorithm("3")->compute({m, false, true}).note,
            AlgorithmNote::boolean_subtraction);
  EXPECT_DOUBLE_EQ(own_value("RelativeEuclideanDistance", m).value, 1.0);
  EXPECT_EQ(reference_texts(measured({1, 0}, {0, 0}, DType::boolean))[3], "0.000000");
}

TEST(OwnAlgorithms, ZerosHaveNoAngleButAgreeWithZeros) {
  EXPECT_EQ(own_value("CosineSimilarity", measured({0, 0}, {0, 0})).value, 1.0);
  EXPECT_EQ(own_value("CosineSimilarity", measured({1e-9, 0}, {1e-9, 0})).value, 1.0);
  EXPECT_EQ(own_value("CosineSimilarity", measured({1, 0}, {0, 0})).text, "NaN");
  EXPECT_EQ(own_value("RelativeL2", measured({1, 0}, {0, 0})).value, kInf);
}

// |d| = 0.01, |y| = 1: 40 dB.
TEST(OwnAlgorithms, SqnrIsMinusTwentyLog) {
  const Measurement m = measured({1.01, 0}, {1, 0}, DType::f64);
  EXPECT_NEAR(own_value("SQNR", m).value, 40.0, 1e-9);
  EXPECT_NEAR(own_value("Bias", m).value, 0.005, 1e-12);
  EXPECT_DOUBLE_EQ(own_value("EqualBits", m).value, 0.5);
}

TEST(OwnAlgorithms, ClassMismatchLeavesNoNumber) {
  EXPECT_EQ(own_value("RelativeL2", measured({kNan, 1}, {1, 1})).note,
            AlgorithmNote::class_mismatch);
  const AlgorithmValue agreed = own_value("RelativeL2", measured({kNan, 1}, {kNan, 1}));
  EXPECT_EQ(agreed.value, 0.0);
  EXPECT_EQ(agreed.note, AlgorithmNote::left_out);
}

// f16 about 1: one unit in the last place is 2^-10.
TEST(OwnAlgorithms, UlpOfTheCoarserType) {
  const Measurement m = measured({1.0, 1.0 + 3 * 0x1p-10}, {1.0, 1.0}, DType::f16);
  EXPECT_EQ(own_value("UlpMax", m).value, 3.0);
  EXPECT_EQ(own_value("UlpMedian", m).value, 0.0);
  EXPECT_EQ(own_value("Ulp99", m).value, 3.0);
  EXPECT_EQ(own_value("UlpMax", measured({1}, {2}, DType::i32)).note, AlgorithmNote::not_floating);
}

TEST(Registry, NamesAndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const Algorithm& row : all_algorithms()) {
    EXPECT_TRUE(seen.insert(std::string(row.name)).second) << row.name;
    for (const std::string_view alias : row.aliases) {
      EXPECT_TRUE(seen.insert(std::string(alias)).second) << alias;
    }
    EXPECT_EQ(find_algorithm(row.name), &row);
  }
}

TEST(Registry, SelectionsKeepTheirOrder) {
  const auto choice = choose_algorithms("7, cosine,bogus,RootMeanSquareError,99,1");
  ASSERT_TRUE(choice.has_value());
  std::vector<std::string> names;
  for (const Algorithm* row : choice->chosen) {
    names.emplace_back(row->name);
  }
  EXPECT_THAT(names, ElementsAre("RootMeanSquareError", "CosineSimilarity", "MaxAbsoluteError"));
  EXPECT_THAT(choice->unknown, ElementsAre("bogus", "99"));
  EXPECT_FALSE(needs_divergence(choice->chosen));
}

TEST(Registry, AllMeansTheTenOfTheReference) {
  const auto choice = choose_algorithms("ALL");
  ASSERT_TRUE(choice.has_value());
  ASSERT_EQ(choice->chosen.size(), 10U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(choice->chosen[static_cast<std::size_t>(i)]->reference_index, i);
  }
  EXPECT_TRUE(needs_divergence(choice->chosen));
}

TEST(Registry, NothingChosenIsAnError) {
  EXPECT_EQ(choose_algorithms(" ").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(choose_algorithms("bogus,18446744073709551616").error().code, ErrorCode::unsupported);
}

TEST(Registry, ValuesPrintAsTheReferencePrintsThem) {
  const Algorithm& cosine = *find_algorithm("0");
  EXPECT_EQ(format_value(cosine, with_note(-std::nan(""), AlgorithmNote::none)), "nan");
  EXPECT_EQ(format_value(cosine, with_note(-kInf, AlgorithmNote::none)), "-inf");
  EXPECT_EQ(format_value(cosine, with_note(1e30, AlgorithmNote::none)),
            "1000000000000000019884624838656.000000");
  EXPECT_EQ(format_value(*find_algorithm("RelativeL2"), with_note(1.25e-7, AlgorithmNote::none)),
            "1.25e-07");
}

}  // namespace
}  // namespace opdrift::metrics
