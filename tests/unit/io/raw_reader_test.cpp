#include "opdrift/io/raw_reader.hpp"

#include <gtest/gtest.h>

#include "unit/io/io_testing.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::elements_of;
using testing::TempFolder;

TEST(RawReader, NameGivesTypeShapeAndFormat) {
  const TempFolder folder;
  const Result<FileDump> dump =
      open_raw(folder.file("Add.加.1.2.16.input.3.2_3.float16.NC1HWC0.bin", "abcdefghijkl"));
  ASSERT_TRUE(dump);
  const FileTensor& data = dump->tensors[0];
  EXPECT_EQ(data.role, TensorRole::input);
  EXPECT_EQ(data.index, 3U);
  EXPECT_EQ(data.desc.dtype, DType::f16);
  EXPECT_EQ(data.desc.shape, (tensor::Shape{2, 3}));
  EXPECT_EQ(data.desc.format, tensor::Format::nc1hwc0);
  EXPECT_EQ(elements_of(data), "abcdefghijkl");
}

TEST(RawReader, EmptyDimsAreOneElement) {
  const TempFolder folder;
  const Result<FileDump> dump = open_raw(folder.file("F.output.0..int32.ND.bin", "abcd"));
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->tensors[0].desc.shape.empty());
  EXPECT_TRUE(dump->tensors[0].desc.has_shape);
  EXPECT_EQ(elements_of(dump->tensors[0]), "abcd");
}

// The reference tool widens bfloat16 when it writes, but not the name.
TEST(RawReader, Bfloat16OfTwiceTheSizeIsFloat32) {
  const TempFolder folder;
  const Result<FileDump> wide = open_raw(folder.file("F.output.0.2.bfloat16.ND.bin", "12345678"));
  EXPECT_EQ(wide->tensors[0].desc.dtype, DType::f32);
  EXPECT_EQ(wide->warnings.size(), 1U);
  const Result<FileDump> plain = open_raw(folder.file("G.output.0.2.bfloat16.ND.bin", "1234"));
  EXPECT_EQ(plain->tensors[0].desc.dtype, DType::bf16);
}

TEST(RawReader, BufferNamesGiveTheRole) {
  const TempFolder folder;
  EXPECT_EQ(open_raw(folder.file("F.l1buffer.2.bin", "x"))->tensors[0].role, TensorRole::buffer);
  EXPECT_EQ(open_raw(folder.file("F.space.0.bin", "x"))->tensors[0].role, TensorRole::space);
}

TEST(RawReader, CallerBeatsSidecarBeatsName) {
  const TempFolder folder;
  const std::string path = folder.file("F.output.0.4.uint8.NCHW.bin", "abcd");
  folder.file("F.output.0.4.uint8.NCHW.bin.json", R"({"dtype": "fp16", "shape": [1, 2]})");
  const Result<FileDump> by_sidecar = open_raw(path);
  ASSERT_TRUE(by_sidecar);
  EXPECT_EQ(by_sidecar->tensors[0].desc.dtype, DType::f16);
  EXPECT_EQ(by_sidecar->tensors[0].desc.shape, (tensor::Shape{1, 2}));
  EXPECT_EQ(by_sidecar->tensors[0].desc.format, tensor::Format::nchw);
  const Result<FileDump> told = open_raw(path, {.dtype = DType::i16, .shape = {}, .format = {}});
  EXPECT_EQ(told->tensors[0].desc.dtype, DType::i16);
}

TEST(RawReader, NothingKnownIsRawBytes) {
  const TempFolder folder;
  const Result<FileDump> dump = open_raw(folder.file("a.bin", "abc"));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].desc.dtype, DType::raw);
  EXPECT_FALSE(dump->tensors[0].desc.has_shape);
  EXPECT_EQ(dump->warnings.size(), 1U);
}

TEST(RawReader, TypeAloneGivesOneAxis) {
  const TempFolder folder;
  const Result<FileDump> dump =
      open_raw(folder.file("a.bin", "abcdefgh"), {.dtype = DType::f32, .shape = {}, .format = {}});
  EXPECT_EQ(dump->tensors[0].desc.shape, tensor::Shape{2});
}

TEST(RawReader, TooFewBytesAreTheTensorsProblem) {
  const TempFolder folder;
  const Result<FileDump> dump = open_raw(folder.file("F.output.0.5.int8.ND.bin", "abcd"));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::data_mismatch);
}

TEST(RawReader, BadSidecarsAreErrors) {
  const TempFolder folder;
  const std::string path = folder.file("a.bin", "abcd");
  for (const char* text : {"", "[]", R"({"dtype": 1})", R"({"dtype": "float33"})",
                           R"({"shape": 3})", R"({"shape": [-1]})", R"({"shape": [1.5]})",
                           R"({"format": "NCWH"})", "{\"dtype\": \"\xFF\"}"}) {
    folder.file("a.bin.json", text);
    const Result<FileDump> dump = open_raw(path);
    ASSERT_FALSE(dump) << text;
    EXPECT_EQ(dump.error().code, ErrorCode::bad_json) << text;
    EXPECT_EQ(dump.error().path, path + ".json");
  }
  folder.file("a.bin.json", R"({"dtype": "int8", "shape": [4611686018427387904, 16]})");
  EXPECT_EQ(open_raw(path).error().code, ErrorCode::bad_shape);
}

TEST(BinName, OtherNamesAreNoBinNames) {
  for (const char* name : {"a.bin", "F.output.0.2.float16.ND.npy", "F.output.x.2.float16.ND.bin",
                           "F.output.0.2x3.float16.ND.bin", "F.output.0.2.float99.ND.bin",
                           "F.side.0.2.float16.ND.bin", "F.output.0.2__3.float16.ND.bin",
                           "output.0.2.float16.ND.bin", "F.output.4294967296.2.float16.ND.bin"}) {
    EXPECT_FALSE(parse_bin_name(name)) << name;
  }
}

}  // namespace
}  // namespace opdrift::io
