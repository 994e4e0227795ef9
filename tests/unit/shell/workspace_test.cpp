#include "opdrift/shell/workspace/workspace.hpp"

#include <filesystem>

#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/workspace/dump_files.hpp"
#include "opdrift/shell/workspace/import.hpp"

namespace opdrift::shell {
namespace {

namespace fs = std::filesystem;

using io::testing::TempFolder;
using ::testing::HasSubstr;
using testing::TestShell;

TEST(Workspace, IsMadeInAFolderOrFoundThere) {
  const TempFolder folder;
  const auto made = open_workspace(folder.path());
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  EXPECT_EQ(made->workspace.root(), folder / "precision_data");
  EXPECT_TRUE(is_folder(folder / "precision_data/npu/debug_1/graph"));
  EXPECT_EQ(open_workspace(folder / "precision_data/")->workspace.root(),
            folder / "precision_data");
  EXPECT_EQ(open_workspace(folder / "nowhere").error().code, ErrorCode::not_found);
}

TEST(Workspace, TakesTheGreatestTimestampFolder) {
  const TempFolder folder;
  for (const char* name : {"20230101", "20240101", "abc"}) {
    fs::create_directories(folder / name);
  }
  fs::create_directory_symlink(folder / "abc", folder / "20250101");
  EXPECT_EQ(newest_folder(folder.path()), folder / "20250101");
  EXPECT_EQ(newest_folder(folder / "abc"), std::nullopt);
}

TEST(DeviceNames, AreTakenApart) {
  const auto file = parse_device_name("Add.a_b.3.4.1700000000000001");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->type, "Add");
  EXPECT_EQ(file->op_name, "a_b");
  EXPECT_EQ(file->task, 3U);
  EXPECT_EQ(file->stream, 4U);
  EXPECT_FALSE(parse_device_name("Add.a_b.3.1700000000000001")->stream.has_value());
  EXPECT_TRUE(parse_device_name("Add.a_b.3.4.17.csv")->statistics);
  EXPECT_FALSE(parse_device_name("Add.a_b.3.4.17.output.0.npy").has_value());
  EXPECT_TRUE(parse_device_name("Opdebug.Node_OpDebug.3.4.17")->is_debug_record());
  EXPECT_TRUE(is_before("9", "10"));
}

TEST(DeviceNames, AreLookedUpInMappingTables) {
  TestShell shell;
  shell.device_dump("d/12345", {{true, {1}}});
  shell.file("d/mapping.csv", "12345,Add.long_name.1.2.17\n");
  const auto files = files_of(device_files(shell.place("d")), "Add", "long/name", "");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, shell.place("d/12345"));
}

class Import : public ::testing::Test {
 protected:
  Import() {
    for (const char* part : {"r/model", "r/dump_data/npu/20240101/0", "r/dump_data/onnx"}) {
      fs::create_directories(folder_ / part);
    }
    folder_.file("r/model/m.json", testing::small_graph());
    folder_.file("r/result_20240101.csv", "TensorIndex,CosineSimilarity\n");
  }

  std::vector<std::string> source() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "r")) {
      names.push_back(entry.path().string());
    }
    return names;
  }

  TempFolder folder_;
};

TEST_F(Import, ShowsAResultFolderThroughLinksAndWritesNothingIntoIt) {
  const std::vector<std::string> before = source();
  EXPECT_TRUE(is_quickcmp_folder(folder_ / "r"));
  const auto opened = import_quickcmp(folder_ / "r", folder_ / "w/precision_data");
  ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  const Workspace& workspace = opened->workspace;
  EXPECT_TRUE(is_file(workspace.debug(0, "graph/ge_proto_0_Build.txt.json")));
  EXPECT_TRUE(is_folder(workspace.debug(0, "dump/20240101")));
  EXPECT_TRUE(fs::is_symlink(workspace.golden()));
  EXPECT_TRUE(is_file(workspace.path("temp/vector_compare/0/result_20240101.csv")));
  EXPECT_EQ(source(), before);
}

TEST_F(Import, CanBeRepeatedButTakesNoOtherWorkspace) {
  ASSERT_TRUE(import_quickcmp(folder_ / "r", folder_ / "w").has_value());
  EXPECT_TRUE(import_quickcmp(folder_ / "r", folder_ / "w").has_value());
  fs::create_directories(folder_ / "other");
  EXPECT_EQ(import_quickcmp(folder_ / "r", folder_ / "other").error().code, ErrorCode::wrong_kind);
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(import_quickcmp(folder_ / "empty", folder_ / "x").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace opdrift::shell
