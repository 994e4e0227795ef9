#include "opdrift/pipeline/folder_walk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "unit/io/io_testing.hpp"

namespace opdrift::pipeline {
namespace {

namespace fs = std::filesystem;

TEST(FolderWalkEntries, LinksThatLeadBackAreReadOnce) {
  const io::testing::TempFolder folder;
  folder.file("a.npy", "x");
  fs::create_directory(folder / "step");
  fs::create_directory_symlink(".", folder / "self");
  fs::create_directory_symlink("..", folder / "step/up");
  const auto walk = walk_folder(folder.path());
  ASSERT_TRUE(walk.has_value());
  ASSERT_EQ(walk->files.size(), 1u);
  EXPECT_EQ(walk->files[0].path, folder / "a.npy");
  EXPECT_EQ(walk->problems.size(), 2u);
}

TEST(FolderWalkEntries, PipesAreProblemsAndNotWaitedFor) {
  const io::testing::TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  const auto walk = walk_folder(folder.path());
  ASSERT_TRUE(walk.has_value());
  EXPECT_TRUE(walk->files.empty());
  ASSERT_EQ(walk->problems.size(), 1u);
  EXPECT_EQ(walk->problems[0].code, ErrorCode::wrong_kind);
}

}  // namespace
}  // namespace opdrift::pipeline
