#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/slices.hpp"
#include "opdrift/io/ascend/writer.hpp"

namespace opdrift::io {
namespace {

/// A dump with one uint8 output counting up from `first`.
FileDump slice(const std::string& path, const tensor::Shape& shape, unsigned first,
               const std::string& attribute) {
  std::vector<std::byte> data(tensor::element_count(shape).value());
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>(first + i);
  }
  AscendContent content;
  content.op_name = "net/conv_lxslice0";
  content.attributes = {{"slice", attribute}};
  AscendTensor output;
  output.desc.dtype = tensor::DType::u8;
  output.desc.shape = shape;
  output.bytes = data;
  content.tensors = {output};
  return parse_ascend_dump(own_bytes(encode_ascend_dump(content).value()), path).value();
}

std::vector<unsigned> numbers(const FileTensor& file_tensor) {
  std::vector<unsigned> values;
  const tensor::Tensor loaded = load_tensor(file_tensor).value();
  for (const std::byte byte : loaded.bytes.span) {
    values.push_back(std::to_integer<unsigned>(byte));
  }
  return values;
}

constexpr const char* kCutAxis1 =
    R"({"threadMode": 0, "slice_instance_num": 2, "outputCutList": [[1, 2]]})";

// Rows (0 1) and (2 3) of one file, (10 11 12) and (13 14 15) of the other, side by side.
TEST(MergeSlices, JoinsAlongTheFirstCutAxis) {
  const MergedDump merged =
      merge_slices({slice("d/C.a_lxslice0.1.2.3.4.5.0.0", {2, 2}, 0, kCutAxis1),
                    slice("d/C.a_lxslice1.1.2.3.4.5.0.0", {2, 3}, 10, kCutAxis1)},
                   SliceMode::manual)
          .value();
  EXPECT_TRUE(merged.complete);
  EXPECT_EQ(merged.dump.op_name, "net/conv");
  EXPECT_EQ(merged.dump.path, "d/C.a_lxslice0.1.2.*");
  const FileTensor& output = merged.dump.tensors[0];
  EXPECT_EQ(output.desc.shape, (tensor::Shape{2, 5}));
  EXPECT_EQ(output.size_bytes, 10U);
  EXPECT_EQ(numbers(output), (std::vector<unsigned>{0, 1, 10, 11, 12, 2, 3, 13, 14, 15}));
}

TEST(MergeSlices, TellsMissingSlices) {
  const MergedDump merged = merge_slices({slice("C.a.1.2.3", {2, 1}, 0, kCutAxis1),
                                          slice("C.b.1.2.3", {2, 1}, 1, kCutAxis1),
                                          slice("C.c.1.2.3", {2, 1}, 2, kCutAxis1)},
                                         SliceMode::manual)
                                .value();
  EXPECT_FALSE(merged.complete);
  EXPECT_EQ(merged.warnings.size(), 1U);
}

TEST(MergeSlices, RefusesSlicesThatDoNotFitTogether) {
  const auto code = [](std::vector<FileDump> files, SliceMode mode = SliceMode::manual) {
    return merge_slices(std::move(files), mode).error().code;
  };
  EXPECT_EQ(code({slice("a", {2, 2}, 0, kCutAxis1), slice("b", {3, 2}, 0, kCutAxis1)}),
            ErrorCode::data_mismatch);
  EXPECT_EQ(code({slice("a", {2}, 0, kCutAxis1), slice("b", {2}, 0, kCutAxis1)}),
            ErrorCode::slice_mismatch);
  EXPECT_EQ(code({slice("a", {2}, 0, "{}"), slice("b", {2}, 0, "{}")}), ErrorCode::slice_mismatch);
  const std::string automatic =
      R"({"threadMode": 1, "slice_instance_num": 2, "outputCutList": [[2]],
          "output_tensor_slice": [[[{"lower": 0, "higher": 3}]], [[{"lower": 3, "higher": 5}]]]})";
  EXPECT_EQ(
      code({slice("a", {2}, 0, automatic), slice("b", {2}, 0, automatic)}, SliceMode::automatic),
      ErrorCode::data_mismatch);
}

TEST(MergeSlices, UsesTheNewestFileWhenNothingIsCut) {
  const std::string uncut = R"({"threadMode": 0, "slice_instance_num": 2, "outputCutList": [[1]]})";
  const MergedDump merged = merge_slices({slice("C.a.1.2.30.4.5.0.0", {1}, 7, uncut),
                                          slice("C.a.1.2.29.4.5.1.0", {1}, 8, uncut)},
                                         SliceMode::manual)
                                .value();
  EXPECT_EQ(numbers(merged.dump.tensors[0]), (std::vector<unsigned>{7}));
}

TEST(SliceInfo, TellsBrokenFromAbsent) {
  const auto info = [](const std::string& attribute) {
    return slice_info(slice("a", {1}, 0, attribute));
  };
  for (const char* absent : {"{}", "null", "0", "\"\"", "[]", "false", "0.0"}) {
    ASSERT_TRUE(info(absent)) << absent;
    EXPECT_FALSE(info(absent).value()) << absent;
  }
  EXPECT_EQ(info("").error().code, ErrorCode::malformed);
  EXPECT_EQ(info("{").error().code, ErrorCode::malformed);
  EXPECT_EQ(info(R"({"x": 1})").error().code, ErrorCode::slice_mismatch);
  EXPECT_EQ(info(R"({"threadMode": 1, "input_tensor_slice": [[[{"lower": 5, "higher": 1}]]]})")
                .error()
                .code,
            ErrorCode::slice_mismatch);
  EXPECT_EQ(info(std::string(200'000, '[')).error().code, ErrorCode::malformed);
}

TEST(SliceShapes, ReplaceTheStoredShapeOfTheThread) {
  const std::string automatic =
      R"({"threadMode": true, "input_tensor_slice": [], "output_tensor_slice":
          [[[{"lower": 0, "higher": 4}]], [[{"lower": 4, "higher": 6}, {"lower": 0, "higher": 1}]]]})";
  FileDump dump = slice("C.a.1.2.3.4.330.1.0", {2}, 0, automatic);
  ASSERT_TRUE(apply_slice_shapes(dump, dump.path));
  EXPECT_EQ(dump.tensors[0].desc.shape, (tensor::Shape{2, 1}));
  EXPECT_EQ(apply_slice_shapes(dump, "C.a.1.2.3.4.330.2.0").error().code,
            ErrorCode::slice_mismatch);
  EXPECT_EQ(apply_slice_shapes(dump, "C.a.b.c").error().code, ErrorCode::not_found);
}

// Ten bytes in a slice of six: unlike elsewhere the surplus does not count as padding.
TEST(SliceShapes, MustBeFilledExactly) {
  const std::string automatic =
      R"({"threadMode": 1, "input_tensor_slice": [], "output_tensor_slice":
          [[[{"lower": 0, "higher": 6}]]]})";
  FileDump dump = slice("C.a.1.2.3.4.330.0.0", {10}, 0, automatic);
  ASSERT_TRUE(apply_slice_shapes(dump, dump.path));
  ASSERT_TRUE(dump.tensors[0].problem);
  EXPECT_EQ(dump.tensors[0].problem->code, ErrorCode::data_mismatch);
}

}  // namespace
}  // namespace opdrift::io
