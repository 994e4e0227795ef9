#include "opdrift/pipeline/stats/array_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "unit/pipeline/dump_folders.hpp"

#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;

ArraySummary summary_of(DType dtype, const std::vector<double>& values) {
  tensor::Tensor array;
  array.desc.dtype = dtype;
  array.desc.shape = {values.size()};
  std::vector<std::byte> bytes(tensor::storage_bytes(dtype, values.size()).value());
  tensor::encode(dtype, values.data(), values.size(), bytes.data());
  array.bytes = own_bytes(std::move(bytes));
  const TestFolder folder;
  const std::string path = folder.sub("x") + "/a.npy";
  EXPECT_TRUE(io::write_npy(path, tensor::stored_view(array).value()));
  return summarise_npy(path).value();
}

struct Row {
  DType dtype;
  std::size_t count;
  const char* max;
  const char* min;
  const char* mean;
};

// NumPy 1.24.2: a = ((arange(n) * 7 % 97) * step - shift).astype(dtype), step 0.3 for floats and 1
// for integers, shift 5 (0 for uint8); str(a.max()), str(a.min()), str(a.mean()).
TEST(ArraySummary, PrintsWhatNumPyPrints) {
  const Row rows[] = {
      {DType::f16, 1, "-5.0", "-5.0", "-5.0"},
      {DType::f16, 7, "7.6", "-5.0", "1.3"},
      {DType::f16, 100, "23.8", "-5.0", "9.03"},
      {DType::f16, 129, "23.8", "-5.0", "8.94"},
      {DType::f16, 20000, "23.8", "-5.0", "9.4"},
      {DType::f32, 7, "7.6", "-5.0", "1.3000001"},
      {DType::f32, 100, "23.8", "-5.0", "9.031"},
      {DType::f32, 129, "23.8", "-5.0", "8.939534"},
      {DType::f32, 1000, "23.8", "-5.0", "9.3577"},
      {DType::f32, 20000, "23.8", "-5.0", "9.397285"},
      {DType::f64, 7, "7.6", "-5.0", "1.3000000000000003"},
      {DType::f64, 100, "23.799999999999997", "-5.0", "9.031"},
      {DType::f64, 129, "23.799999999999997", "-5.0", "8.93953488372093"},
      {DType::f64, 20000, "23.799999999999997", "-5.0", "9.397284999999998"},
      {DType::i32, 7, "37", "-5", "16.0"},
      {DType::i32, 129, "91", "-5", "41.46511627906977"},
      {DType::i32, 20000, "91", "-5", "42.99095"},
      {DType::u8, 1, "0", "0", "0.0"},
      {DType::u8, 1000, "96", "0", "47.859"},
  };
  for (const Row& row : rows) {
    const bool is_float = tensor::is_floating(row.dtype);
    std::vector<double> values;
    for (std::size_t i = 0; i < row.count; ++i) {
      const auto step = static_cast<double>(i * 7 % 97);
      values.push_back(step * (is_float ? 0.3 : 1.0) - (row.dtype == DType::u8 ? 0.0 : 5.0));
    }
    const ArraySummary summary = summary_of(row.dtype, values);
    const std::string label =
        std::string(tensor::name_of(row.dtype)) + " " + std::to_string(row.count);
    EXPECT_EQ(summary.max, row.max) << label;
    EXPECT_EQ(summary.min, row.min) << label;
    EXPECT_EQ(summary.mean, row.mean) << label;
    EXPECT_EQ(summary.dtype, tensor::name_of(row.dtype));
  }
}

TEST(ArraySummary, KeepsNanAndPrintsBoolsAsWords) {
  EXPECT_EQ(summary_of(DType::f32, {1.0, std::nan(""), 3.0}).max, "nan");
  EXPECT_EQ(summary_of(DType::f32, {std::nan(""), 3.0}).min, "nan");
  const ArraySummary bools = summary_of(DType::boolean, {1.0, 0.0, 1.0});
  EXPECT_EQ(bools.max, "True");
  EXPECT_EQ(bools.min, "False");
  EXPECT_EQ(bools.mean, "0.6666666666666666");
  EXPECT_EQ(bools.shape, "(3,)");
}

// str() of NumPy 1.24.2 scalars. float32(1e-4) is a little below 1e-4, hence the exponent.
TEST(NumpyText, HasTheFewestDigitsThatReadBack) {
  EXPECT_EQ(numpy_text(1e16), "1e+16");
  EXPECT_EQ(numpy_text(1e15), "1000000000000000.0");
  EXPECT_EQ(numpy_text(1e-4), "0.0001");
  EXPECT_EQ(numpy_text(9.9e-5), "9.9e-05");
  EXPECT_EQ(numpy_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(numpy_text(1e-4F), "1e-04");
  EXPECT_EQ(numpy_text(123456.789F), "123456.79");
  EXPECT_EQ(numpy_text(3.4e38F), "3.4e+38");
  EXPECT_EQ(numpy_text(-0.0F), "-0.0");
  EXPECT_EQ(numpy_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(numpy_text_f16(65504.0F), "65500.0");
  EXPECT_EQ(numpy_text_f16(0.333251953125F), "0.3333");
  EXPECT_EQ(numpy_text_f16(1000.5F), "1000.5");
}

}  // namespace
}  // namespace opdrift::pipeline
