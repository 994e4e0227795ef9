#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_folder.hpp"

namespace opdrift::io {
namespace {

namespace fs = std::filesystem;

/// A folder of files named in the test.
class AscendFolder : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& text = {}) const {
    std::ofstream(path_ / name) << text;
  }
  Result<DumpFolder> scan(const ScanOptions& options = {}) const {
    return scan_folder(path_.string(), options);
  }

  testing::TempFolder folder_;
  fs::path path_ = folder_.path();
};

TEST_F(AscendFolder, SortsTheFilesOfAnOperatorByTime) {
  add("Conv2D.conv1.1.2.1614717262233165");
  add("Conv2D.conv1.1.2.1614717262233160");
  add("notes.md");
  fs::create_directory(path_ / "Conv2D.sub.1.2.1614717262233160");
  const DumpFolder folder = scan().value();
  EXPECT_EQ(folder.kind, FolderKind::offline);
  ASSERT_EQ(folder.entries.size(), 1U);
  EXPECT_EQ(folder.entries[0].files.back().real_name, "Conv2D.conv1.1.2.1614717262233165");
  ASSERT_EQ(folder.ignored.size(), 1U);
  EXPECT_EQ(folder.ignored[0].name, "notes.md");
}

// The time stamp of a long name is its fifth part; the last part is the device.
TEST_F(AscendFolder, TakesTheTimeOfLongNamesFromTheFifthPart) {
  add("Add.a.4.2.1614717262233160.0.1.0.9");
  add("Add.a.4.2.1614717262233161.0.1.0.1");
  const DumpFolder folder = scan().value();
  EXPECT_EQ(folder.entries[0].files.back().real_name, "Add.a.4.2.1614717262233161.0.1.0.1");
  EXPECT_TRUE(folder.warnings.empty());
}

TEST_F(AscendFolder, SkipsNumbersThatNoMappingExplains) {
  add("12345");
  add("Add.a.4.2.1614717262233160");
  add("mapping.csv");
  const DumpFolder folder = scan().value();
  ASSERT_EQ(folder.ignored.size(), 1U);
  EXPECT_EQ(folder.ignored[0].name, "12345");
}

TEST_F(AscendFolder, ReadsTheRealNameFromTheMapping) {
  add("12345");
  add("777");
  add("mapping.csv",
      "12345,conv1.0.1614717262233160.npy\nbroken\n777,conv2.0.1614717262233160.npy");
  const DumpFolder folder = scan().value();
  EXPECT_EQ(folder.kind, FolderKind::standard);
  EXPECT_EQ(folder.warnings.size(), 1U);
  ASSERT_NE(folder.find_op("conv1", 0), nullptr);
  EXPECT_EQ(folder.find_op("conv1", 0)->files[0].path, (path_ / "12345").string());
}

TEST_F(AscendFolder, RefusesMixedKindsAndEmptyFolders) {
  EXPECT_EQ(scan().error().code, ErrorCode::bad_name);
  add("op.0.1.pb");
  add("Add.a.4.2.1614717262233160");
  EXPECT_EQ(scan().error().code, ErrorCode::bad_name);
  EXPECT_EQ(scan_folder((path_ / "op.0.1.pb").string()).error().code, ErrorCode::wrong_kind);
  EXPECT_EQ(scan_folder((path_ / "none").string()).error().code, ErrorCode::not_found);
}

TEST_F(AscendFolder, LooksUpOperatorsByTheirModelName) {
  add("net_a_b.0.1614717262233160.npy");
  add("xAscendQuant.0.1614717262233160.npy");
  const DumpFolder folder = scan().value();
  EXPECT_EQ(folder.kind, FolderKind::quant);
  EXPECT_NE(folder.find_op("net/a.b"), nullptr);
  EXPECT_NE(folder.find_op("net/a.b", 0), nullptr);
  EXPECT_EQ(folder.find_op("net/a.b", 1), nullptr);
}

TEST_F(AscendFolder, ScansTwentyThousandFilesQuickly) {
  for (int i = 0; i < 20'000; ++i) {
    add("Conv2D.net_layer" + std::to_string(i) + "_conv.1.2." +
        std::to_string(1614717262233160 + i));
  }
  const auto start = std::chrono::steady_clock::now();
  const DumpFolder folder = scan().value();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(folder.entries.size(), 20'000U);
  RecordProperty("milliseconds", std::to_string(elapsed.count() * 1000));
  // 30 to 60 ms in release builds here; the bound leaves room for sanitizers and loaded machines.
  EXPECT_LT(elapsed.count(), 2.0);
}

TEST_F(AscendFolder, AppendsRowsToTheMapping) {
  ASSERT_TRUE(append_name_mapping(path_.string(), "a.npy", "long"));
  ASSERT_TRUE(append_name_mapping(path_.string(), "b.npy", "with,comma"));
  const NameMapping mapping = read_name_mapping(path_.string()).value();
  EXPECT_EQ(mapping.lookup("a.npy"), "long");
  EXPECT_EQ(mapping.lookup("b.npy"), "with,comma");
  EXPECT_EQ(mapping.lookup("c.npy"), "");
}

TEST(Csv, ReadsQuotedFields) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(parse_csv("a,b\r\n\"x,y\",\"p\"\"q\nr\"\n\nlast"),
            (Rows{{"a", "b"}, {"x,y", "p\"q\nr"}, {"last"}}));
  EXPECT_TRUE(parse_csv("").empty());
}

// uuid.uuid3(uuid.NAMESPACE_DNS, "python.org") of Python's documentation.
TEST(ShortName, IsTheVersion3UuidOfTheName) {
  EXPECT_EQ(short_name("python.org", ".npy"), "6fa459eaee8a3ca4894edb77e160355e.npy");
}

TEST(TooLong, CountsCharactersAndBytes) {
  EXPECT_FALSE(is_too_long(std::string(254, 'x')));
  EXPECT_TRUE(is_too_long(std::string(255, 'x')));
  std::string chinese;
  for (int i = 0; i < 86; ++i) {
    chinese += "卷";  // three bytes each: 258 bytes, 86 characters
  }
  EXPECT_TRUE(is_too_long(chinese));
}

}  // namespace
}  // namespace opdrift::io
