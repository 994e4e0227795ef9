#include "opdrift/base/text.hpp"

#include <gtest/gtest.h>

namespace opdrift {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a..b", '.'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", '.'), (std::vector<std::string_view>{""}));
}

TEST(Text, NumbersMustFillTheText) {
  EXPECT_EQ(parse_u64("18446744073709551615"), 18446744073709551615U);
  EXPECT_FALSE(parse_u64("18446744073709551616"));
  EXPECT_FALSE(parse_u64("-1"));
  EXPECT_FALSE(parse_u64("1x"));
  EXPECT_FALSE(parse_u64(""));
  EXPECT_EQ(parse_i64("-12"), -12);
  EXPECT_DOUBLE_EQ(parse_double("1e-3").value(), 1e-3);
}

TEST(Text, PrintableKeepsChineseAndEscapesControlAndBrokenBytes) {
  EXPECT_EQ(printable("卷积/conv\n\x1b[31m"), "卷积/conv\\x0a\\x1b[31m");
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xe5\x8d"), "\\xe5\\x8d");
}

TEST(Text, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(display_width("ab"), 2U);
  EXPECT_EQ(display_width("卷积"), 4U);
}

TEST(Text, EllipsisFitsTheColumnsAndKeepsBothEnds) {
  for (std::size_t columns = 1; columns < 14; ++columns) {
    const std::string shorter = ellipsize_middle("block/卷积/conv1", columns);
    EXPECT_LE(display_width(shorter), columns) << shorter;
  }
  EXPECT_EQ(ellipsize_middle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(ellipsize_middle("abc", 5), "abc");
}

TEST(Text, Utf8RefusesOverlongAndSurrogates) {
  EXPECT_TRUE(is_utf8("算子"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1500), "1.5 kB");
  EXPECT_EQ(human_bytes(2100000000), "2.1 GB");
}

TEST(DidYouMean, NamesWhatIsNearAndNothingElse) {
  const std::vector<std::string_view> names = {"compare", "convert", "CosineSimilarity", "cosine"};
  EXPECT_EQ(did_you_mean("comapre", names), "; did you mean 'compare'?");
  EXPECT_EQ(did_you_mean("covnert", names), "; did you mean 'convert'?");
  EXPECT_EQ(did_you_mean("COSIN", names), "; did you mean 'CosineSimilarity' or 'cosine'?");
  EXPECT_EQ(did_you_mean("stats", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean(std::string(1'000'000, 'c'), names), "");
}

}  // namespace
}  // namespace opdrift
