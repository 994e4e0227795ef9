#include "opdrift/shell/commands/summary.hpp"

#include "unit/shell/shell_testing.hpp"

namespace opdrift::shell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestShell;

constexpr const char* kNew =
    "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,CosineSimilarity,"
    "MaxAbsoluteError\n"
    "0,Data,image,f,image,f,image:output:0,1.000000,0\n"
    "1,Conv,conv fused,f,Conv_0 Bn_1,f,conv:input:0,1.000000,0\n"
    "1,Conv,conv fused,f,Conv_0 Bn_1,f,conv:input:1,NaN,0\n"
    "1,Conv,conv fused,f,Conv_0 Bn_1,f,conv:output:0,0.978459,0.5\n"
    "2,Relu,relu,f,relu,f,relu:output:0,0.5,0.5\n"
    "3,Add,bad,f,bad,f,bad:output:0,NaN,NaN\n"
    "4,X,none,NaN,*,NaN,NaN,NaN,NaN\n";

constexpr const char* kOld =
    "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity,MaxAbsoluteError\n"
    "7,left,right,left:output:0,0.98,1\n";

TEST(ResultTable, IsFoundByBothSpellingsOfItsHeads) {
  const auto fresh = parse_result_table(kNew);
  ASSERT_TRUE(fresh.has_value()) << fresh.error().to_string();
  ASSERT_EQ(fresh->size(), 4U);
  EXPECT_THAT((*fresh)[1].right, ::testing::ElementsAre("Conv_0", "Bn_1"));
  const auto old = parse_result_table(kOld);
  ASSERT_TRUE(old.has_value());
  EXPECT_THAT((*old)[0].left, ::testing::ElementsAre("left"));
  EXPECT_EQ((*old)[0].index, "7");
}

TEST(ResultTable, ListsOperatorsAtTheLimitButNotNan) {
  const auto table = parse_result_table(kNew);
  EXPECT_FALSE((*table)[0].bad(0.98));
  EXPECT_TRUE((*table)[1].bad(0.98));
  EXPECT_FALSE((*table)[3].bad(0.98));
  EXPECT_TRUE((*parse_result_table(kOld))[0].bad(0.98));
}

TEST(ResultTable, RefusesOtherTensorIndices) {
  EXPECT_FALSE(parse_result_table("TensorIndex,CosineSimilarity\nconv:output,1\n").has_value());
  EXPECT_FALSE(
      parse_result_table("TensorIndex,CosineSimilarity\nconv:output:99999999,1\n").has_value());
  EXPECT_FALSE(parse_result_table("a,b\n1,2\n").has_value());
  EXPECT_FALSE(parse_result_table("").has_value());
}

TEST(Vcs, ShowsTheFirstOperatorsOfTheNewestResults) {
  TestShell shell;
  shell.file("temp/vector_compare/20240101000000/result_9.csv", kOld);
  shell.file("temp/vector_compare/20240102000000/result_1.csv", kNew);
  ASSERT_TRUE(shell.run("vcs")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Find 2 ops less then 0.98 in "));
  EXPECT_THAT(shell.out, HasSubstr("[1] conv"));
  EXPECT_THAT(shell.out, HasSubstr("Left:  ['conv', 'fused']"));
  EXPECT_THAT(shell.out, HasSubstr("Right: ['Conv_0', 'Bn_1']"));
  EXPECT_THAT(shell.out, HasSubstr("- [0]1.0        - [1]nan"));
  EXPECT_THAT(shell.out, HasSubstr("- [0]0.978459"));
  EXPECT_THAT(shell.out, HasSubstr("[2] relu"));
  ASSERT_TRUE(shell.run("vcs -l 1"));
  EXPECT_THAT(shell.out, Not(HasSubstr("[2] relu")));
}

TEST(Vcs, TakesTablesInTheOrderOfTheirNumbers) {
  TestShell shell;
  shell.file("r/result_10.csv", kOld);
  shell.file("r/result_9.csv", kNew);
  shell.file("r/other.csv", "x");
  ASSERT_TRUE(shell.run("vcs -c 0.6 -f " + shell.place("r"))) << shell.err;
  EXPECT_LT(shell.out.find("result_9.csv"), shell.out.find("result_10.csv"));
  EXPECT_THAT(shell.out, Not(HasSubstr("conv")));
}

TEST(Vcs, SaysThatNothingIsBelowTheLimit) {
  TestShell shell;
  shell.file("temp/vector_compare/1/result_1.csv", kNew);
  ASSERT_TRUE(shell.run("vcs -c 0.1"));
  EXPECT_THAT(shell.out, HasSubstr("Can not find any compare result over threshold: 0.1"));
  EXPECT_FALSE(shell.run("vcs -f " + shell.place("nowhere")));
  EXPECT_THAT(shell.err, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace opdrift::shell
