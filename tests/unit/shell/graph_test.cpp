#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/graph/ge_graph.hpp"
#include "opdrift/shell/graph/neighbours.hpp"

namespace opdrift::shell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::small_graph;
using testing::TestShell;

constexpr const char* kGraph = "npu/debug_0/graph/ge_proto_1_Build.txt.json";

TEST(GeGraph, KeepsWhatPeopleWantToSee) {
  const auto graph = parse_ge_graph(small_graph(), "g.json");
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  ASSERT_EQ(graph->nodes.size(), 6U);
  EXPECT_EQ(graph->graphs[0].session_id, "0_1");
  const Node& conv = graph->nodes[2];
  ASSERT_EQ(conv.inputs.size(), 3U);
  EXPECT_EQ(conv.inputs[2].output, -1);
  EXPECT_THAT(conv.input_ports[0].shape_range, ElementsAre(1, 2, 3, 3));
  EXPECT_THAT(conv.passes, ElementsAre("ConvPass"));
  EXPECT_EQ(conv.kernel_name, "te_conv");
  EXPECT_EQ(conv.output_ports[0].origin_name, "Conv_0");
}

TEST(GeGraph, RefusesWhatIsNoGraph) {
  EXPECT_EQ(parse_ge_graph("{\"graph\":[{\"op\":[", "g").error().code, ErrorCode::bad_json);
  EXPECT_EQ(parse_ge_graph("{\"a\":1}", "g").error().code, ErrorCode::bad_json);
  EXPECT_EQ(parse_ge_graph("", "g").error().code, ErrorCode::bad_json);
}

TEST(GeGraph, PassesOverKindsItDoesNotExpect) {
  const auto graph = parse_ge_graph(
      R"({"graph":[{"name":1,"op":[{"name":"a","type":"T","id":"7","input":[null,"x"],)"
      R"("attr":{"key":1},"output_desc":[null,{"shape":{"dim":["3",null]}}]},5]}]})",
      "g");
  ASSERT_TRUE(graph.has_value());
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->nodes[0].id, 7);
  EXPECT_THAT(graph->nodes[0].output_ports[1].shape, ElementsAre(3, 0));
}

TEST(Ni, ShowsTheOperatorAndItsDumps) {
  TestShell shell;
  shell.file(kGraph, small_graph());
  shell.device_dump("npu/debug_0/dump/20240101/net/Conv2D.conv_1.2.3.1700000000000001",
                    {{false, {1, 2}}, {true, {3, 5}}});
  shell.array("tf/dump/Conv_0.0.1700000000000009.npy", {2}, {3, 4});
  ASSERT_TRUE(shell.run("ni conv/1")) << shell.err;
  for (const char* part :
       {"(debug_0) net", "Op(Type/Name): [Conv2D] conv/1", "ID:    2", "KernelName:    te_conv",
        "PassName: ConvPass", "OriginalOp: ['Conv_0', 'Bn_1']",
        "-[0][DT_FLOAT][NCHW][1, 3, 8, 8] range[1, 2, 3, 3] original[1, 3, 8, 8] image:0",
        "-[-1][][][] image:-1", "-[0][DT_FLOAT16][NC1HWC0][1, 1, 8, 8, 16] ['激活/relu']",
        "NpuDumpInput:", "NpuDumpOutput:", "TfDumpOutput:",
        "[Shape: (2,)] [Dtype: float32] [Max: 5.0] [Min: 3.0] [Mean: 4.0]",
        "[Max: 4.0] [Min: 3.0] [Mean: 3.5]"}) {
    EXPECT_THAT(shell.out, HasSubstr(part));
  }
}

TEST(Ni, ListsWhatIsSimilar) {
  TestShell shell;
  shell.file(kGraph, small_graph());
  ASSERT_TRUE(shell.run("ni -n relu"));
  EXPECT_THAT(shell.out, HasSubstr("Possible Operators"));
  EXPECT_THAT(shell.out, HasSubstr("[Relu] 激活/relu"));
  ASSERT_TRUE(shell.run("ni conv_1"));
  EXPECT_THAT(shell.out, HasSubstr("[Conv2D] conv/1"));
  EXPECT_FALSE(shell.run("ni nothing_like_it"));
}

TEST(Ni, ShowsAllAttributesWhenAsked) {
  TestShell shell;
  shell.file(kGraph, small_graph());
  ASSERT_TRUE(shell.run("ni conv/1 -a"));
  EXPECT_THAT(shell.out, HasSubstr("conv/1_kernelname: te_conv"));
}

TEST(Ni, MatchesDumpsByGraphOnlyForTraining) {
  TestShell shell;
  shell.file(kGraph, small_graph());
  shell.device_dump("npu/debug_0/dump/20240101/other/Conv2D.conv_1.2.3.17", {{true, {1}}});
  ASSERT_TRUE(shell.run("ni conv/1"));
  EXPECT_THAT(shell.out, HasSubstr("NpuDumpOutput:"));
  shell.session.settings.train = true;
  ASSERT_TRUE(shell.run("ni conv/1"));
  EXPECT_THAT(shell.out, Not(HasSubstr("NpuDumpOutput:")));
}

TEST(Ni, DrawsTheNeighboursColouredByTheNewestResults) {
  TestShell shell(200);
  shell.file(kGraph, small_graph());
  shell.file("temp/vector_compare/1/result_1.csv",
             "TensorIndex,CosineSimilarity\nconv/1:output:0,0.5\n激活/relu:output:0,0.999\n");
  ASSERT_TRUE(shell.run("ni conv/1 -s 1")) << shell.err;
  const std::string path = shell.place("temp/op_graph/0.net.Conv2D.conv_1.1");
  const std::string dot = io::testing::content_of(path + ".gv");
  EXPECT_THAT(dot, HasSubstr("\"conv/1\" [label=\"{{ <i0> [0] [DT_FLOAT]\\n[1, 3, 8, 8]"));
  EXPECT_THAT(dot, HasSubstr("color=red, style=filled, fillcolor=\"#f8a5a5\""));
  EXPECT_THAT(dot, HasSubstr("\"image\":o0 -> \"conv/1\":i0;"));
  EXPECT_THAT(dot, HasSubstr("\"conv/1\":o0 -> \"激活/relu\":i0;"));
  EXPECT_THAT(dot, Not(HasSubstr("\"cast\"")));
  const std::string svg = io::testing::content_of(path + ".svg");
  EXPECT_THAT(svg, HasSubstr("激活/relu"));
  EXPECT_THAT(svg, HasSubstr("#c6efce"));
}

TEST(Neighbourhood, GoesNotThroughNetOutput) {
  const auto graph = parse_ge_graph(
      R"({"graph":[{"name":"g","op":[{"name":"a","type":"A"},{"name":"b","type":"B","id":1},)"
      R"({"name":"out","type":"NetOutput","id":2,"input":["a:0","b:0"]}]}]})",
      "g");
  const FoundNode root{&*graph, graph->nodes.data()};
  EXPECT_EQ(neighbourhood_of(root, 1).nodes.size(), 2U);
  EXPECT_EQ(neighbourhood_of(root, 5).nodes.size(), 2U);
  EXPECT_EQ(neighbourhood_of(root, 5).edges.size(), 1U);
}

TEST(Ls, CountsTypesAndFindsByPart) {
  TestShell shell;
  EXPECT_FALSE(shell.run("ls"));
  shell.file(kGraph, small_graph());
  ASSERT_TRUE(shell.run("ls"));
  EXPECT_THAT(shell.out, HasSubstr("│ Conv2D    │ 1     │"));
  ASSERT_TRUE(shell.run("ls -t Conv -f ConvP"));
  EXPECT_THAT(shell.out, HasSubstr("[Conv2D][ConvPass] conv/1"));
  EXPECT_THAT(shell.out, Not(HasSubstr("relu")));
  shell.device_dump("npu/debug_0/dump/20240101/net/Conv2D.conv_1.2.3.17", {{true, {1}}});
  for (const char* const line : {"ls dump -n conv_1", "ls dump conv_1", "ls dump"}) {
    ASSERT_TRUE(shell.run(line));
    EXPECT_THAT(shell.out, HasSubstr("Conv2D.conv_1.2.3.17"));
  }
  ASSERT_TRUE(shell.run("ls dump other"));
  EXPECT_THAT(shell.out, Not(HasSubstr("Conv2D")));
}

TEST(La, ListsOperatorsWithCosineAndFiles) {
  TestShell shell;
  EXPECT_FALSE(shell.run("la"));
  shell.device_dump("npu/debug_0/dump/20240101/net/Conv2D.conv_1.2.3.17", {{true, {1}}});
  ASSERT_TRUE(shell.run("la"));
  EXPECT_THAT(shell.out, HasSubstr("│ Conv2D │ conv_1 │ -      │ 1   │ 0      │"));
  EXPECT_THAT(shell.out, HasSubstr("1 of 1 operators, 0 bad; nothing is compared yet"));
  shell.file(kGraph, small_graph());
  shell.file("temp/vector_compare/1/result_1.csv",
             "TensorIndex,CosineSimilarity\nconv/1:output:0,0.5\n激活/relu:output:0,0.999\n");
  shell.array("tf/dump/conv_1.0.17.npy", {1}, {1});
  ASSERT_TRUE(shell.run("la"));
  EXPECT_THAT(shell.out, HasSubstr("│ Conv2D    │ conv/1    │ 0.5    │ 1   │ 1      │"));
  EXPECT_THAT(shell.out, HasSubstr("│ Relu      │ 激活/relu │ 0.999  │ 0   │ 0      │"));
  EXPECT_THAT(shell.out, HasSubstr("6 of 6 operators, 1 bad"));
  ASSERT_TRUE(shell.run("la -b"));
  EXPECT_THAT(shell.out, HasSubstr("1 of 6 operators, 1 bad"));
  ASSERT_TRUE(shell.run("la -b -c 0.9991 -t Relu"));
  EXPECT_THAT(shell.out, HasSubstr("激活/relu"));
  ASSERT_TRUE(shell.run("la 激活"));
  EXPECT_THAT(shell.out, HasSubstr("1 of 6 operators, 0 bad"));
  ASSERT_TRUE(shell.run("la -l 2"));
  EXPECT_THAT(shell.out, Not(HasSubstr("conv/1")));
}

TEST(Pf, ShowsPassesAndSwitchesThoseOfBadOperatorsOff) {
  TestShell shell;
  EXPECT_FALSE(shell.run("pf"));
  EXPECT_THAT(shell.err, HasSubstr("found neither"));
  shell.file(kGraph, small_graph());
  shell.file("fusion/fusion_result.json",
             R"({"graph_fusion":{"ConvPass":{"effect_times":"2"},"Other":{"effect_times":"1"}}})");
  shell.file("temp/vector_compare/1/result_1.csv",
             "TensorIndex,CosineSimilarity\nconv/1:output:0,0.5\n");
  ASSERT_TRUE(shell.run("pf")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("│ ConvPass    │ 1         │ 1   │ 2            │"));
  EXPECT_THAT(shell.out, HasSubstr("│ Other       │ 0         │ 0   │ 1            │"));
  ASSERT_TRUE(shell.run("pf conv"));
  EXPECT_THAT(shell.out, HasSubstr("[Conv2D] conv/1"));
  EXPECT_THAT(shell.out, HasSubstr("OriginalOp: ['Conv_0', 'Bn_1']"));
  EXPECT_THAT(shell.out, HasSubstr("CosSim: 0.5"));
  EXPECT_FALSE(shell.run("pf relu"));
  EXPECT_FALSE(shell.run("pf -b -c 0.4"));
  const std::string off = shell.place("off.cfg");
  ASSERT_TRUE(shell.run("pf -b -o " + off));
  EXPECT_THAT(io::testing::content_of(off), HasSubstr(R"("ConvPass": "off")"));
}

TEST(GraphFiles, AreReadAsGeWritesThem) {
  TestShell shell;
  shell.file("npu/debug_0/graph/ge_proto_00000003_Build.txt",
             R"(name: "m" graph { name: "net" attr { key: "_session_graph_id" value { s: "0_1" } }
      op { name: "a" type: "Data" output_desc { dtype: DT_FLOAT layout: "ND" shape { dim: 4 } } }
      op { name: "b/c" type: "Relu" input: "a:0" id: 1
           attr { key: "pass_name" value { s: "APass" } }
           input_desc { dtype: DT_FLOAT16 layout: "ND" } } })");
  shell.file("npu/debug_0/graph/ge_proto_00000002_PreRun.txt", "name: \"other stage\"");
  ASSERT_TRUE(shell.run("ni b/c -a")) << shell.err;
  EXPECT_THAT(shell.out, HasSubstr("Op(Type/Name): [Relu] b/c"));
  EXPECT_THAT(shell.out, HasSubstr("-[0][DT_FLOAT16][ND][] a:0"));
  EXPECT_THAT(shell.out, HasSubstr("pass_name: APass"));
  EXPECT_EQ(shell.err, "");
  shell.file("npu/debug_0/graph/ge_proto_00000004_Build.txt", "name: \"cut");
  shell.run("ls");
  EXPECT_THAT(shell.err, HasSubstr("ge_proto_00000004_Build.txt"));
}

TEST(GraphFiles, AreReadAgainWhenTheyChange) {
  TestShell shell;
  shell.file(kGraph, small_graph());
  ASSERT_TRUE(shell.run("ls -n cast"));
  shell.file(kGraph, R"({"graph":[{"name":"g","op":[{"name":"new","type":"N"}]}]})");
  ASSERT_TRUE(shell.run("ls -n new"));
  EXPECT_THAT(shell.out, HasSubstr("[N][] new"));
}

}  // namespace
}  // namespace opdrift::shell
