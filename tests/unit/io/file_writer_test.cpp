#include "opdrift/io/file_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "unit/io/io_testing.hpp"

namespace opdrift::io {
namespace {

using testing::content_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TempFolder;

TEST(FileWriter, FileAppearsAtCommitOnly) {
  const TempFolder folder;
  Result<FileWriter> writer = FileWriter::create(folder / "数据.bin");
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write("abc"));
  EXPECT_FALSE(std::filesystem::exists(folder / "数据.bin"));
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(content_of(folder / "数据.bin"), "abc");
  EXPECT_THAT(folder.names(), ElementsAre("数据.bin"));
}

TEST(FileWriter, NothingIsLeftWithoutCommit) {
  const TempFolder folder;
  {
    Result<FileWriter> writer = FileWriter::create(folder / "a");
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(std::string(1 << 20, 'x')));
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(FileWriter, OldFileStaysUntilCommit) {
  const TempFolder folder;
  folder.file("a", "old");
  Result<FileWriter> writer = FileWriter::create(folder / "a");
  ASSERT_TRUE(writer && writer->write("new"));
  EXPECT_EQ(content_of(folder / "a"), "old");
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(content_of(folder / "a"), "new");
}

TEST(FileWriter, SymbolicLinkIsReplacedNotFollowed) {
  const TempFolder folder;
  folder.file("target", "kept");
  std::filesystem::create_symlink("target", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "new"));
  EXPECT_EQ(content_of(folder / "target"), "kept");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link"));
}

TEST(FileWriter, RewriteReplacesBytesInTheMiddle) {
  const TempFolder folder;
  Result<FileWriter> writer = FileWriter::create(folder / "a");
  ASSERT_TRUE(writer && writer->write("0123456789"));
  ASSERT_TRUE(writer->rewrite(3, as_bytes("xy")));
  ASSERT_TRUE(writer->write("!"));
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(content_of(folder / "a"), "012xy56789!");
}

TEST(FileWriter, RewriteReachesBytesThatLeftTheBuffer) {
  const TempFolder folder;
  Result<FileWriter> writer = FileWriter::create(folder / "a");
  ASSERT_TRUE(writer && writer->write(std::string(300'000, 'x')) && writer->write("tail"));
  ASSERT_TRUE(writer->rewrite(1, as_bytes("AB")) && writer->rewrite(299'999, as_bytes("CD")));
  ASSERT_TRUE(writer->commit());
  const std::string content = content_of(folder / "a");
  EXPECT_EQ(content.size(), 300'004U);
  EXPECT_EQ(content.substr(0, 4), "xABx");
  EXPECT_EQ(content.substr(299'998), "xCDail");
}

TEST(FileWriter, ModeIsThatOfTheOptions) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "x", {.mode = 0600}));
  struct stat info {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(FileWriter, NameOf255BytesWorks) {
  const TempFolder folder;
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file(folder / name, "x"));
  EXPECT_EQ(content_of(folder / name), "x");
}

TEST(FileWriter, SharedMemoryIsAFolderLikeOthers) {
  if (::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "no /dev/shm to write to";
  }
  const std::string path = "/dev/shm/opdrift-test-" + std::to_string(::getpid());
  const Status written = write_file(path, "abc");
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(content_of(path), "abc");
  std::filesystem::remove(path);
}

TEST(FileWriter, MissingFolderIsNotFound) {
  const TempFolder folder;
  const Status status = write_file(folder / "no/such/a", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_EQ(status.error().path, folder / "no/such/a");
}

TEST(FileWriter, FolderInItsPlaceIsWrongKind) {
  const TempFolder folder;
  EXPECT_EQ(write_file(folder.path(), "x").error().code, ErrorCode::wrong_kind);
}

// /dev/full is the kernel's full disk.
TEST(FileWriter, FullDiskIsWriteFailed) {
  const Status status = write_file("/dev/full", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::write_failed);
  EXPECT_EQ(status.error().path, "/dev/full");
}

// A limit on file sizes stands in for a disk that fills up half-way.
TEST(FileWriter, DiskThatFillsUpLeavesNoPart) {
  const TempFolder folder;
  struct rlimit old {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1 << 20, old.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Result<FileWriter> writer = FileWriter::create(folder / "a");
  const Status first = writer->write(std::string(3 << 20, 'x'));
  const Status second = writer->write("more");
  const Status last = writer->commit();
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::write_failed);
  EXPECT_FALSE(second);
  EXPECT_FALSE(last);
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace opdrift::io
