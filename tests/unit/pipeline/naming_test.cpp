#include <gtest/gtest.h>

#include "dump_testing.hpp"

#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/pipeline/tensor_naming.hpp"

namespace opdrift::pipeline {
namespace {

TEST(TensorNaming, DeviceNamesGiveTypeNameAndTime) {
  const FileNaming naming = naming_of("Conv2D.net_conv1.10.3.1614717262233160");
  EXPECT_EQ(naming.operator_name, "net_conv1");
  EXPECT_EQ(naming.operator_type, "Conv2D");
  EXPECT_EQ(naming.time, 1614717262233160U);
  EXPECT_FALSE(naming.role);
}

TEST(TensorNaming, FrameworkNamesGiveOperatorAndIndex) {
  const FileNaming naming = naming_of("model.layer1_conv.2.1614717262233160.npy");
  EXPECT_EQ(naming.operator_name, "model.layer1_conv");
  EXPECT_EQ(naming.index, 2U);
  EXPECT_EQ(naming.role, io::TensorRole::output);
}

TEST(TensorNaming, ConvertedNamesKeepWhatTheyCameFrom) {
  const FileNaming naming = naming_of("Conv2D.net_conv1.10.3.1614717262233160.input.1.1x3x4x4.npy");
  EXPECT_EQ(naming.operator_name, "net_conv1");
  EXPECT_EQ(naming.operator_type, "Conv2D");
  EXPECT_EQ(naming.role, io::TensorRole::input);
  EXPECT_EQ(naming.index, 1U);
}

TEST(TensorNaming, OtherNamesAreOperatorsWithoutTheirEnding) {
  EXPECT_EQ(naming_of("weights.npy").operator_name, "weights");
  EXPECT_EQ(naming_of("a.b.npz").operator_name, "a.b");
  EXPECT_EQ(naming_of("plain").operator_name, "plain");
  EXPECT_EQ(naming_of(".input.").operator_name, ".input.");
}

class FolderWalk : public testing::FolderTest {};

TEST_F(FolderWalk, ListsFilesOfAllLevelsInOrderAndEndsLoops) {
  std::filesystem::create_directories(path("root/2/deep"));
  std::filesystem::create_directories(path("root/1"));
  std::ofstream(path("root/2/deep/b")) << "x";
  std::ofstream(path("root/1/a")) << "x";
  std::ofstream(path("root/z")) << "x";
  std::filesystem::create_directory_symlink(path("root"), path("root/2/loop"));
  std::filesystem::create_symlink(path("nowhere"), path("root/dangling"));
  const auto walk = walk_folder(path("root") + "/");
  ASSERT_TRUE(walk);
  std::vector<std::string> names;
  for (const WalkedFile& file : walk->files) {
    names.push_back(file.step + ":" + file.name);
  }
  EXPECT_EQ(std::count(names.begin(), names.end(), "1:a"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "2/deep:b"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), ":z"), 1);
  EXPECT_GE(walk->problems.size(), 1U);
  EXPECT_LE(walk->files.size(), 6U);
}

TEST(Naming, FrameworkNamesOfAnyLanguage) {
  const FileNaming naming = naming_of("网络.分类 层.3.1700000000000003.npy");
  EXPECT_EQ(naming.operator_name, "网络.分类 层");
  EXPECT_EQ(naming.index, 3U);
  EXPECT_EQ(naming.time, 1700000000000003U);
}

}  // namespace
}  // namespace opdrift::pipeline
