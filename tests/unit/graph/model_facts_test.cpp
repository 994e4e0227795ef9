#include "opdrift/graph/model_facts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "om_testing.hpp"

#include "opdrift/graph/graph_file.hpp"

namespace opdrift::graph {
namespace {

using nlohmann::json;
using testing::fixtures_of;
using testing::fs::path;

json options_json(const AtcOptions& options) {
  json found = json::object();
  for (const auto& [name, value] : options.values) {
    found[name] = value;
  }
  return found;
}

json dynamic_json(const DynamicInputs& dynamic) {
  if (dynamic.kind == DynamicInputs::Kind::fixed) {
    return nullptr;
  }
  return {{"kind", std::string(to_string(dynamic.kind))}, {"values", dynamic.values}};
}

// Expected values: the .expect.json beside each graph.
TEST(ModelFacts, OfTheSharedGraphs) {
  const path folder = fixtures_of("graph-json");
  if (folder.empty()) {
    GTEST_SKIP() << "no fixtures of graph-json";
  }
  std::size_t compared = 0;
  for (const auto& entry : testing::fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().string().find(".expect.") != std::string::npos) {
      continue;
    }
    const json wanted = testing::read_json(folder / (stem + ".expect.json"));
    const auto graph = read_graph_file(entry.path().string(), {.attributes = true});
    ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
    const AtcOptions options = build_options(*graph);
    EXPECT_EQ(options_json(options), wanted["atc_options"]) << stem;
    EXPECT_EQ(dynamic_json(dynamic_inputs(options)), wanted["dynamic"]) << stem;
    EXPECT_EQ(json(called_graphs(*graph)), wanted["sub_graphs"]) << stem;
    json aipp = json::array();
    for (const AippOperator& op : aipp_operators(*graph)) {
      aipp.push_back(op.config);
    }
    EXPECT_EQ(aipp, wanted["aipp"]) << stem;
    json outputs = json::array();
    for (const NetOutputName& name : net_output_names(*graph)) {
      outputs.push_back(name.text);
    }
    EXPECT_EQ(outputs, wanted["out_nodes"]) << stem;
    ASSERT_EQ(graph->operators.size(), wanted["ops"].size()) << stem;
    for (std::size_t i = 0; i < graph->operators.size(); ++i) {
      EXPECT_EQ(json(all_fusion_passes(graph->operators[i])), wanted["ops"][i]["passes"]) << stem;
    }
    ++compared;
  }
  EXPECT_GE(compared, 2u);
}

TEST(ModelFacts, AippSettingsLoseTheirQuotes) {
  Graph graph;
  graph.operators.resize(1);
  graph.operators[0].attributes["aipp_config_path"] = {
      .kind = Attribute::Kind::text,
      .texts = {R"(aipp_mode:static,input_format:\"RGB888_U8\",src_image_size_h:256)"}};
  const auto aipp = aipp_operators(graph);
  ASSERT_EQ(aipp.size(), 1u);
  EXPECT_EQ(aipp[0].setting("input_format"), "RGB888_U8");
  EXPECT_EQ(aipp[0].setting("src_image_size_h"), "256");
  EXPECT_EQ(aipp[0].setting("crop"), "");
}

TEST(ModelFacts, KindOfDynamicInputs) {
  const auto kind_of = [](const std::string& command) {
    return to_string(dynamic_inputs(parse_atc_command(command)).kind);
  };
  EXPECT_EQ(kind_of("atc --input_shape=x:1,3"), "fixed");
  EXPECT_EQ(kind_of("atc --input_shape x:-1,3 --dynamic_batch_size 1,4"), "batch");
  EXPECT_EQ(kind_of("atc --input_shape=x:-1,3 --dynamic_dims=1;4"), "dims");
  EXPECT_EQ(kind_of("atc --input_shape=x:1,3,-1,-1 --dynamic_image_size=8,8;16,16"), "image");
  EXPECT_EQ(kind_of("atc --input_shape_range=x:[1~4,3]"), "shape");
  EXPECT_EQ(kind_of("atc --input_shape=x:-1,3"), "shape");
  EXPECT_EQ(kind_of("atc --input_shape=x:1~4,3"), "shape");
  EXPECT_EQ(kind_of("atc --input_shape=layer-1:1,3"), "fixed");
}

TEST(ModelFacts, GearsAreListsOfNumbers) {
  const auto gears_of = [](const std::string& command) {
    return dynamic_inputs(parse_atc_command(command)).gears();
  };
  using Gears = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(gears_of("atc --dynamic_batch_size=1,4"), (Gears{{1}, {4}}));
  EXPECT_EQ(gears_of("atc --dynamic_dims=1,2;8,2"), (Gears{{1, 2}, {8, 2}}));
  EXPECT_EQ(gears_of("atc --dynamic_image_size=8,8;16,16"), (Gears{{8, 8}, {16, 16}}));
  EXPECT_TRUE(gears_of("atc --input_shape=x:-1,3").empty());
  EXPECT_EQ(gear_of("Conv_0_ascend_mbatch_batch_12"), std::optional<std::uint64_t>(12));
  EXPECT_EQ(gear_of("Conv_0"), std::nullopt);
}

TEST(ModelFacts, InputShapesEndTheirNameAtTheLastColon) {
  const auto shapes = parse_input_shapes("a:b:1,3;ids:1~2,-1");
  ASSERT_TRUE(shapes.has_value());
  ASSERT_EQ(shapes->size(), 2u);
  EXPECT_EQ((*shapes)[0].name, "a:b");
  EXPECT_EQ((*shapes)[1].dims[0].low, 1);
  EXPECT_EQ((*shapes)[1].dims[0].high, 2);
  EXPECT_EQ((*shapes)[1].dims[1].low, -1);
  EXPECT_FALSE(parse_input_shapes("x:1,three").has_value());
  EXPECT_FALSE(parse_input_shapes("nothing").has_value());
}

Operator op_of(const std::string& name, const std::string& type, std::size_t graph) {
  Operator op;
  op.name = name;
  op.type = type;
  op.graph = graph;
  return op;
}

/// Two graphs, the second called by an operator of the first.
Graph with_called_graph(const std::string& command) {
  Graph graph;
  graph.graph_names = {"main", "sub"};
  graph.attributes["atc_cmdline"] = {.kind = Attribute::Kind::text, .texts = {command}};
  graph.operators = {op_of("x", "Data", 0), op_of("case", "Case", 0), op_of("out", "NetOutput", 0),
                     op_of("inner", "Data", 1), op_of("inner_out", "NetOutput", 1)};
  graph.operators[0].input_descs = {{"DT_FLOAT16", "NCHW", {2, 3}, {}}};
  graph.operators[1].subgraphs = {"sub"};
  graph.operators[2].input_descs = {{"DT_INT64", "ND", {-1}, {}}};
  graph.operators[4].input_descs = {{"DT_FLOAT", "ND", {4}, {}}};
  return graph;
}

TEST(ModelFacts, CalledGraphsAreListedForModelsWithGearsOnly) {
  EXPECT_EQ(listed_operators(with_called_graph("atc")).size(), 3u);
  EXPECT_EQ(listed_operators(with_called_graph("atc --dynamic_batch_size=1,4")).size(), 5u);
}

// 2*3 halves are 12 bytes; the output of the first graph has an unknown extent.
TEST(ModelFacts, InputsAndOutputsOfTheNetwork) {
  const Graph graph = with_called_graph("atc");
  const auto inputs = net_inputs(graph);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].bytes, std::optional<std::uint64_t>(12));
  ASSERT_EQ(net_outputs(graph).size(), 1u);
  EXPECT_EQ(net_outputs(graph)[0].bytes, std::nullopt);
  EXPECT_EQ(net_outputs(graph)[0].dtype, tensor::DType::i64);
  const Graph gears = with_called_graph("atc --dynamic_batch_size=1,4");
  ASSERT_EQ(net_outputs(gears).size(), 1u);
  EXPECT_EQ(net_outputs(gears)[0].bytes, std::optional<std::uint64_t>(16));
}

}  // namespace
}  // namespace opdrift::graph
