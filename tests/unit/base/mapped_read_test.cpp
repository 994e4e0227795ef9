#include "opdrift/base/mapped_read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "opdrift/base/temporary_folder.hpp"

namespace opdrift {
namespace {

class MappedReadTest : public ::testing::Test {
 protected:
  void write(std::size_t bytes, char first) const {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) {
      text[i] = static_cast<char>(first + static_cast<char>(i % 23));
    }
    std::ofstream(path_, std::ios::binary) << text;
  }

  TemporaryFolder temporary_ = TemporaryFolder::create().value();
  std::filesystem::path folder_ = temporary_.path();
  std::string path_ = folder_ / "file";
};

bool equal(ByteSpan one, ByteSpan other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

TEST_F(MappedReadTest, APartOfAMappingIsCopied) {
  write(300000, 'A');
  const auto mapped = map_file(path_);
  ASSERT_TRUE(mapped.has_value());
  const Bytes part = mapped->part(70001, 200000);
  const auto place = mapped_place(part.span);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->path, path_);
  EXPECT_EQ(place->offset, 70001U);
  const auto copy = read_mapped(part);
  ASSERT_TRUE(copy.has_value());
  EXPECT_NE(copy->span.data(), part.span.data());
  EXPECT_TRUE(equal(copy->span, part.span));
}

TEST_F(MappedReadTest, BytesFromElsewhereHaveNoPlace) {
  const Bytes own = own_bytes(std::vector<std::byte>(1000));
  EXPECT_FALSE(mapped_place(own.span).has_value());
  EXPECT_FALSE(read_mapped(own).has_value());
}

TEST_F(MappedReadTest, AReplacedFileIsNotRead) {
  write(300000, 'A');
  const auto mapped = map_file(path_);
  ASSERT_TRUE(mapped.has_value());
  std::filesystem::rename(path_, folder_ / "old");
  write(300000, 'B');
  EXPECT_FALSE(read_mapped(*mapped).has_value());
}

TEST_F(MappedReadTest, AFileThatWasCutIsNotRead) {
  write(300000, 'A');
  const auto mapped = map_file(path_);
  ASSERT_TRUE(mapped.has_value());
  std::filesystem::resize_file(path_, 1000);
  EXPECT_FALSE(read_mapped(*mapped).has_value());
}

TEST_F(MappedReadTest, CopiesDoNotDisturbEachOther) {
  write(300000, 'A');
  const auto mapped = map_file(path_);
  ASSERT_TRUE(mapped.has_value());
  const auto first = read_mapped(mapped->part(0, 200000));
  { const auto gone = read_mapped(mapped->part(5, 200000)); }
  const auto second = read_mapped(mapped->part(100000, 200000));
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_TRUE(equal(first->span, mapped->span.subspan(0, 200000)));
  EXPECT_TRUE(equal(second->span, mapped->span.subspan(100000, 200000)));
}

}  // namespace
}  // namespace opdrift
