#include "opdrift/base/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace opdrift {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for $TMPDIR.
class TemporaryFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opdrift-tmpdir-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    parent_ = name;
    const char* old = std::getenv("TMPDIR");
    old_ = old == nullptr ? "" : old;
    ::setenv("TMPDIR", parent_.c_str(), 1);
  }
  void TearDown() override {
    old_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old_.c_str(), 1);
    fs::remove_all(parent_);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(parent_), fs::directory_iterator()));
  }

  std::string parent_;
  std::string old_;
};

TEST_F(TemporaryFolderTest, GoesAwayWithItsContent) {
  {
    const auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder) << folder.error().to_string();
    std::ofstream(folder->path() + "/file") << "x";
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, TheNextOneRemovesWhatAKilledProcessLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = TemporaryFolder::create();
    std::ofstream(folder->path() + "/file") << "x";
    ::_exit(0);  // no destructors
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(entries(), 1U);
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  EXPECT_EQ(entries(), 1U);
  EXPECT_FALSE(fs::exists(folder->path() + "/file"));
}

TEST_F(TemporaryFolderTest, FoldersInUseAndThoseOfOthersStay) {
  fs::create_directory(parent_ + "/opdrift-others");
  fs::create_directory(parent_ + "/opdrift-abcdef");  // of the right length, without a lock
  const auto first = TemporaryFolder::create();
  const auto second = TemporaryFolder::create();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(entries(), 4U);
}

TEST_F(TemporaryFolderTest, AFolderThatCannotBeMadeIsAnError) {
  ::setenv("TMPDIR", (parent_ + "/missing").c_str(), 1);
  const auto folder = TemporaryFolder::create();
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().path, parent_ + "/missing");
}

}  // namespace
}  // namespace opdrift
