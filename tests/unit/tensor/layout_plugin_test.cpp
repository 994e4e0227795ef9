#include "opdrift/tensor/layout_plugin.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counting.hpp"

#include "opdrift/tensor/align.hpp"

namespace opdrift::tensor {
namespace {

constexpr const char* kExample = OPDRIFT_EXAMPLE_LAYOUT_PLUGIN;

using testing::values;

/// 1, 2, 3, ...: padding (0) shows.
Tensor counting(const Shape& shape) {
  Tensor tensor = testing::counting(Format::nd, shape, 1);
  tensor.desc.original_shape = shape;
  return tensor;
}

TEST(LayoutPlugin, TellsItsPairAndSummary) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value()) << plugin.error().to_string();
  EXPECT_EQ(plugin->from(), Format::nd);
  EXPECT_EQ(plugin->to(), Format::fractal_nz);
  EXPECT_FALSE(plugin->summary().empty());
}

// 2 matrices of 17 x 18 u32: ceil(18/16) = 2 panels of ceil(17/16) = 2 fractals of 16 x 16.
TEST(LayoutPlugin, PaddedResultOfABlockedLayoutIsNotCut) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  const auto made = plugin->convert(counting({2, 17, 18}), {});
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  EXPECT_EQ(made->view.shape(), (Shape{2, 2, 2, 16, 16}));
  EXPECT_FALSE(made->crop_failed);
  const std::vector<std::uint32_t> all = values(made->view);
  // Matrix 1, row 16, column 17 is the last element: panel 1, fractal 1, row 0, column 1.
  EXPECT_EQ(all[1 * 1024 + 1 * 512 + 1 * 256 + 1], 2U * 17 * 18);
  EXPECT_EQ(all[1 * 1024 + 1 * 512 + 1 * 256 + 2], 0U);
}

// The built-in conversion back is the oracle.
TEST(LayoutPlugin, RoundTripThroughTheBuiltInConversion) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  for (const Shape& shape : {Shape{1, 1}, {16, 16}, {17, 33}, {3, 40, 27}, {2, 1, 15, 16}}) {
    const Tensor source = counting(shape);
    const auto made = plugin->convert(source, {});
    ASSERT_TRUE(made.has_value());
    Tensor blocked = made->view.tensor;
    blocked.desc.original_shape = shape;
    const auto back = convert_for_output(blocked, {.format = Format::nd});
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_EQ(back->view.shape(), shape);
    EXPECT_EQ(values(back->view), values(stored_view(source).value()));
  }
}

TEST(LayoutPlugin, RefusalsCarryItsMessage) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  const auto made = plugin->convert(counting({5}), {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::conversion_failed);
  EXPECT_NE(made.error().message.find("expected 2 to 14 dims, found 1"), std::string::npos);
}

TEST(LayoutPlugin, GetsBigEndianDataInMachineOrder) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  Tensor source = counting({1, 1});
  source.desc.big_endian = true;  // 1 in four bytes, read from the other end: 2^24
  const auto made = plugin->convert(source, {});
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(values(made->view).front(), 1U << 24);
}

TEST(LayoutPlugin, ElementsOfLessThanAByteAreRefused) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  Tensor source = counting({4, 8});
  source.desc.dtype = DType::i4;
  const auto made = plugin->convert(source, {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported_dtype);
}

TEST(LayoutPlugin, BytesMustFillTheStoredShape) {
  const auto plugin = LayoutPlugin::load(kExample);
  ASSERT_TRUE(plugin.has_value());
  Tensor source = counting({4, 8});
  source.desc.shape = {4, 9};
  EXPECT_FALSE(plugin->convert(source, {}).has_value());
}

ErrorCode failure_of_odd_plugin(const Shape& shape, std::string* message = nullptr) {
  const auto made =
      LayoutPlugin::load(OPDRIFT_ODD_LAYOUT_PLUGIN).value().convert(counting(shape), {});
  if (message != nullptr && !made) {
    *message = made.error().message;
  }
  return made ? ErrorCode::internal : made.error().code;
}

// 2^40 elements out of one.
TEST(LayoutPlugin, GrowthBeyondTheLimitIsRefused) {
  EXPECT_EQ(failure_of_odd_plugin({1}), ErrorCode::limit);
}

TEST(LayoutPlugin, MoreExtentsThanThereIsRoomForAreRefused) {
  EXPECT_EQ(failure_of_odd_plugin({2}), ErrorCode::conversion_failed);
}

TEST(LayoutPlugin, MessagesWithoutAnEndAreCut) {
  std::string message;
  EXPECT_EQ(failure_of_odd_plugin({3}, &message), ErrorCode::conversion_failed);
  EXPECT_EQ(message, "plugin from NHWC to NCHW: " + std::string(4095, 'x'));
}

TEST(LayoutPlugin, TheLastOfAPairCounts) {
  std::vector<LayoutPlugin> plugins;
  plugins.push_back(LayoutPlugin::load(kExample).value());
  plugins.push_back(LayoutPlugin::load(kExample).value());
  EXPECT_EQ(find_layout_plugin(plugins, Format::nd, Format::fractal_nz), &plugins[1]);
  EXPECT_EQ(find_layout_plugin(plugins, Format::nchw, Format::fractal_nz), nullptr);
}

TEST(LayoutPlugin, MissingAndOtherFilesAreNoPlugins) {
  const auto missing = LayoutPlugin::load("no-such-folder/plugin.so");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const auto text = LayoutPlugin::load(OPDRIFT_SOURCE_DIR "/README.md");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace opdrift::tensor
