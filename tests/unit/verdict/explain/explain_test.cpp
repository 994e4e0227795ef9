#include "opdrift/verdict/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verdict/explain/explaining.hpp"

namespace opdrift::verdict {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::View;
using testing::activations;
using testing::explained;
using ::testing::HasSubstr;
using testing::kinds_of;
using testing::made_view;
using testing::mapped;
using testing::permuted;
using testing::shapes;
using testing::stored;
using testing::Values;
using testing::with_range;

TEST(Explain, RoundingAloneNeedsNoExplanation) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::e4m3fn}) {
    for (const Shape& shape : shapes()) {
      const Values golden = mapped(activations(shape, 5), [](double x) { return x * 0.37; });
      const auto found = explained(golden, golden, shape, dtype);
      EXPECT_TRUE(found.empty()) << tensor::name_of(dtype) << "\n" << kinds_of(found);
    }
  }
}

TEST(Explain, NoiseHasNoExplanation) {
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  for (const Shape& shape : shapes()) {
    const Values golden = activations(shape, 5);
    const Values noisy = mapped(golden, [&](double x) { return x + 0.05 * normal(random); });
    const Values other = activations(shape, 6);
    const auto of_noisy = explained(golden, noisy, shape, DType::f16);
    const auto of_other = explained(golden, other, shape, DType::f16);
    EXPECT_TRUE(of_noisy.empty()) << tensor::to_string(shape) << "\n" << kinds_of(of_noisy);
    EXPECT_TRUE(of_other.empty()) << tensor::to_string(shape) << "\n" << kinds_of(of_other);
  }
}

// Another tensor a thousand times smaller: 99.9999 % of the error goes away when the golden is
// scaled to nothing, which explains nothing.
TEST(Explain, SmallTargetIsNotAScaledGolden) {
  const Shape shape = {64, 80};
  const Values other = mapped(activations(shape, 6), [](double x) { return 1e-3 * x; });
  EXPECT_TRUE(explained(activations(shape, 5), other, shape, DType::f32).empty());
}

TEST(Explain, TruncationToItsOwnTypeIsFound) {
  const Shape shape = {40, 50};
  const Values golden = activations(shape, 5);
  const Values target = mapped(golden, [](double x) {
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
    return x == 0.0 ? 0.0 : std::trunc(x / step) * step;
  });
  const auto found = explained(golden, target, shape, DType::f16);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, ExplanationKind::truncated);
  EXPECT_THAT(found.front().sentence, HasSubstr("float16"));
}

TEST(Explain, SaturationIsNamedByItsLimit) {
  const Shape shape = {30, 40};
  const Values golden = mapped(activations(shape, 5), [](double x) { return 50000.0 * x; });
  const Values target = mapped(golden, [](double x) { return std::clamp(x, -65504.0, 65504.0); });
  const auto found = explained(golden, target, shape, DType::f16);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::clamped);
  EXPECT_THAT(found.front().sentence, HasSubstr("65504 (the largest float16)"));
  EXPECT_EQ(found.front().residual < 1e-3, true);
}

// Values before rounding differ by noise, so no refit meets them; that every value is a bfloat16
// number and the error is that of bfloat16 still proves it.
TEST(Explain, StorageInANarrowTypeIsSeenThroughNoise) {
  const Shape shape = {40, 50};
  const Values golden = activations(shape, 5);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Values noisy = mapped(golden, [&](double x) { return x * (1.0 + 1e-3 * normal(random)); });
  const auto found = explained(golden, stored(noisy, DType::bf16), shape, DType::f32);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::rounded);
  EXPECT_THAT(found.front().sentence, HasSubstr("bfloat16"));
}

TEST(Explain, StaleBufferIsNamedByItsOwner) {
  const Shape shape = {4, 31, 48};
  const View stale = made_view(activations(shape, 77), shape, DType::f16);
  TensorFingerprints index;
  index.add(made_view(activations(shape, 78), shape, DType::f16), "step 3, relu_7");
  index.add(stale, "step 2, conv_4");
  ExplainContext context;
  context.fingerprints = &index;
  const View golden = made_view(activations(shape, 5), shape, DType::f32);
  auto found = explain(golden, stale, nullptr, context);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().kind, ExplanationKind::other_tensor);
  EXPECT_THAT(found->front().sentence, HasSubstr("step 2, conv_4"));
  context.without = {"step 2, conv_4"};
  found = explain(golden, stale, nullptr, context);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->empty());
}

TEST(Explain, OverwrittenRangeIsNamedByItsOwner) {
  const Shape shape = {40, 128};
  const Values other = stored(activations({6000}, 9), DType::f16);
  TensorFingerprints index;
  index.add(made_view(other, {6000}, DType::f16), "conv_4");
  ExplainContext context;
  context.fingerprints = &index;
  const Values golden = activations(shape, 5);
  const Values target =
      with_range(golden, 1024, 2048, [&](std::uint64_t i) { return other[i + 496]; });
  const auto found = explained(golden, target, shape, DType::f16, context);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::overwritten) << kinds_of(found);
  EXPECT_THAT(found.front().sentence, HasSubstr("bytes 2048 to 4095"));
  EXPECT_THAT(found.front().sentence, HasSubstr("both ends at multiples of 32 bytes"));
  EXPECT_THAT(found.front().sentence, HasSubstr("conv_4, 992 further on"));
}

TEST(Explain, BlockedLayoutsAreRecognised) {
  const Shape shape = {2, 32, 5, 7};
  const Values golden = activations(shape, 5);
  const Values blocks = permuted(golden, {2, 2, 16, 5, 7}, {0, 1, 3, 4, 2});
  const auto found = explained(golden, blocks, shape, DType::f16);
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found.front().sentence, HasSubstr("NC1HWC0"));
  const Shape matrix = {48, 64};
  const Values plain = activations(matrix, 5);
  const auto fractal =
      explained(plain, permuted(plain, {3, 16, 4, 16}, {2, 0, 1, 3}), matrix, DType::f16);
  ASSERT_FALSE(fractal.empty());
  EXPECT_THAT(fractal.front().sentence, HasSubstr("FRACTAL_NZ"));
}

TEST(Explain, ExchangedTilesAreFound) {
  const Shape shape = {40, 56};
  const Values golden = activations(shape, 5);
  Values target = golden;
  for (std::size_t y = 0; y < 16; ++y) {
    for (std::size_t x = 0; x < 16; ++x) {
      std::swap(target[y * 56 + x + 16], target[(y + 16) * 56 + x + 32]);
    }
  }
  const auto found = explained(golden, target, shape, DType::bf16);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::swapped_rows);
  EXPECT_THAT(found.front().sentence,
              HasSubstr("tiles [0 to 15, 16 to 31] and [16 to 31, 32 to 47] are exchanged"));
}

TEST(Explain, CropsAndPadsOfOtherCountsAreFound) {
  const Values whole = activations({2, 3, 20, 24}, 5);
  Values part;
  for (std::uint64_t i = 0; i < whole.size(); ++i) {
    const std::uint64_t y = i / 24 % 20;
    const std::uint64_t x = i % 24;
    if (y >= 4 && y < 16 && x >= 2 && x < 18) {
      part.push_back(whole[i]);
    }
  }
  const View large = made_view(whole, {2, 3, 20, 24}, DType::f32);
  const View small = made_view(part, {2, 3, 12, 16}, DType::f16);
  auto found = explain(large, small, nullptr, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().kind, ExplanationKind::cropped);
  EXPECT_THAT(found->front().sentence, HasSubstr("part of the golden at offsets (0, 0, 4, 2)"));
  found = explain(small, large, nullptr, {});
  ASSERT_EQ(found->size(), 1U);
  EXPECT_THAT(found->front().sentence, HasSubstr("golden is a part of the target"));
}

TEST(Explain, AlternativesAreTriedBeforeFits) {
  const Shape shape = {30, 40};
  const Values input = activations(shape, 5);
  const Values golden = mapped(input, [](double x) { return std::max(x, 0.1 * x); });
  const Values target = mapped(input, [](double x) { return std::max(x, 0.0); });
  ExplainContext context;
  context.alternatives.push_back({ExplanationKind::other_function,
                                  "Relu where LeakyRelu is expected",
                                  [&](std::span<const std::uint64_t> positions) -> Result<Values> {
                                    Values values;
                                    for (const std::uint64_t at : positions) {
                                      values.push_back(std::max(input[at], 0.0));
                                    }
                                    return values;
                                  }});
  const auto found = explained(golden, target, shape, DType::f16, context);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::other_function);
  EXPECT_GT(found.front().explained, 0.999);
}

TEST(Explain, ExpectedStandsInForTheGolden) {
  const Shape shape = {30, 40};
  const Values golden = activations(shape, 5);
  const Values expected = activations(shape, 6);
  const View view = made_view(expected, shape, DType::f64);
  const View target =
      made_view(mapped(expected, [](double x) { return 1.02 * x; }), shape, DType::f16);
  const auto found = explain(made_view(golden, shape, DType::f32), target, &view, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().kind, ExplanationKind::scaled);
}

// What the inputs as dumped would make is 3 % off; the target holds the golden itself.
TEST(Explain, AGoldenThatItsInputsDoNotMakeIsNamed) {
  const Shape shape = {8, 64};
  const Values golden = activations(shape, 1);
  const Values noise = activations(shape, 2);
  Values made = golden;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    made[i] += 0.03 * noise[i];
  }
  const auto expected = made_view(made, shape, DType::f64);
  const auto found = explain(made_view(golden, shape, DType::f32),
                             made_view(golden, shape, DType::f16), &expected, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_THAT(found->front().sentence, HasSubstr("equals the golden as float16 holds it"));
}

TEST(Explain, NanAndInfAreLeftOutOfFits) {
  const Shape shape = {30, 40};
  Values golden = activations(shape, 5);
  golden[17] = std::nan("");
  golden[18] = HUGE_VAL;
  Values target = mapped(golden, [](double x) { return 1.25 * x; });
  auto found = explained(golden, target, shape, DType::f16);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ExplanationKind::scaled);
  // One new NaN is not explained by a factor.
  target[100] = std::nan("");
  EXPECT_TRUE(explained(golden, target, shape, DType::f16).empty());
}

TEST(Explain, OddTensorsDoNoHarm) {
  EXPECT_TRUE(explained({1.0}, {1.5}, {1}, DType::f32).empty());
  EXPECT_TRUE(explained({1.0}, {1.0}, {}, DType::f32).empty());
  EXPECT_TRUE(explained({}, {}, {0, 3}, DType::f32).empty());
  EXPECT_TRUE(explained({0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {3}, DType::f16).empty());
  EXPECT_TRUE(explained({1.0, 2.0}, {3.0, -1.0}, {2}, DType::f16).empty());
  const Values nothing(64, std::nan(""));
  EXPECT_TRUE(explained(nothing, nothing, {8, 8}, DType::f16).empty());
  EXPECT_TRUE(explained(Values(64, 1.0), nothing, {8, 8}, DType::f16).empty());
  const auto zeros = explained(Values(64, 0.0), Values(64, 2.0), {8, 8}, DType::f16);
  ASSERT_EQ(zeros.size(), 1U);
  EXPECT_EQ(zeros.front().kind, ExplanationKind::constant);
  const View text = made_view({1.0}, {1}, DType::f32);
  View opaque = text;
  opaque.tensor.desc.dtype = DType::string;
  EXPECT_EQ(explain(text, opaque, nullptr, {}).error().code, ErrorCode::unsupported_dtype);
}

// A golden stored as NHWC, or big-endian, and seen as NCHW is the same golden.
TEST(Explain, LayoutOfTheViewDoesNotMatter) {
  const Shape shape = {2, 8, 17, 19};
  const Values golden = activations(shape, 5);
  const Values target = testing::taken(golden, shape, 1, [](std::uint64_t c) {
    return c == 1 ? 4U : c == 4 ? 1U : c;
  });
  View stored_otherwise =
      made_view(permuted(golden, shape, {0, 2, 3, 1}), {2, 17, 19, 8}, DType::f32);
  std::rotate(stored_otherwise.axes.begin() + 1, stored_otherwise.axes.end() - 1,
              stored_otherwise.axes.end());
  View swapped_bytes = made_view(golden, shape, DType::f32);
  std::vector<std::byte> bytes(swapped_bytes.tensor.bytes.span.begin(),
                               swapped_bytes.tensor.bytes.span.end());
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  }
  swapped_bytes.tensor.bytes = own_bytes(std::move(bytes));
  swapped_bytes.tensor.desc.big_endian = true;
  const auto plain = explained(golden, target, shape, DType::f16);
  ASSERT_FALSE(plain.empty());
  for (const View& view : {stored_otherwise, swapped_bytes}) {
    const auto found = explain(view, made_view(target, shape, DType::f16), nullptr, {});
    ASSERT_TRUE(found.has_value());
    ASSERT_FALSE(found->empty());
    EXPECT_EQ(found->front().sentence, plain.front().sentence);
  }
}

// One complex element is two reals: a factor of both parts is a factor.
TEST(Explain, ComplexTensorsAreTwiceAsManyReals) {
  const Values parts = activations({40}, 5);
  View golden = made_view(parts, {40}, DType::f32);
  View target = made_view(mapped(parts, [](double x) { return 1.5 * x; }), {40}, DType::f32);
  for (View* view : {&golden, &target}) {
    view->tensor.desc.dtype = DType::c64;
    view->axes.front().extent = 20;
  }
  const auto found = explain(golden, target, nullptr, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_THAT(found->front().sentence, HasSubstr("target = 1.5 * golden"));
}

TEST(Explain, ThreadsDoNotChangeTheResult) {
  const Shape shape = {3, 2048, 2048};
  const Values golden = activations(shape, 5);
  const Values target = mapped(golden, [](double x) { return 1.01 * x; });
  ExplainContext two;
  two.jobs = 2;
  const auto one = explained(golden, target, shape, DType::f16);
  const auto other = explained(golden, target, shape, DType::f16, two);
  ASSERT_EQ(one.size(), 1U);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(one.front().residual, other.front().residual);
  EXPECT_EQ(one.front().sentence, other.front().sentence);
}

TEST(Explain, CancelledSearchEndsWithAnError) {
  CancelFlag cancel;
  cancel.cancel();
  ExplainContext context;
  context.cancel = &cancel;
  const View view = made_view({1.0, 2.0}, {2}, DType::f32);
  EXPECT_EQ(explain(view, view, nullptr, context).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace opdrift::verdict
