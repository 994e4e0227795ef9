#include <cmath>
#include <filesystem>

#include "unit/shell/shell_testing.hpp"

namespace opdrift::shell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestShell;

TEST(Pt, ShowsValuesAndStatisticsAndWritesThemAsText) {
  TestShell shell(200);
  shell.array("tf/dump/conv_1.0.17.npy", {2, 3}, {0, 0.5F, 1e-6F, 3, 4, 5});
  ASSERT_TRUE(shell.run("pt conv/1")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("conv_1.0.17.npy"));
  EXPECT_THAT(shell.out, HasSubstr("0.0 0.5 1e-06 3.0 4.0 5.0"));
  EXPECT_THAT(shell.out, HasSubstr("[Shape: (2, 3)] [Dtype: float32] [Max: 5.0] [Min: 0.0]"));
  EXPECT_EQ(io::testing::content_of(shell.place("temp/decode/dump_convert/conv_1.0.17.npy.txt")),
            "0 0.5 1e-06\n3 4 5\n");
  EXPECT_FALSE(std::filesystem::exists(shell.place("tf/dump/conv_1.0.17.npy.txt")));
}

TEST(Pt, TakesDeviceDumps) {
  TestShell shell(200);
  shell.device_dump("d/Add.x.1.2.17", {{false, {7}}, {true, {8, 9}}});
  ASSERT_TRUE(shell.run("pt " + shell.place("d/Add.x.1.2.17"))) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Add.x.1.2.17.input.0.npy"));
  EXPECT_THAT(shell.out, HasSubstr("8.0 9.0"));
}

TEST(Pt, ShowsAtMostSixteenRows) {
  TestShell shell(200);
  shell.array("a.npy", {1000}, std::vector<float>(1000, 1.0F));
  ASSERT_TRUE(shell.run("pt " + shell.place("a.npy")));
  EXPECT_THAT(shell.out, HasSubstr("│ 120 "));
  EXPECT_THAT(shell.out, Not(HasSubstr("│ 128 ")));
}

TEST(Pt, ShowsArraysOfEveryKind) {
  TestShell shell(200);
  shell.array("bool.npy", {2}, {0, 1}, tensor::DType::boolean);
  ASSERT_TRUE(shell.run("pt " + shell.place("bool.npy"))) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("False True"));
  EXPECT_THAT(shell.out, HasSubstr("[Max: True] [Min: False] [Mean: 0.5]"));
  shell.array("empty.npy", {0}, {});
  EXPECT_TRUE(shell.run("pt " + shell.place("empty.npy"))) << shell.err;
  shell.file("bad.npy", "no array");
  EXPECT_FALSE(shell.run("pt " + shell.place("bad.npy")));
  EXPECT_THAT(shell.err, HasSubstr("bad.npy"));
}

// 1 and 1.0005 are close (0.001 + 0.001 * 1.0005), 2 and 3 are not: one of two.
TEST(Cp, CountsErrorsByBothLimits) {
  TestShell shell;
  shell.array("l.npy", {2}, {1, 2});
  shell.array("r.npy", {2}, {1.0005F, 3});
  ASSERT_TRUE(shell.run("cp " + shell.place("l.npy") + " " + shell.place("r.npy"))) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Error Item Table"));
  EXPECT_THAT(shell.out, HasSubstr("│ 1     │ 2.0  │ 3.0   │ 1.0  │"));
  EXPECT_THAT(shell.out, HasSubstr("NumCnt:   2"));
  EXPECT_THAT(shell.out, HasSubstr("AllClose: False"));
  EXPECT_THAT(shell.out, HasSubstr("ErrorPer: 0.5  (rl= 0.001, al= 0.001)"));
  ASSERT_TRUE(shell.run("cp " + shell.place("l.npy") + " " + shell.place("r.npy") + " -al 1"));
  EXPECT_THAT(shell.out, HasSubstr("AllClose: True"));
}

TEST(Cp, NeverCallsNanClose) {
  TestShell shell;
  shell.array("l.npy", {2}, {std::nanf(""), INFINITY});
  ASSERT_TRUE(shell.run("cp " + shell.place("l.npy") + " " + shell.place("l.npy")));
  EXPECT_THAT(shell.out, HasSubstr("AllClose: False"));
  EXPECT_THAT(shell.out, HasSubstr("ErrorPer: 0.5"));
}

TEST(Cp, ContinuesTheShorterWithZeros) {
  TestShell shell;
  shell.array("tf/dump/l.0.1.npy", {2}, {1, 0});
  shell.array("temp/decode/r.npy", {1, 3}, {1, 0, 4});
  ASSERT_TRUE(shell.run("cp -n l.0.1.npy r.npy -s")) << shell.err;
  EXPECT_THAT(shell.err, HasSubstr("the shapes differ: [2] and [1,3]"));
  EXPECT_THAT(shell.err, HasSubstr("the sizes differ: 2 and 3"));
  EXPECT_THAT(shell.out, HasSubstr("NumCnt:   3"));
  EXPECT_THAT(shell.out, HasSubstr("r.npy.txt"));
  EXPECT_FALSE(shell.run("cp l.0.1.npy nowhere"));
}

TEST(Dc, DecodesFilesFoldersAndOperators) {
  TestShell shell;
  shell.device_dump("npu/debug_0/dump/20240101/net/Add.a_b.1.2.17", {{true, {1, 2, 3, 4}}});
  const std::string file = shell.place("npu/debug_0/dump/20240101/net/Add.a_b.1.2.17");
  for (const std::string& name : {file, shell.place("npu/debug_0/dump/20240101"),
                                  std::string("a/b"), std::string("Add.a_b.1.2.17")}) {
    ASSERT_TRUE(shell.run("dc " + name)) << shell.err;
    EXPECT_THAT(shell.out, HasSubstr("SrcFile: "));
    EXPECT_THAT(shell.out, HasSubstr("Add.a_b.1.2.17.output.0.npy"));
  }
  ASSERT_TRUE(shell.run("dc a/b -o " + shell.place("mine")));
  EXPECT_TRUE(std::filesystem::exists(shell.place("mine/Add.a_b.1.2.17.output.0.npy")));
  EXPECT_FALSE(shell.run("dc a/b -f NOPE"));
  EXPECT_FALSE(shell.run("dc nothing"));
}

}  // namespace
}  // namespace opdrift::shell
