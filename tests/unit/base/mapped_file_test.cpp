#include "opdrift/base/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "opdrift/base/temporary_folder.hpp"

namespace opdrift {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::size_t bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
    return path.string();
  }

  TemporaryFolder temporary_ = TemporaryFolder::create().value();
  std::filesystem::path folder_ = temporary_.path();
};

std::size_t count_of(ByteSpan bytes, char wanted) {
  std::size_t count = 0;
  for (const std::byte byte : bytes) {
    count += byte == static_cast<std::byte>(wanted) ? 1 : 0;
  }
  return count;
}

TEST_F(MappedFileTest, SmallAndLargeFilesReadTheSame) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65535},
                                  std::size_t{65536}, std::size_t{1000000}}) {
    const auto file = MappedFile::open(write("f", bytes));
    ASSERT_TRUE(file) << bytes;
    EXPECT_EQ((*file)->size(), bytes);
    EXPECT_EQ(count_of((*file)->bytes(), 'x'), bytes);
  }
}

TEST_F(MappedFileTest, ChineseNamesOpen) {
  EXPECT_TRUE(map_file(write("算子 输出.bin", 10)));
}

TEST_F(MappedFileTest, WhatIsNotAFileIsRefusedWithItsKind) {
  EXPECT_EQ(map_file((folder_ / "none").string()).error().code, ErrorCode::not_found);
  EXPECT_EQ(map_file(folder_.string()).error().code, ErrorCode::wrong_kind);
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(map_file(pipe).error().code, ErrorCode::wrong_kind);
  std::filesystem::create_symlink(folder_ / "loop", folder_ / "loop");
  EXPECT_EQ(map_file((folder_ / "loop").string()).error().code, ErrorCode::not_found);
}

TEST_F(MappedFileTest, AFileCutWhileMappedReadsAsZeroAndIsMarked) {
  const std::string path = write("cut", 1 << 20);
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->damaged());
  ASSERT_EQ(::truncate(path.c_str(), 4096), 0);
  EXPECT_EQ(count_of((*file)->bytes(), 'x'), 4096U);
  EXPECT_TRUE((*file)->damaged());
}

TEST(Bytes, PartsShareTheOwner) {
  std::vector<std::byte> buffer(10);
  buffer[4] = std::byte{7};
  Bytes part;
  {
    const Bytes whole = own_bytes(std::move(buffer));
    part = whole.part(4, 2);
  }
  EXPECT_EQ(part.size(), 2U);
  EXPECT_EQ(part.span[0], std::byte{7});
}

}  // namespace
}  // namespace opdrift
