#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/commands/fusion.hpp"
#include "opdrift/shell/commands/overflow_report.hpp"

namespace opdrift::shell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::small_graph;
using testing::TestShell;

TEST(Fusion, ReadsObjectsGluedTogetherAndLists) {
  const auto glued = parse_fusion(
      R"({"graphId":"3","graph_fusion":{"A":{"effect_times":"2"},"B":{"effect_times":0}}})"
      R"({"session_and_graph_id":"0_1","ub_fusion":{"U":{"effect_times":1}}})");
  ASSERT_TRUE(glued.has_value()) << glued.error().to_string();
  ASSERT_EQ(glued->size(), 2U);
  EXPECT_EQ((*glued)[0].id, "3");
  ASSERT_EQ((*glued)[0].graph_fusion.size(), 1U);
  EXPECT_EQ((*glued)[0].graph_fusion[0].name, "A");
  EXPECT_EQ((*glued)[1].id, "0_1");
  EXPECT_EQ(parse_fusion("[{},{}]")->size(), 2U);
  EXPECT_EQ(parse_fusion("[{}]")->front().id, "NONE");
  EXPECT_EQ(parse_fusion(R"({"session_and_graph_id_0_7":{"graph_fusion":{}}})")->front().id, "0_7");
  EXPECT_FALSE(parse_fusion("{\"a\":").has_value());
  EXPECT_TRUE(parse_fusion("")->empty());
}

TEST(Overflow, ExplainsStatusNumbers) {
  EXPECT_THAT(core_meanings(0x20 | 0x100),
              ElementsAre("floating-point overflow", "overflow converting fp32 or int32 to fp16"));
  EXPECT_THAT(l2_meanings(0x20000), ElementsAre("underflow"));
  EXPECT_THAT(l2_meanings(0), ElementsAre());
  EXPECT_THAT(dha_meanings(0xB00), ElementsAre("source is NaN"));
  EXPECT_THAT(dha_meanings(0xE00), ElementsAre());
}

TEST(Ac, ShowsOverflowedOperatorsWithTheirTensors) {
  TestShell shell;
  const std::string folder = "overflow/dump/20240101/0/";
  shell.overflow_record(folder + "Opdebug.Node_OpDebug.9.1.1700000000000009", 0x20, 7, 2);
  shell.device_dump(folder + "Mul.net_mul.7.2.1700000000000008", {{true, {65504, 1}}});
  shell.device_dump(folder + "Add.other.7.3.1700000000000001", {{true, {1}}});
  shell.run("ac");
  EXPECT_THAT(shell.out, HasSubstr("[Mul][7] net_mul"));
  EXPECT_THAT(shell.out, HasSubstr("[AI Core][Status:32][TaskId:7] [floating-point overflow]"));
  EXPECT_THAT(shell.out, HasSubstr("- First overflow file timestamp [1700000000000009] -"));
  EXPECT_THAT(shell.out, HasSubstr("[Max: 65504.0]"));
}

TEST(Ac, ReadsDecodedRecordsWhoseDumpsAreGone) {
  TestShell shell;
  const std::string folder = "overflow/dump/20240101/";
  const std::string record = R"({"DHA Atomic Add":{"task_id":-1,"status":0},
    "L2 Atomic Add":{"task_id":-1,"status":0},
    "AI Core":{"model_id":1,"stream_id":2,"task_id":7,"kernel_code":"0x0","status":32}})";
  shell.file(folder + "Opdebug.Node_OpDebug.9.1.1700000000000009.output.0.json", record);
  shell.file(folder + "Opdebug.Node_OpDebug.9.1.1700000000000010.output.0.json", "{]");
  shell.device_dump(folder + "Mul.net_mul.7.2.1700000000000008", {{true, {65504, 1}}});
  shell.run("ac");
  EXPECT_THAT(shell.out, HasSubstr("Find [2] overflow records"));
  EXPECT_THAT(shell.out, HasSubstr("[Mul][7] net_mul"));
  EXPECT_THAT(shell.out, HasSubstr("[AI Core][Status:32][TaskId:7] [floating-point overflow]"));
  EXPECT_THAT(shell.err, HasSubstr("offset 1: expected JSON"));
}

TEST(Ac, ADecodedRecordBesideItsDumpIsOneRecord) {
  TestShell shell;
  const std::string dump = "overflow/dump/1/Opdebug.Node_OpDebug.9.1.1700";
  shell.overflow_record(dump, 0x20, 7, 2);
  shell.file(dump + ".output.0.json", "{}");
  shell.run("ac");
  EXPECT_THAT(shell.out, HasSubstr("Find [1] overflow records"));
}

TEST(Ac, ShowsAsManyRecordsAsAskedFor) {
  TestShell shell;
  for (int k = 1; k <= 4; ++k) {
    shell.overflow_record("overflow/dump/1/Opdebug.Node_OpDebug.9.1.170" + std::to_string(k), 8, 7,
                          2);
  }
  shell.run("ac -l 2");
  EXPECT_THAT(shell.out, HasSubstr("timestamp [1701]"));
  EXPECT_THAT(shell.out, HasSubstr("timestamp [1702]"));
  EXPECT_THAT(shell.out, Not(HasSubstr("timestamp [1703]")));
}

TEST(Ac, SaysThatNothingOverflowed) {
  TestShell shell;
  shell.run("ac");
  EXPECT_THAT(shell.out, HasSubstr("Checked success. find [0] overflow node!"));
}

TEST(Ac, NamesDangerousCastsAndComparesTheGraphsOfBothRuns) {
  TestShell shell;
  shell.file("npu/debug_0/graph/ge_proto_1_Build.txt.json", small_graph());
  shell.file("npu/debug_1/graph/ge_proto_9_Build.txt.json", small_graph("ND"));
  shell.run("ac");
  EXPECT_THAT(shell.out, HasSubstr("[Cast][DT_FLOAT -> DT_INT32] ['cast']"));
  EXPECT_THAT(shell.out, HasSubstr("LeftOp(Type/Name) : [Relu] 激活/relu"));
  EXPECT_THAT(shell.out, HasSubstr("[DT_FLOAT16][NC1HWC0] [] | [DT_FLOAT16][ND] []"));
  // image, w, conv/1 and relu are looked at; Cast and NetOutput are not.
  EXPECT_THAT(shell.out, HasSubstr("Compare [net] [net], similarity is [3 / 4]"));
}

TEST(Ac, EndsEarlyWhenInterrupted) {
  TestShell shell;
  CancelFlag flag;
  flag.cancel();
  shell.session.cancel = &flag;
  EXPECT_FALSE(shell.run("ac"));
  EXPECT_THAT(shell.out, Not(HasSubstr("overflow")));
}

}  // namespace
}  // namespace opdrift::shell
