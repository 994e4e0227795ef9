#include "opdrift/graph/atc_json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace opdrift::graph {
namespace {

namespace fs = std::filesystem;

Result<Graph> parse(const std::string& text, AtcJsonOptions options = {}) {
  return parse_atc_json(as_bytes(text), "g.json", options);
}

/// A file with one graph holding one operator with these extra elements.
std::string with_op(const std::string& elements) {
  return R"({"graph":[{"name":"g","op":[{"name":"a","type":"Add")" + elements + "}]}]}";
}

std::string op_attr(const std::string& key, const std::string& value) {
  return R"(,"attr":[{"key":")" + key + R"(","value":)" + value + "}]";
}

std::string output_attr(const std::string& key, const std::string& value) {
  return R"(,"output_desc":[{"attr":[{"key":")" + key + R"(","value":)" + value + "}]}]";
}

TEST(AtcJson, ReadsOperatorsOfAllGraphs) {
  const auto graph =
      parse(R"({"name":"m","graph":[{"name":"g0","op":[{"name":"a","type":"Data"}]},)"
            R"({"op":[{"type":"Add","id":7,"name":"b","input":["a:0","","c:-1","d:2"]}]}]})");
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(graph->name, "m");
  EXPECT_EQ(graph->graph_names, (std::vector<std::string>{"g0", ""}));
  ASSERT_EQ(graph->operators.size(), 2u);
  const Operator& b = graph->operators[1];
  EXPECT_EQ(b.graph, 1u);
  EXPECT_EQ(b.id, 7);
  ASSERT_EQ(b.inputs.size(), 2u);
  EXPECT_EQ(b.inputs[1].producer, "d");
  EXPECT_EQ(b.inputs[1].index, 2);
}

// q is fed, the next two are not, k is; what nothing feeds at the end has no place to keep.
TEST(AtcJson, OptionalInputsThatNothingFeedsKeepTheirPlace) {
  const std::string text = with_op(R"(,"input":["q:0","","","c:-1","k:1",""])");
  const auto graph = parse(text, {.attributes = true});
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(graph->operators[0].inputs.size(), 2U);
  EXPECT_EQ(graph->operators[0].absent_inputs, (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(parse(text)->operators[0].absent_inputs.empty());
}

TEST(AtcJson, ListsOfListsOfAnOperatorStandOneBehindTheOther) {
  const auto graph = parse(
      with_op(op_attr("paddings",
                      R"({"list_list_int":{"list_list_i":[{"list_i":[0,1]},{"list_i":[2,3]}]}})")),
      {.attributes = true});
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(graph->operators[0].attributes.at("paddings").integers,
            (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(AtcJson, OriginalNamesAbsentEmptyAndGiven) {
  const auto absent = parse(with_op(""));
  ASSERT_TRUE(absent.has_value());
  EXPECT_FALSE(absent->operators[0].originals_given);
  EXPECT_EQ(absent->operators[0].original_names, (std::vector<std::string>{"a"}));

  const auto empty =
      parse(with_op(op_attr("_datadump_original_op_names", R"({"list":{"val_type":1}})")));
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->operators[0].device_only);
  EXPECT_EQ(empty->operators[0].original_names, (std::vector<std::string>{""}));

  const auto given =
      parse(with_op(op_attr("_datadump_original_op_names", R"({"list":{"s":["x","y"]}})")));
  ASSERT_TRUE(given.has_value());
  EXPECT_EQ(given->operators[0].original_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(given->operators[0].device_only);
}

TEST(AtcJson, OutputsKeepTheirPositionAsDefaultIndex) {
  const auto graph = parse(with_op(
      R"(,"output_desc":[{"dtype":"DT_INT8"},null,{"attr":[{"key":"_datadump_origin_name",)"
      R"("value":{"s":"x"}},{"key":"origin_format","value":{"s":"ND"}},{"key":"origin_shape",)"
      R"("value":{"list":{"i":[2,3]}}}]}])"));
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  const auto& outputs = graph->operators[0].outputs;
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_FALSE(outputs[0].described);
  EXPECT_FALSE(outputs[1].described);
  EXPECT_TRUE(outputs[2].described);
  EXPECT_EQ(outputs[2].origin_index, 2);
  EXPECT_EQ(outputs[2].origin_format, "ND");
  EXPECT_EQ(outputs[2].origin_shape, (tensor::Shape{2, 3}));
}

TEST(AtcJson, DatadumpFormatBeatsOriginFormatInAnyOrder) {
  for (const bool first : {true, false}) {
    const std::string a = R"({"key":"_datadump_origin_format","value":{"s":"NHWC"}})";
    const std::string b = R"({"value":{"s":"NCHW"},"key":"origin_format"})";
    const auto graph = parse(
        with_op(R"(,"output_desc":[{"attr":[)" + (first ? a + "," + b : b + "," + a) + "]}]"));
    ASSERT_TRUE(graph.has_value());
    EXPECT_EQ(graph->operators[0].outputs[0].origin_format, "NHWC");
  }
}

TEST(AtcJson, SingleTextsAreUnescapedListTextsAreNot) {
  // "\345\215\267" is the UTF-8 form of one Chinese character in octal escapes.
  const auto graph =
      parse(with_op(output_attr("_datadump_origin_name", R"({"s":"\\345\\215\\267/a\\\\b"})")));
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->operators[0].outputs[0].origin_name, "\xE5\x8D\xB7/a\\b");
  EXPECT_EQ(unescape_c("a\\q"), "a\\q");
  EXPECT_EQ(unescape_c("a\\"), "a\\");
}

TEST(AtcJson, UsedElementsOfAnotherKindAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {R"({"graph":[{"name":"g"}]})", "op"},
      {R"({"graph":[{"op":{}}]})", "op"},
      {R"({"graph":{}})", "graph"},
      {R"({"graph":5})", "graph"},
      {R"({"g":[]})", "graph"},
      {R"([])", "object"},
      {R"({"graph":[{"op":[5]}]})", "object"},
      {R"({"graph":[{"op":[{"name":"a"}]}]})", "type"},
      {R"({"graph":[{"op":[{"name":{},"type":"T"}]}]})", "name"},
      {with_op(R"(,"id":"x")"), "id"},
      {with_op(R"(,"id":1.5)"), "id"},
      {with_op(R"(,"id":99999999999999999999)"), "id"},
      {with_op(R"(,"input":"a:0")"), "input"},
      {with_op(R"(,"input":[1])"), "input"},
      {with_op(R"(,"output_desc":[[]])"), "output_desc"},
      {with_op(R"(,"attr":{})"), "attr"},
      {with_op(op_attr("_datadump_is_multiop", R"({"s":"true"})")), "_datadump_is_multiop"},
      {with_op(op_attr("_L1_fusion_sub_graph_no", R"({"i":3})")), "_L1_fusion_sub_graph_no"},
      {with_op(op_attr("_datadump_original_op_names", R"({"list":{"i":[1]}})")), "original"},
      {with_op(op_attr("_datadump_original_op_names", R"({"list":{"s":[1]}})")), "original"},
      {with_op(op_attr("_datadump_original_op_names", R"("x")")), "original"},
      {with_op(output_attr("_datadump_origin_output_index", R"({"i":-1})")), "output_index"},
      {with_op(output_attr("_datadump_origin_output_index", R"({"s":"0"})")), "output_index"},
      {with_op(output_attr("origin_shape", R"({"list":{"s":["1"]}})")), "origin_shape"},
  };
  for (const auto& [text, element] : bad) {
    const auto graph = parse(text);
    ASSERT_FALSE(graph.has_value()) << text;
    EXPECT_EQ(graph.error().code, ErrorCode::bad_json) << text;
    EXPECT_EQ(graph.error().path, "g.json");
    EXPECT_NE(graph.error().message.find(element), std::string::npos) << graph.error().message;
  }
}

TEST(AtcJson, UnusedElementsMayHaveAnyKind) {
  const auto graph = parse(
      with_op(R"(,"stream_id":{"x":[1,{}]},"attr":[{"key":"k","value":null},{"key":"l","value":5},)"
              R"({"key":"m","value":{"t":{"desc":{"attr":[{"key":"_datadump_origin_name"}]}}}}])"));
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(graph->operators.size(), 1u);
}

TEST(AtcJson, TruncatedTextFailsAtEveryLength) {
  const std::string text =
      with_op(R"(,"id":3,"input":["x:0"])" +
              output_attr("origin_shape", R"({"list":{"i":[2,3],"val_type":"VT_LIST_INT"}})"));
  ASSERT_TRUE(parse(text).has_value());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto graph = parse(text.substr(0, length));
    ASSERT_FALSE(graph.has_value()) << length;
    EXPECT_EQ(graph.error().code, ErrorCode::bad_json);
  }
}

TEST(AtcJson, DeepNestingIsRefused) {
  const std::string deep =
      with_op(R"(,"x":)" + std::string(100000, '[') + std::string(100000, ']'));
  const auto graph = parse(deep);
  ASSERT_FALSE(graph.has_value());
  EXPECT_NE(graph.error().message.find("nesting"), std::string::npos);
}

TEST(AtcJson, HugeNumbersAndTrailingTextAreRefused) {
  EXPECT_FALSE(parse(with_op(R"(,"x":1e999999)")).has_value());
  EXPECT_FALSE(parse(with_op("") + "x").has_value());
  EXPECT_FALSE(parse("").has_value());
}

TEST(AtcJson, InputEntriesNeedOneNameAndOneNumber) {
  EXPECT_TRUE(parse_input_entry("a/b:12").well_formed);
  for (const char* entry : {"e:0:1", "e", ":0", "e:", "e:x", "e:-2", "e:99999999999999999999"}) {
    EXPECT_FALSE(parse_input_entry(entry).well_formed) << entry;
    EXPECT_EQ(parse_input_entry(entry).text, entry);
  }
}

TEST(AtcJson, AttributesAreKeptOnRequest) {
  const std::string text =
      with_op(R"(,"attr":[{"key":"pads","value":{"list":{"i":[1,2],"val_type":"VT_LIST_INT"}}},)"
              R"({"key":"eps","value":{"f":"1e-05"}},{"key":"mode","value":{"s":"same"}},)"
              R"({"key":"flag","value":{"b":true}}])");
  EXPECT_TRUE(parse(text)->operators[0].attributes.empty());
  AtcJsonOptions keep;
  keep.attributes = true;
  const auto graph = parse(text, keep);
  ASSERT_TRUE(graph.has_value());
  const auto& attributes = graph->operators[0].attributes;
  EXPECT_EQ(attributes.at("pads").integers, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(attributes.at("eps").reals, (std::vector<double>{1e-5}));
  EXPECT_EQ(attributes.at("mode").texts, (std::vector<std::string>{"same"}));
  EXPECT_EQ(attributes.at("flag").integers, (std::vector<std::int64_t>{1}));
}

fs::path shared_folder() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  return set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR) / ".." / "shared";
}

void expect_same_op(const Operator& op, const nlohmann::json& wanted) {
  EXPECT_EQ(op.type, wanted["type"]);
  EXPECT_EQ(op.id, wanted["id"]);
  EXPECT_EQ(op.multi_op, wanted["multiop"]);
  EXPECT_EQ(op.l1_fusion_group, wanted["l1"]);
  std::vector<std::string> inputs;
  for (const InputRef& input : op.inputs) {
    inputs.push_back(input.text);
  }
  EXPECT_EQ(nlohmann::json(inputs), wanted["inputs"]);
  EXPECT_EQ(op.originals_given, !wanted["original"].is_null());
  ASSERT_EQ(op.outputs.size(), wanted["outputs"].size());
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const nlohmann::json& output = wanted["outputs"][i];
    EXPECT_EQ(op.outputs[i].dtype, output["dtype"]);
    EXPECT_EQ(op.outputs[i].origin_name, output["origin_name"]);
    if (op.outputs[i].described) {
      EXPECT_EQ(op.outputs[i].origin_index, output["origin_index"]);
      // A shape with an unknown extent (-1) says nothing and is dropped.
      const bool known = output["origin_shape"].dump().find('-') == std::string::npos;
      EXPECT_EQ(nlohmann::json(op.outputs[i].origin_shape),
                known ? output["origin_shape"] : nlohmann::json::array());
    }
  }
}

// Expected values: the .expect.json beside each graph; the two *-310 graphs were written by ATC.
TEST(AtcJson, ReadsTheSharedGraphs) {
  const fs::path folder = shared_folder() / "fixtures" / "graph-json";
  if (!fs::exists(folder)) {
    GTEST_SKIP() << "no folder " << folder;
  }
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".expect.") != std::string::npos) {
      continue;
    }
    const auto graph = read_atc_json(entry.path().string());
    ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
    std::ifstream file(folder / (entry.path().stem().string() + ".expect.json"));
    const nlohmann::json expected = nlohmann::json::parse(file);
    std::map<std::pair<std::string, std::string>, const Operator*> operators;
    for (const Operator& op : graph->operators) {
      operators[{graph->graph_names[op.graph], op.name}] = &op;
    }
    for (const auto& wanted : expected["ops"]) {
      const auto found = operators.find({wanted["graph"], wanted["name"]});
      ASSERT_NE(found, operators.end()) << name << " " << wanted["name"];
      expect_same_op(*found->second, wanted);
      ++compared;
    }
  }
  EXPECT_GT(compared, 40u);
}

}  // namespace
}  // namespace opdrift::graph
