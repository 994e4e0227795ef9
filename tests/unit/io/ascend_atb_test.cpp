#include <gtest/gtest.h>

#include <string>

#include "opdrift/io/ascend/atb.hpp"

namespace opdrift::io {
namespace {

Result<FileDump> parsed(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return parse_ascend_atb(own_bytes({data, data + text.size()}), "t.bin");
}

constexpr const char* kHead = "$Version=1.0\nformat=2\ndtype=1\ndims=2,2\n$End=1\n";

TEST(AtbDump, ReadsOneTensor) {
  const FileDump dump = parsed(std::string(kHead) + "12345678").value();
  ASSERT_EQ(dump.tensors.size(), 1U);
  EXPECT_EQ(dump.tensors[0].desc.dtype, tensor::DType::f16);
  EXPECT_EQ(dump.tensors[0].desc.shape, (tensor::Shape{2, 2}));
  EXPECT_EQ(as_text(dump.tensors[0].bytes.span), "12345678");
}

TEST(AtbDump, IsNotReadWhenAnythingIsMissing) {
  for (const std::string& text :
       {std::string(kHead) + "1234567", std::string(kHead) + "123456789", std::string("dtype=1\n"),
        std::string("dtype=1\n$End=1\n"), std::string("dtype=4\ndims=1\n$End=1\n1"),
        std::string("dtype=1\ndims=x\n$End=1\n"), std::string("dtype=1=2\n$End=1\n"),
        std::string("plain\n$End=1\n"), std::string("data=a.bin\ndtype=2\ndims=1\n$End=1\n1"),
        std::string("dtype=1\ndims=4611686018427387904,4\n$End=1\n"), std::string()}) {
    const Result<FileDump> dump = parsed(text);
    ASSERT_FALSE(dump) << text;
    EXPECT_EQ(dump.error().code, ErrorCode::unsupported) << text;
  }
}

TEST(AtbDump, FailsWhenTheHeadIsNotUtf8) {
  EXPECT_EQ(parsed("name=\xff\n$End=1\n").error().code, ErrorCode::malformed);
}

TEST(AtbDump, IsRecognisedByNameAndFirstLine) {
  EXPECT_TRUE(probe_ascend_atb(as_bytes(kHead), 100, "x.BIN"));
  EXPECT_FALSE(probe_ascend_atb(as_bytes(kHead), 100, "x.npy"));
  EXPECT_FALSE(probe_ascend_atb(as_bytes("no equals\n"), 100, "x.bin"));
}

}  // namespace
}  // namespace opdrift::io
