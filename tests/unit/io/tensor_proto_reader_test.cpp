#include "opdrift/io/tensor_proto_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/base/protobuf_cursor.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::elements_of;
using testing::TempFolder;
using testing::text_of;

/// dims 2, 3, float32, named x; without data.
ProtobufWriter head() {
  ProtobufWriter writer;
  writer.varint(1, 2);
  writer.varint(1, 3);
  writer.varint(2, 1);
  writer.text(8, "x");
  return writer;
}

std::string text(const ProtobufWriter& writer) {
  return std::string(as_text(writer.view()));
}

ProtobufWriter entry(std::string_view key, std::string_view value) {
  ProtobufWriter writer;
  writer.text(1, key);
  writer.text(2, value);
  return writer;
}

std::string external(std::string_view location, std::string_view offset = "0") {
  ProtobufWriter writer = head();
  writer.message(13, entry("location", location));
  writer.message(13, entry("offset", offset));
  writer.varint(14, 1);
  return text(writer);
}

TEST(TensorProto, RawDataIsRead) {
  const TempFolder folder;
  const std::string data = text_of<float>({1, 2, 3, 4, 5, 6});
  ProtobufWriter writer = head();
  writer.bytes(9, as_bytes(data));
  const Result<FileDump> dump = open_tensor_proto(folder.file("输入.pb", text(writer)));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].name, "x");
  EXPECT_EQ(dump->tensors[0].desc.dtype, DType::f32);
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{2, 3}));
  EXPECT_EQ(elements_of(dump->tensors[0]), data);
}

// The bit patterns of float16 1.0 and -2.0 stand in int32_data.
TEST(TensorProto, TypedFieldsAreRead) {
  const TempFolder folder;
  ProtobufWriter writer;
  writer.varint(1, 2);
  writer.varint(2, 10);
  writer.packed(5, std::vector<std::uint64_t>{0x3C00, 0xC000});
  const Result<FileDump> dump = open_tensor_proto(folder.file("a.pb", text(writer)));
  ASSERT_TRUE(dump);
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of<std::uint16_t>({0x3C00, 0xC000}));
}

TEST(TensorProto, ExternalDataStayInTheFolder) {
  const TempFolder folder;
  const std::string data = text_of<float>({0, 1, 2, 3, 4, 5, 6});
  folder.file("weights.bin", data);
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("/etc/hostname", folder / "sub/link");
  const auto load = [&](const std::string& content) {
    return elements_of(open_tensor_proto(folder.file("a.pb", content))->tensors[0]);
  };
  EXPECT_EQ(load(external("weights.bin", "4")), data.substr(4));
  for (const char* location : {"/etc/hostname", "../weights.bin", "sub/../../x", "sub/link", ""}) {
    EXPECT_TRUE(load(external(location)).starts_with("error: ")) << location;
  }
  EXPECT_TRUE(load(external("weights.bin", "8")).starts_with("error: "));
  EXPECT_TRUE(load(external("weights.bin", "18446744073709551615")).starts_with("error: "));
}

TEST(TensorProto, BadMessagesAreErrors) {
  const TempFolder folder;
  EXPECT_FALSE(open_tensor_proto(folder.file("a.pb", "")));
  EXPECT_FALSE(open_tensor_proto(testing::corpus_file("protobuf/length-2-60.pb")));
  EXPECT_FALSE(open_tensor_proto(testing::corpus_file("protobuf/groups.pb")));
  EXPECT_FALSE(open_tensor_proto(folder.file("b.pb", external("weights.bin", "x"))));
  const Result<FileDump> negative =
      open_tensor_proto(testing::corpus_file("protobuf/negative-extent.pb"));
  ASSERT_TRUE(negative);
  EXPECT_EQ(negative->tensors[0].problem->code, ErrorCode::bad_shape);
}

TEST(TensorProto, ShapeThatDoesNotFitTheDataIsFoundOnLoading) {
  const TempFolder folder;
  ProtobufWriter writer = head();
  writer.bytes(9, as_bytes("1234"));
  const Result<FileDump> dump = open_tensor_proto(folder.file("a.pb", text(writer)));
  EXPECT_EQ(load_tensor(dump->tensors[0]).error().code, ErrorCode::data_mismatch);
}

// An Ascend dump of the same ending begins with the length of its header.
TEST(TensorProto, ProbeLeavesAscendDumpsAlone) {
  const std::string ascend = testing::little_endian(8, 8) + std::string(20, 'x');
  EXPECT_FALSE(probe_tensor_proto(as_bytes(ascend), ascend.size(), "a.0.1.pb"));
  const std::string proto = text(head());
  EXPECT_TRUE(probe_tensor_proto(as_bytes(proto), proto.size(), "a.pb"));
  EXPECT_FALSE(probe_tensor_proto(as_bytes(proto), proto.size(), "a.bin"));
}

}  // namespace
}  // namespace opdrift::io
