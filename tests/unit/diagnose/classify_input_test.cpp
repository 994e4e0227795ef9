#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/diagnose/classify/aipp_keys.hpp"
#include "opdrift/diagnose/classify/input_class.hpp"
#include "opdrift/verdict/explain/values.hpp"

namespace opdrift::diagnose::classify {
namespace {

/// A picture of 3 x 24 x 32 without symmetry or repetition, values from 0 to 255.
double pixel(std::size_t c, std::size_t y, std::size_t x) {
  const auto u = static_cast<double>(x);
  const auto v = static_cast<double>(y);
  const double wave = std::sin(0.31 * u + 0.07 * v * v) * std::cos(0.23 * v - 0.011 * u * u);
  const double tone = 40.0 * static_cast<double>(c) * std::sin(0.19 * u - 0.4 * v);
  return std::round(std::min(255.0, std::max(0.0, 128.0 + 60.0 * wave + tone)));
}

using Made = std::function<double(std::size_t, std::size_t, std::size_t)>;

std::vector<double> planes(std::size_t rows, std::size_t columns, const Made& made) {
  std::vector<double> values;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < columns; ++x) {
        values.push_back(made(c, y, x));
      }
    }
  }
  return values;
}

constexpr std::size_t kRows = 24;
constexpr std::size_t kColumns = 32;
const tensor::Shape kShape = {1, 3, kRows, kColumns};

std::vector<double> golden() {
  return planes(kRows, kColumns, &pixel);
}

std::vector<double> changed(const std::function<double(double, std::size_t)>& change) {
  return planes(kRows, kColumns, [&](std::size_t c, std::size_t y, std::size_t x) {
    return change(pixel(c, y, x), c);
  });
}

InputClass classified(const std::vector<double>& g, const tensor::Shape& g_shape,
                      const std::vector<double>& d, const tensor::Shape& d_shape) {
  const auto golden_view = verdict::refit::view_of(g, g_shape);
  const auto device_view = verdict::refit::view_of(d, d_shape);
  EXPECT_TRUE(golden_view && device_view);
  auto found = classify_input(*golden_view, *device_view);
  EXPECT_TRUE(found);
  return found ? *found : InputClass{};
}

InputClass classified(const std::vector<double>& device) {
  return classified(golden(), kShape, device, kShape);
}

std::string kind(const InputClass& found) {
  return std::string(to_string(found.kind));
}

TEST(InputClassifier, EqualInputs) {
  EXPECT_EQ(kind(classified(golden())), "equal");
  const std::vector<double> zeros(12, 0.0);
  EXPECT_EQ(kind(classified(zeros, {12}, zeros, {12})), "equal");
}

TEST(InputClassifier, AlmostEqualInputs) {
  const InputClass found = classified(changed([](double v, std::size_t) { return v * 1.0001; }));
  EXPECT_EQ(kind(found), "equal");
}

TEST(InputClassifier, AnotherShapeOfTheSameElements) {
  EXPECT_EQ(kind(classified(golden(), kShape, golden(), {3 * kRows, kColumns})), "shape");
}

TEST(InputClassifier, AnotherLayout) {
  std::vector<double> nhwc;
  std::vector<double> turned;
  for (std::size_t y = 0; y < kRows; ++y) {
    for (std::size_t x = 0; x < kColumns; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        nhwc.push_back(pixel(c, y, x));
      }
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t x = 0; x < kColumns; ++x) {
      for (std::size_t y = 0; y < kRows; ++y) {
        turned.push_back(pixel(c, y, x));
      }
    }
  }
  EXPECT_EQ(kind(classified(golden(), kShape, nhwc, {1, kRows, kColumns, 3})), "layout");
  EXPECT_EQ(kind(classified(golden(), kShape, nhwc, kShape)), "layout");
  EXPECT_EQ(kind(classified(nhwc, {1, kRows, kColumns, 3}, golden(), kShape)), "layout");
  const InputClass found = classified(golden(), kShape, turned, {1, 3, kColumns, kRows});
  EXPECT_EQ(kind(found), "layout");
  EXPECT_NE(found.finding.find("rows and columns"), std::string::npos);
}

TEST(InputClassifier, SwappedChannels) {
  const auto bgr = planes(kRows, kColumns, [](std::size_t c, std::size_t y, std::size_t x) {
    return pixel(2 - c, y, x);
  });
  const InputClass found = classified(bgr);
  EXPECT_EQ(kind(found), "RGB/BGR swap");
  EXPECT_EQ(change_text(aipp_change(found, {})), "rbuv_swap_switch: true");
}

TEST(InputClassifier, OneFactorIsScaling) {
  const InputClass found = classified(changed([](double v, std::size_t) { return v / 255.0; }));
  EXPECT_EQ(kind(found), "scaling");
  EXPECT_NE(found.finding.find("1/255"), std::string::npos);
  const InputClass symmetric =
      classified(changed([](double v, std::size_t) { return v / 127.5 - 1.0; }));
  EXPECT_EQ(kind(symmetric), "scaling");
  EXPECT_NE(symmetric.finding.find("1/127.5"), std::string::npos);
}

TEST(InputClassifier, OffsetsThatDifferAreMeans) {
  const double means[] = {123.675, 116.28, 103.53};
  const InputClass found =
      classified(changed([&](double v, std::size_t c) { return v - means[c]; }));
  EXPECT_EQ(kind(found), "mean");
  ASSERT_EQ(found.channels.size(), 3U);
  EXPECT_NEAR(found.channels[1].b, -116.28, 1e-6);
}

TEST(InputClassifier, FactorsThatDifferAreVariances) {
  const double factors[] = {0.0171, 0.0175, 0.0174};
  const InputClass found =
      classified(changed([&](double v, std::size_t c) { return v * factors[c]; }));
  EXPECT_EQ(kind(found), "variance");
  EXPECT_NEAR(found.channels[2].a, 0.0174, 1e-9);
}

TEST(InputClassifier, SwapAndFactorsTogether) {
  const double means[] = {103.53, 116.28, 123.675};
  const auto device = planes(kRows, kColumns, [&](std::size_t c, std::size_t y, std::size_t x) {
    return (pixel(2 - c, y, x) - means[c]) / 58.0;
  });
  const InputClass found = classified(device);
  EXPECT_EQ(kind(found), "mean");
  EXPECT_TRUE(found.swapped);
}

TEST(InputClassifier, ShiftsAndCropsAndBorders) {
  const auto shifted = planes(kRows, kColumns, [](std::size_t c, std::size_t y, std::size_t x) {
    return y < 2 || x < 3 ? 0.0 : pixel(c, y - 2, x - 3);
  });
  const InputClass shift = classified(shifted);
  EXPECT_EQ(kind(shift), "shift");
  ASSERT_TRUE(shift.offset.has_value());
  EXPECT_EQ(shift.offset->dy, -2);
  EXPECT_EQ(shift.offset->dx, -3);
  const auto part = planes(
      16, 20, [](std::size_t c, std::size_t y, std::size_t x) { return pixel(c, y + 5, x + 7); });
  const InputClass crop = classified(golden(), kShape, part, {1, 3, 16, 20});
  EXPECT_EQ(kind(crop), "crop");
  EXPECT_EQ(crop.offset->dy, 5);
  EXPECT_EQ(crop.offset->dx, 7);
  const InputClass pad = classified(part, {1, 3, 16, 20}, golden(), kShape);
  EXPECT_EQ(kind(pad), "pad");
  EXPECT_EQ(pad.offset->dy, -5);
}

TEST(InputClassifier, ACropThatIsNormalisedToo) {
  const auto part = planes(16, 20, [](std::size_t c, std::size_t y, std::size_t x) {
    return pixel(c, y + 5, x + 7) / 255.0;
  });
  const InputClass found = classified(golden(), kShape, part, {1, 3, 16, 20});
  EXPECT_EQ(kind(found), "crop");
  EXPECT_NE(found.finding.find("scaling"), std::string::npos);
}

TEST(InputClassifier, AnotherInterpolation) {
  const auto soft = planes(kRows, kColumns, [](std::size_t c, std::size_t y, std::size_t x) {
    const std::size_t x1 = std::min(x + 1, kColumns - 1);
    const std::size_t y1 = std::min(y + 1, kRows - 1);
    return 0.4 * pixel(c, y, x) + 0.3 * pixel(c, y, x1) + 0.3 * pixel(c, y1, x);
  });
  EXPECT_EQ(kind(classified(soft)), "resize");
}

TEST(InputClassifier, RoundedInputs) {
  std::vector<double> fine;
  std::vector<double> half;
  for (int i = 0; i < 600; ++i) {
    const double value = std::sin(0.7 * i) * 3.0;
    fine.push_back(value);
    half.push_back(std::ldexp(std::nearbyint(std::ldexp(value, 8)), -8));
  }
  std::vector<double> whole;
  for (const double value : fine) {
    whole.push_back(std::nearbyint(value));
  }
  EXPECT_EQ(kind(classified(fine, {600}, whole, {600})), "dtype cast");
  EXPECT_EQ(kind(classified(fine, {600}, half, {600})), "equal");
  std::vector<double> single;
  for (const double value : fine) {
    single.push_back(static_cast<double>(static_cast<float>(value)));
  }
  EXPECT_EQ(kind(classified(fine, {600}, single, {600})), "dtype cast");
}

TEST(InputClassifier, MissingAndDifferentInputs) {
  const std::vector<double> zeros(golden().size(), 0.0);
  EXPECT_EQ(kind(classified(zeros)), "missing input");
  const auto other = planes(kRows, kColumns, [](std::size_t c, std::size_t y, std::size_t x) {
    return std::fmod(static_cast<double>((x * 7919 + y * 104729 + c * 1299709) % 1009) * 37.0,
                     255.0);
  });
  const InputClass found = classified(other);
  EXPECT_EQ(kind(found), "different data");
  EXPECT_FALSE(found.closest.empty());
}

TEST(InputClassifier, NoNumbersAndNothingAreNoTrouble) {
  std::vector<double> nan = golden();
  nan[7] = std::nan("");
  EXPECT_EQ(kind(classified(nan)), "different data");
  EXPECT_EQ(kind(classified({}, {0}, {}, {0})), "equal");
  EXPECT_EQ(kind(classified({1.0}, {1}, {2.0}, {1})), "missing input");
  classified(golden(), kShape, {1.0, 2.0}, {2});
}

// d = (p - 0) * 1 where (p - 123.675) * 0.0171 is wanted: the keys are those of the golden.
TEST(AippKeys, TurnAFitIntoMeanAndVariance) {
  InputClass found;
  found.kind = InputKind::mean_variance;
  found.channels = {{1.0 / 0.0171, 123.675}, {1.0 / 0.0175, 116.28}};
  EXPECT_EQ(change_text(aipp_change(found, {})),
            "min_chn_0: 123.675, var_reci_chn_0: 0.0171, min_chn_1: 116.28, "
            "var_reci_chn_1: 0.0175");
}

TEST(AippKeys, CropsStartElsewhere) {
  InputClass found;
  found.kind = InputKind::crop;
  found.offset = Offset{4, -2, 1.0};
  fixes::AippOp present;
  present.keys = {{"load_start_pos_h", "16"}, {"load_start_pos_w", "16"}};
  EXPECT_EQ(change_text(aipp_change(found, present)),
            "crop: true, load_start_pos_h: 12, load_start_pos_w: 18");
}

}  // namespace
}  // namespace opdrift::diagnose::classify
