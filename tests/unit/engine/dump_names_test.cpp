#include "opdrift/engine/dump_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace opdrift::engine {
namespace {

std::string file_of(DumpNames& names, const std::string& node, std::size_t index = 0) {
  return names.file_for(names.claim_stem(node), index);
}

TEST(DumpNames, SlashAndDotBecomeUnderscores) {
  DumpNames names(1700000000000001);
  EXPECT_EQ(file_of(names, "block.1/conv", 2), "block_1_conv.2.1700000000000001.npy");
  EXPECT_EQ(names.mapping_csv(), "");
}

TEST(DumpNames, NodesThatWouldShareAFileAreNumbered) {
  DumpNames names(5);
  EXPECT_EQ(file_of(names, "a/b"), "a_b.0.5.npy");
  EXPECT_EQ(file_of(names, "a.b"), "a_b__2.0.5.npy");
  EXPECT_EQ(file_of(names, "a_b"), "a_b__3.0.5.npy");
}

TEST(DumpNames, ChineseNamesStay) {
  DumpNames names(5);
  EXPECT_EQ(file_of(names, "卷积/层"), "卷积_层.0.5.npy");
}

// The hash is FNV-1a; its value for "a::b.0" is not of interest, only that it is 20 digits and
// depends on nothing but the name.
TEST(DumpNames, ColonsGiveDigitsAndAMappingRow) {
  DumpNames names(5);
  const std::string file = file_of(names, "a::b");
  EXPECT_EQ(file.size(), 24U);
  EXPECT_TRUE(
      std::all_of(file.begin(), file.begin() + 20, [](char c) { return c >= '0' && c <= '9'; }));
  EXPECT_EQ(names.mapping_csv(), file + ",a::b.0.5.npy\n");
  DumpNames later(6);
  EXPECT_EQ(file_of(later, "a::b"), file);
}

// 100 Chinese characters take 300 bytes, more than the 255 a file name may have.
TEST(DumpNames, LongChineseNamesGiveDigits) {
  DumpNames names(5);
  std::string long_name;
  for (int i = 0; i < 100; ++i) {
    long_name += "层";
  }
  EXPECT_EQ(file_of(names, long_name).size(), 24U);
  EXPECT_NE(names.mapping_csv().find(long_name), std::string::npos);
}

TEST(DumpNames, CommasAndQuotesAreQuotedInTheMapping) {
  DumpNames names(5);
  const std::string file = file_of(names, "a,\"b\"\nc");
  EXPECT_EQ(names.mapping_csv(), file + ",\"a,\"\"b\"\"\nc.0.5.npy\"\n");
}

TEST(DumpNames, EmptyAndMalformedNamesGiveDifferentFiles) {
  DumpNames names(5);
  EXPECT_NE(file_of(names, ""), file_of(names, "\xff\xfe"));
}

}  // namespace
}  // namespace opdrift::engine
