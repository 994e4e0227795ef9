#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;

AscendTensor a_tensor(TensorRole role, DType dtype, tensor::Shape shape, ByteSpan bytes) {
  AscendTensor source;
  source.role = role;
  source.desc.dtype = dtype;
  source.desc.has_shape = !shape.empty();
  source.desc.shape = std::move(shape);
  source.bytes = bytes;
  return source;
}

FileDump parsed(const AscendContent& content) {
  Result<FileDump> dump =
      parse_ascend_dump(own_bytes(encode_ascend_dump(content).value()), "Op.a.1.2.3");
  EXPECT_TRUE(dump) << dump.error().to_string();
  return *std::move(dump);
}

Result<FileDump> parsed_bytes(std::vector<std::byte> bytes) {
  return parse_ascend_dump(own_bytes(std::move(bytes)), "Op.a.1.2.3");
}

TEST(AscendDump, ReadsBackWhatTheWriterWrote) {
  const std::vector<std::byte> data(24, std::byte{7});
  AscendContent content;
  content.op_name = "net/卷积";
  content.dump_time_us = 1614717262233160;
  content.attributes = {{"slice", "{}"}};
  content.tensors = {a_tensor(TensorRole::output, DType::f32, {2, 3}, data),
                     a_tensor(TensorRole::input, DType::f16, {4}, ByteSpan(data).first(8)),
                     a_tensor(TensorRole::space, DType::raw, {}, ByteSpan(data).first(5)),
                     a_tensor(TensorRole::buffer, DType::raw, {}, ByteSpan(data).first(3))};
  content.tensors[0].desc.original_shape = {6};
  content.tensors[0].desc.sub_format = 2;
  content.tensors[0].desc.address = 0x1000;
  const FileDump dump = parsed(content);
  EXPECT_EQ(dump.op_name, "net/卷积");
  EXPECT_EQ(dump.version, "2.0");
  EXPECT_EQ(dump.dump_time_us, 1614717262233160U);
  EXPECT_EQ(dump.attributes, content.attributes);
  ASSERT_EQ(dump.tensors.size(), 4U);
  EXPECT_EQ(dump.tensors[0].role, TensorRole::input);
  EXPECT_EQ(dump.tensors[1].role, TensorRole::output);
  EXPECT_EQ(dump.tensors[2].role, TensorRole::buffer);
  EXPECT_EQ(dump.tensors[3].role, TensorRole::space);
  EXPECT_EQ(dump.tensors[1].desc.shape, (tensor::Shape{2, 3}));
  EXPECT_EQ(dump.tensors[1].desc.original_shape, (tensor::Shape{6}));
  EXPECT_EQ(dump.tensors[1].desc.sub_format, 2);
  EXPECT_EQ(dump.tensors[1].desc.address, 0x1000U);
  EXPECT_EQ(dump.tensors[1].bytes.size(), 24U);
  EXPECT_FALSE(first_problem(dump));
}

TEST(AscendDump, FailsCleanlyWhereverItIsCut) {
  const std::vector<std::byte> data(24, std::byte{7});
  AscendContent content;
  content.op_name = "net/op";
  content.attributes = {{"a", "b"}};
  content.tensors = {a_tensor(TensorRole::output, DType::f32, {2, 3}, data),
                     a_tensor(TensorRole::input, DType::f16, {4}, ByteSpan(data).first(8))};
  const std::vector<std::byte> whole = encode_ascend_dump(content).value();
  for (std::size_t length = 9; length < whole.size(); ++length) {
    const Result<FileDump> dump =
        parsed_bytes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_TRUE(!dump || first_problem(*dump)) << length;
  }
  EXPECT_FALSE(first_problem(*parsed_bytes(whole)));
}

TEST(AscendDump, SurvivesAnyFlippedByte) {
  const std::vector<std::byte> data(24, std::byte{7});
  AscendContent content;
  content.op_name = "net/op";
  content.tensors = {a_tensor(TensorRole::output, DType::f32, {2, 3}, data)};
  const std::vector<std::byte> whole = encode_ascend_dump(content).value();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned value : {0x00U, 0x7FU, 0x80U, 0xFFU}) {
      std::vector<std::byte> broken = whole;
      broken[at] = static_cast<std::byte>(value);
      const Result<FileDump> dump = parsed_bytes(std::move(broken));
      if (dump) {
        for (const FileTensor& file_tensor : dump->tensors) {
          EXPECT_LE(file_tensor.bytes.size(), whole.size());
        }
      }
    }
  }
}

TEST(AscendDump, KeepsTheOtherTensorsWhenThePayloadEndsEarly) {
  const std::vector<std::byte> data(8, std::byte{1});
  AscendContent content;
  content.tensors = {a_tensor(TensorRole::input, DType::f32, {2}, data),
                     a_tensor(TensorRole::output, DType::f32, {2}, data)};
  content.tensors[1].claimed_size = std::uint64_t{1} << 60;
  const FileDump dump = parsed(content);
  EXPECT_FALSE(dump.tensors[0].problem);
  ASSERT_TRUE(dump.tensors[1].problem);
  EXPECT_EQ(dump.tensors[1].problem->code, ErrorCode::truncated);
  EXPECT_EQ(first_problem(dump)->code, ErrorCode::truncated);
}

TEST(AscendDump, CannotOverflowTheSumOfSizes) {
  const std::vector<std::byte> data(8, std::byte{1});
  AscendContent content;
  content.tensors = {a_tensor(TensorRole::input, DType::u8, {8}, data),
                     a_tensor(TensorRole::output, DType::u8, {8}, data)};
  content.tensors[0].claimed_size = ~std::uint64_t{0};
  content.tensors[1].claimed_size = 9;
  const FileDump dump = parsed(content);
  EXPECT_TRUE(dump.tensors[0].problem);
  EXPECT_TRUE(dump.tensors[1].problem);
}

TEST(AscendDump, TreatsUpToEightBytesAsEmptyWithAWarning) {
  for (std::size_t length = 1; length <= 8; ++length) {
    const Result<FileDump> dump = parsed_bytes(std::vector<std::byte>(length, std::byte{0xFF}));
    ASSERT_TRUE(dump);
    EXPECT_TRUE(dump->tensors.empty());
    EXPECT_EQ(dump->warnings.size(), 1U);
  }
  EXPECT_FALSE(parsed_bytes({}));
}

TEST(AscendDump, RefusesMoreDimsThanAnyArrayHas) {
  AscendContent content;
  content.tensors = {a_tensor(TensorRole::output, DType::u8, tensor::Shape(100'000, 1), {})};
  EXPECT_FALSE(parsed_bytes(encode_ascend_dump(content).value()));
}

TEST(AscendDump, AcceptsAShapeWhoseProductOverflows) {
  AscendContent content;
  content.tensors = {a_tensor(TensorRole::output, DType::f32,
                              {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, {})};
  const FileDump dump = parsed(content);
  EXPECT_FALSE(tensor::stored_view(load_tensor(dump.tensors[0]).value()));
}

// Rules of section 3.4 of the format description, one line each.
TEST(AscendDump, FitsShapeTypeAndBytesTogether) {
  const std::vector<std::byte> data(22, std::byte{1});
  const auto settle = [&](DType dtype, tensor::Shape shape, std::size_t bytes) {
    AscendContent content;
    content.tensors = {
        a_tensor(TensorRole::output, dtype, std::move(shape), ByteSpan(data).first(bytes))};
    return parsed(content).tensors[0];
  };
  EXPECT_FALSE(settle(DType::f32, {2, 2}, 20).problem);  // surplus
  EXPECT_FALSE(settle(DType::f32, {2, 3}, 20).problem);  // short, whole elements
  EXPECT_EQ(settle(DType::f32, {2, 3}, 22).problem->code, ErrorCode::malformed);
  EXPECT_EQ(settle(DType::undefined, {2, 3}, 22).desc.shape, (tensor::Shape{22}));
  EXPECT_EQ(settle(DType::undefined, {2, 3}, 0).desc.shape, (tensor::Shape{0}));
  EXPECT_EQ(settle(DType::f32, {}, 0).desc.shape, (tensor::Shape{0}));
  EXPECT_FALSE(settle(DType::f32, {}, 8).desc.has_shape);
  EXPECT_EQ(settle(DType::string, {2}, 8).problem->code, ErrorCode::unsupported_dtype);
  EXPECT_FALSE(settle(DType::string, {2, 0}, 0).problem);
}

TEST(AscendDump, ReportsTheFirstProblemOfOutputsBeforeInputs) {
  const std::vector<std::byte> data(8, std::byte{1});
  AscendContent content;
  content.tensors = {a_tensor(TensorRole::input, DType::string, {1}, data),
                     a_tensor(TensorRole::output, DType::f64, {2}, ByteSpan(data).first(7))};
  EXPECT_EQ(first_problem(parsed(content))->code, ErrorCode::malformed);
}

TEST(AscendDump, TellsTypesTheReferenceCannotDecode) {
  AscendContent content;
  const std::vector<std::byte> data(4, std::byte{1});
  content.tensors = {a_tensor(TensorRole::output, DType::e8m0, {4}, data)};
  const FileDump dump = parsed(content);
  EXPECT_FALSE(dump.tensors[0].problem);
  EXPECT_EQ(first_problem(dump)->code, ErrorCode::unsupported_dtype);
}

TEST(AscendDump, IsRecognisedByItsHead) {
  AscendContent content;
  content.op_name = "x";
  const std::vector<std::byte> file = encode_ascend_dump(content).value();
  EXPECT_TRUE(probe_ascend_dump(file, file.size(), "a.b.1.2.3"));
  EXPECT_FALSE(probe_ascend_dump(file, 9, "a.b.1.2.3"));
  EXPECT_FALSE(probe_ascend_dump(as_bytes("\x93NUMPY plus something else"), 1000, "a.npy"));
}

}  // namespace
}  // namespace opdrift::io
