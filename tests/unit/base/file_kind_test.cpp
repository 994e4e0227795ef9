#include "opdrift/base/file_kind.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "opdrift/base/temporary_folder.hpp"

namespace opdrift {
namespace {

TEST(FileKind, PipesFoldersAndMissingFilesHaveNoHead) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.has_value());
  const std::string pipe = folder->path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder->path(), folder->path() + "/missing"}) {
    EXPECT_EQ(file_head(path, 10), "") << path;
    EXPECT_FALSE(is_file(path)) << path;
  }
  EXPECT_TRUE(is_folder(folder->path()));
  EXPECT_FALSE(is_folder(pipe));
}

TEST(FileKind, HeadsEndWithTheFile) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->path() + "/a";
  std::ofstream(path) << "abcdef";
  EXPECT_EQ(file_head(path, 3), "abc");
  EXPECT_EQ(file_head(path, 100), "abcdef");
  EXPECT_TRUE(is_file(path));
}

}  // namespace
}  // namespace opdrift
