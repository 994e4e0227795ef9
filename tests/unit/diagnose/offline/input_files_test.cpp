#include "opdrift/diagnose/offline/input_files.hpp"

#include <gtest/gtest.h>

#include "unit/diagnose/offline/offline_testing.hpp"

#include "opdrift/diagnose/offline/aipp.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using tensor::DType;

std::string write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
  EXPECT_TRUE(io::write_file(path, as_text(bytes)));
  return path;
}

std::string write_array(const std::string& path, DType dtype, const tensor::Shape& shape,
                        const std::vector<double>& values) {
  auto writer = io::NpyWriter::create(path, dtype, shape);
  EXPECT_TRUE(writer->write(bytes_of(dtype, values)));
  EXPECT_TRUE(writer->finish());
  return path;
}

InputRequest request_for(const TempFolder& folder, WantedInput input) {
  InputRequest request;
  request.folder = folder / "run/input";
  request.wanted = {std::move(input)};
  return request;
}

WantedInput floats_of(tensor::Shape shape) {
  WantedInput input;
  input.name = "x";
  input.shape = std::move(shape);
  return input;
}

TEST(InputFiles, AnArrayBecomesTheBytesOfTheDeviceAndTheNumbersOfTheGolden) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({1, 2}));
  request.files = {write_array(folder / "x.npy", DType::f32, {2, 1}, {1.5, -2.0})};
  request.wanted[0].device_bytes = 8;
  const auto files = make_input_files(request);
  ASSERT_TRUE(files) << files.error().error.to_string();
  EXPECT_EQ(files->device, std::vector<std::string>{folder / "run/input/input_0.bin"});
  EXPECT_EQ(fs::file_size(files->device[0]), 8U);
  ASSERT_EQ(files->golden.size(), 1U);
  EXPECT_EQ(files->golden[0].name, "x");
  EXPECT_EQ(shape_of(files->golden[0].path), (tensor::Shape{1, 2}));
  EXPECT_EQ(values_of(files->golden[0].path), (std::vector<double>{1.5, -2.0}));
}

TEST(InputFiles, HalfTheBytesOfAFloatInputAreFloat16) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({2}));
  request.files = {write_bytes(folder / "x.bin", bytes_of(DType::f16, {0.5, 3.0}))};
  const auto files = make_input_files(request);
  ASSERT_TRUE(files) << files.error().error.to_string();
  EXPECT_EQ(values_of(files->golden[0].path), (std::vector<double>{0.5, 3.0}));
}

TEST(InputFiles, CountsAndSizesThatDoNotFitHaveTheirNumbers) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({2}));
  request.files = {write_bytes(folder / "x.bin", bytes_of(DType::f32, {0.5, 3.0, 1.0}))};
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_data);
  request.wanted[0].device_bytes = 8;
  EXPECT_EQ(make_input_files(request).error().number, Number::bin_size);
  request.files.push_back(request.files[0]);
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_data);
  request.files = {folder / "none.bin"};
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_path);
  request.files = {folder.path()};
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_path);
  request.files = {write_bytes(folder / "x.txt", {})};
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_parameter);
}

TEST(InputFiles, RandomOnesAreFractionsAndTheSameEveryTime) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({3, 5}));
  const auto files = make_input_files(request);
  ASSERT_TRUE(files) << files.error().error.to_string();
  const std::vector<double> values = values_of(files->golden[0].path);
  EXPECT_EQ(values.size(), 15U);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v < 1; }));
  EXPECT_NE(values[0], values[1]);
  request.folder = folder / "again/input";
  EXPECT_EQ(values_of(make_input_files(request)->golden[0].path), values);
}

TEST(InputFiles, RandomIntegersAreZeroAndOpenShapesAnError) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({4}));
  request.wanted[0].dtype = DType::i64;
  EXPECT_EQ(values_of(make_input_files(request)->golden[0].path), std::vector<double>(4, 0.0));
  request = request_for(folder, floats_of({4}));
  request.folder = folder / "open/input";
  request.wanted[0].shape.reset();
  EXPECT_EQ(make_input_files(request).error().number, Number::bad_parameter);
}

TEST(InputFiles, ThoseOfAnEarlierRunAreUsedAgainInTheOrderOfTheirNumbers) {
  const TempFolder folder;
  InputRequest request = request_for(folder, floats_of({1}));
  request.wanted.assign(11, floats_of({1}));
  fs::create_directories(request.folder);
  for (int i = 0; i < 11; ++i) {
    write_bytes(request.folder + "/input_" + std::to_string(i) + ".bin",
                bytes_of(DType::f32, {static_cast<double>(i)}));
  }
  const auto files = make_input_files(request);
  ASSERT_TRUE(files) << files.error().error.to_string();
  EXPECT_EQ(values_of(files->golden[10].path), std::vector<double>{10.0});
  EXPECT_EQ(values_of(files->golden[2].path), std::vector<double>{2.0});
}

TEST(WantedInputs, ShapesOfTheUserFillWhatTheModelLeavesOpen) {
  const onnx::Model model = io::testing::small_model();
  const auto open = wanted_inputs(model.graph, {});
  ASSERT_TRUE(open);
  EXPECT_FALSE((*open)[0].shape.has_value());
  const auto fixed = wanted_inputs(model.graph, {{"x", {4, 3}}});
  EXPECT_EQ(*(*fixed)[0].shape, (tensor::Shape{4, 3}));
  EXPECT_EQ(wanted_inputs(model.graph, {{"x", {4, 2}}}).error().number, Number::bad_parameter);
  EXPECT_EQ(wanted_inputs(model.graph, {{"z", {4, 3}}}).error().number, Number::bad_parameter);
}

graph::AippOperator aipp_of(const std::string& format) {
  graph::AippOperator aipp;
  aipp.settings = {{"input_format", format}, {"src_image_size_h", "4"}, {"src_image_size_w", "6"}};
  return aipp;
}

TEST(Aipp, BytesOfAnImageFollowItsFormat) {
  EXPECT_EQ(*aipp_image_bytes(aipp_of("YUV420SP_U8"), 2, 3), 72U);
  EXPECT_EQ(*aipp_image_bytes(aipp_of("RGB888_U8"), 2, 3), 144U);
  EXPECT_EQ(*aipp_image_bytes(aipp_of("YUV400_U8"), 2, 3), 48U);
  EXPECT_EQ(*aipp_image_bytes(aipp_of("XRGB8888_U8"), 2, 3), 192U);
  EXPECT_EQ(aipp_image_bytes(aipp_of("RAW10"), 1, 3).error().number, Number::aipp_content);
}

/// 2 channels of 2 x 2 pixels in one block of 16; channel c of pixel p is 10 c + p.
TEST(Aipp, TheGoldenInputIsWhatTheDeviceMadeOfTheImage) {
  const TempFolder folder;
  fs::create_directories(folder / "npu");
  std::vector<double> values(64, -1.0);
  for (std::size_t pixel = 0; pixel < 4; ++pixel) {
    values[pixel * 16] = static_cast<double>(pixel);
    values[pixel * 16 + 1] = 10.0 + static_cast<double>(pixel);
  }
  write_device_file(folder / "npu/Aipp.aipp.1.2.1700000000000001", DType::f16,
                    tensor::Format::nc1hwc0, {1, 1, 2, 2, 16}, values);
  const auto inputs = aipp_golden_inputs(folder / "npu", {floats_of({1, 2, 2, 2})}, folder / "g");
  ASSERT_TRUE(inputs) << inputs.error().error.to_string();
  EXPECT_EQ(values_of((*inputs)[0].path), (std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(aipp_golden_inputs(folder / "npu", {floats_of({1}), floats_of({1})}, folder / "g")
                .error()
                .number,
            Number::out_of_bounds);
  EXPECT_EQ(
      aipp_golden_inputs(folder / "npu", {floats_of({1, 17, 2, 2})}, folder / "g").error().number,
      Number::bad_data);
}

}  // namespace
}  // namespace opdrift::diagnose::offline
