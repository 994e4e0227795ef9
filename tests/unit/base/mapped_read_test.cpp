#include "opdrift/base/mapped_read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace opdrift {
namespace {

class MappedReadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("opdrift_mapped_read_" + std::to_string(::getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "file").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(std::size_t bytes, char first) const {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) {
      text[i] = static_cast<char>(first + static_cast<char>(i % 23));
    }
    std::ofstream(path_, std::ios::binary) << text;
  }

  std::filesystem::path folder_;
  std::string path_;
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
