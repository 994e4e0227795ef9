#include <filesystem>

#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/commands/compare_all.hpp"

namespace opdrift::shell {
namespace {

using ::testing::HasSubstr;
using testing::small_graph;
using testing::TestShell;

TEST(Vc, ComparesTheNewestDumpWithTheGoldenByTheGraph) {
  TestShell shell;
  shell.file("npu/debug_0/graph/ge_proto_1_Build.txt.json", small_graph());
  shell.device_dump("npu/debug_0/dump/20230101/net/1/0/Conv2D.conv_1.2.3.17", {{true, {9, 9}}});
  shell.device_dump("npu/debug_0/dump/20240101/net/1/0/Conv2D.conv_1.2.3.17", {{true, {3, -4}}});
  shell.array("tf/dump/Conv_0.0.17.npy", {2}, {3, 4});
  ASSERT_TRUE(shell.run("vc")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Newest dump: " + shell.place("npu/debug_0/dump/20240101")));
  EXPECT_THAT(shell.out, HasSubstr("Find 1 ops less then 0.98"));
  // (9 - 16) / 25
  EXPECT_THAT(shell.out, HasSubstr("- [0]-0.28"));
  ASSERT_TRUE(shell.run("vcs"));
  EXPECT_THAT(shell.out, HasSubstr("conv/1"));
}

TEST(Vc, ComparesTwoFoldersAndTwoRunsByName) {
  TestShell shell;
  shell.device_dump("npu/debug_0/dump/20240101/net/Add.a.1.2.17", {{true, {1, 0}}});
  shell.device_dump("npu/debug_1/dump/20240101/net/Add.a.1.2.18", {{true, {0, 1}}});
  const std::string left = shell.place("npu/debug_0/dump/20240101/net");
  const std::string right = shell.place("npu/debug_1/dump/20240101/net");
  ASSERT_TRUE(shell.run("vc -lt " + left + " -rt " + right)) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("- [0]0.0"));
  ASSERT_TRUE(shell.run("vc")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Compare " + right + " with " + left));
  EXPECT_FALSE(shell.run("vc -lt " + left));
  EXPECT_FALSE(shell.run("vc -lt " + left + " -rt " + shell.place("nowhere")));
}

TEST(Vc, WarnsOfEmptyFolders) {
  TestShell shell;
  EXPECT_FALSE(shell.run("vc"));
  std::filesystem::create_directories(shell.place("e"));
  EXPECT_FALSE(shell.run("vc -lt " + shell.place("e") + " -rt " + shell.place("e")));
  EXPECT_THAT(shell.err, HasSubstr("found an empty folder"));
}

TEST(LeafFolders, AreFoundBelowTheNameOfAGraph) {
  const std::vector<std::string> leaves = {"/d/a/1/0", "/d/net/1/0", "/d/net/1/1"};
  EXPECT_EQ(leaf_below(leaves, "/d", "net"), "/d/net/1/0");
  EXPECT_EQ(leaf_below(leaves, "/d", "ne"), "");
  EXPECT_EQ(leaf_below(leaves, "/d", "d"), "");
}

}  // namespace
}  // namespace opdrift::shell
