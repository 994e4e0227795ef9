#include "opdrift/io/framework_names.hpp"

#include <gtest/gtest.h>

namespace opdrift::io {
namespace {

TEST(FrameworkName, OpIndexAndTime) {
  const auto name = parse_framework_name("scope_conv.1.relu.0.1614717262233160.npy");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->op, "scope_conv.1.relu");
  EXPECT_EQ(name->index, 0U);
  EXPECT_EQ(name->time, "1614717262233160");
  EXPECT_EQ(name->role, TensorRole::output);
}

TEST(FrameworkName, SuffixMayBeAnotherOrMissing) {
  EXPECT_EQ(parse_framework_name("a.2.123.pb")->index, 2U);
  EXPECT_EQ(parse_framework_name("a.2.123.quant")->op, "a");
  EXPECT_EQ(parse_framework_name("卷积.2.123")->op, "卷积");
}

TEST(FrameworkName, MindSporeNamesCarryTheRole) {
  const auto name = parse_framework_name(
      "Conv2D.Default_conv-op1.3.0.1614717262.input.1.DefaultFormat.bfloat16.npy");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->op_type, "Conv2D");
  EXPECT_EQ(name->op, "Default_conv-op1");
  EXPECT_EQ(name->role, TensorRole::input);
  EXPECT_EQ(name->index, 1U);
  EXPECT_EQ(name->time, "1614717262");
}

TEST(FrameworkName, OtherNamesAreRefused) {
  for (const char* text : {"", "a", "a.npy", "a.0.npy", "a.x.1.npy", "a.0.1x.npy", ".0.1.npy",
                           "a.4294967296.1.npy", "0.1.npy"}) {
    EXPECT_FALSE(parse_framework_name(text)) << text;
  }
  EXPECT_FALSE(parse_framework_name("a.0." + std::string(256, '1') + ".npy"));
}

TEST(FrameworkName, KeysAreWrittenAsTheFrameworksDo) {
  EXPECT_EQ(tensorflow_file_key("a/b:0"), "a_b.0");
  EXPECT_EQ(node_file_key("a/b.c", 2), "a_b_c.2");
}

}  // namespace
}  // namespace opdrift::io
