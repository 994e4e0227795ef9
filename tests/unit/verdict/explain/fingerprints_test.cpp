#include "opdrift/verdict/explain/fingerprints.hpp"

#include <gtest/gtest.h>

#include "unit/verdict/explain/made_data.hpp"

namespace opdrift::verdict {
namespace {

using tensor::DType;
using testing::activations;
using testing::made_view;

using Values = std::vector<double>;

TEST(Fingerprints, EqualBytesAreFoundWhole) {
  TensorFingerprints index;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    index.add(made_view(activations({17, 31}, seed), {17, 31}, DType::f16), std::to_string(seed));
  }
  for (const std::uint32_t seed : {0U, 99U, 199U}) {
    const auto matches = index.find(made_view(activations({17, 31}, seed), {31, 17}, DType::f16));
    ASSERT_FALSE(matches.empty());
    EXPECT_TRUE(matches[0].whole);
    EXPECT_EQ(index.label(matches[0].tensor), std::to_string(seed));
  }
  EXPECT_TRUE(index.find(made_view(activations({17, 31}, 300), {17, 31}, DType::f16)).empty());
}

TEST(Fingerprints, OneBitIsAnotherTensor) {
  Values values = activations({64}, 1);
  TensorFingerprints index;
  index.add(made_view(values, {64}, DType::f32), "a");
  values[63] += 1e-6;
  const auto matches = index.find(made_view(values, {64}, DType::f32));
  ASSERT_FALSE(matches.empty());
  EXPECT_FALSE(matches[0].whole);
}

TEST(Fingerprints, PartsAreFoundAndGrown) {
  const Values source = activations({8192}, 1);
  const auto source_view = made_view(source, {8192}, DType::f32);
  TensorFingerprints index;
  index.add(source_view, "source");
  Values values = activations({4096}, 2);
  std::copy(source.begin() + 3003, source.begin() + 3603, values.begin() + 1003);
  const auto view = made_view(values, {4096}, DType::f32);
  const auto matches = index.find(view);
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_FALSE(matches[0].whole);
  const FingerprintMatch grown = TensorFingerprints::grown(matches[0], view, source_view);
  EXPECT_EQ(grown.first, 1003U * 4U);
  EXPECT_EQ(grown.end, 1603U * 4U);
  EXPECT_EQ(grown.source, 3003U * 4U);
}

TEST(Fingerprints, ZerosMatchNothing) {
  TensorFingerprints index;
  index.add(made_view(Values(640, 0.0), {640}, DType::f32), "zeros");
  index.add(made_view(Values(640, 1.5), {640}, DType::f32), "constant");
  EXPECT_TRUE(index.find(made_view(Values(640, 0.0), {640}, DType::f32)).empty());
  EXPECT_TRUE(index.find(made_view(Values(640, 1.5), {640}, DType::f32)).empty());
}

// Less than a block says nothing: single numbers are alike by chance.
TEST(Fingerprints, SmallAndEmptyTensorsMatchNothing) {
  TensorFingerprints index;
  index.add(made_view({1.0, 2.0}, {2}, DType::f32), "small");
  index.add(made_view({}, {0}, DType::f32), "empty");
  EXPECT_TRUE(index.find(made_view({1.0, 2.0}, {2}, DType::f32)).empty());
  EXPECT_TRUE(index.find(made_view({}, {0}, DType::f32)).empty());
}

}  // namespace
}  // namespace opdrift::verdict
