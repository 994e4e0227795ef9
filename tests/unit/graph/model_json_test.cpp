#include "opdrift/graph/om/model_json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "om_testing.hpp"

#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/graph/om/model_file.hpp"
#include "opdrift/graph/om/model_text.hpp"

namespace opdrift::graph {
namespace {

using nlohmann::json;
using testing::fixtures_of;
using testing::fs::path;

std::string rendered(const ModelDef& model) {
  std::string text;
  const Status written = write_model_json(model, [&text](std::string_view piece) -> Status {
    text += piece;
    return Unit{};
  });
  EXPECT_TRUE(written.has_value());
  return text;
}

/// The rendering of a message.
json json_of(const std::vector<std::byte>& message) {
  const auto model = ModelDef::read(message, 0);
  EXPECT_TRUE(model.has_value()) << model.error().to_string();
  return model ? json::parse(rendered(*model)) : json();
}

json json_of_text(const std::string& text) {
  const auto message = encode_model_text(text);
  EXPECT_TRUE(message.has_value()) << message.error().to_string();
  return message ? json_of(*message) : json();
}

// Expected values: the .expect.json beside each file, the rendering of ATC or what stands for it.
TEST(ModelJson, RendersTheSharedModels) {
  const path folder = fixtures_of("om");
  if (folder.empty()) {
    GTEST_SKIP() << "no fixtures of om";
  }
  std::size_t compared = 0;
  for (const auto& entry : testing::fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    const path expect = folder / (stem + ".expect.json");
    if (entry.path().extension() != ".om" || !exists(expect)) {
      continue;
    }
    const json wanted = testing::read_json(expect);
    for (const json& model : wanted.value("models", json::array())) {
      const auto file = open_model_file(entry.path().string(),
                                        {.model = std::to_string(model["table"].get<int>())});
      ASSERT_TRUE(file.has_value()) << file.error().to_string();
      const json found = json::parse(rendered(file->model));
      json expected;
      if (model.contains("json")) {
        expected = model["json"];
      } else if (model.contains("json_equals") &&
                 exists(folder / model["json_equals"].get<std::string>())) {
        expected = testing::read_json(folder / model["json_equals"].get<std::string>());
      }
      if (!expected.is_null()) {
        const json difference =
            json::diff(testing::with_sorted_maps(expected), testing::with_sorted_maps(found));
        EXPECT_TRUE(difference.empty()) << stem << " " << difference.dump().substr(0, 2000);
        ++compared;
      }
      if (model.contains("ops")) {
        json names = json::array();
        for (const json& graph : found["graph"]) {
          for (const json& op : graph["op"]) {
            names.push_back(op["name"]);
          }
        }
        EXPECT_EQ(names, model["ops"]) << stem;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 3u);
}

TEST(ModelJson, IndentsByTwoAndSortsKeys) {
  const auto message = encode_model_text("graph { op { type: 'Data' name: 'x' id: 3 } name: 'g' }");
  ASSERT_TRUE(message.has_value());
  const auto model = ModelDef::read(*message, 0);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(rendered(*model),
            "{\n  \"graph\": [\n    {\n      \"name\": \"g\",\n      \"op\": [\n        {\n"
            "          \"id\": 3,\n          \"name\": \"x\",\n          \"type\": \"Data\"\n"
            "        }\n      ]\n    }\n  ]\n}\n");
}

TEST(ModelJson, DefaultsAreAbsentButChosenOnesStay) {
  const json found = json_of_text(
      "graph { op { name: 'x' id: 0 attr { key: 'a' value { b: false } }"
      " attr { key: 'e' value { s: '' } } } }");
  const json& op = found["graph"][0]["op"][0];
  EXPECT_FALSE(op.contains("id"));
  EXPECT_EQ(op["attr"], json::parse(R"([{"key":"a","value":{"b":false}},
                                        {"key":"e","value":{"s":""}}])"));
}

TEST(ModelJson, MessageOfLeftOutFieldsOnlyIsNull) {
  const json found = json_of_text(
      "attr { key: 'tasks' value { bt: 'abc' } } attr { key: 'none' value { } }"
      " graph { output: 'x' } graph { op { input_desc { } input_desc { size: 7 } } }");
  EXPECT_EQ(found["attr"], json::parse(R"([{"key":"none"},{"key":"tasks","value":null}])"));
  EXPECT_TRUE(found["graph"][0].is_null());
  EXPECT_EQ(found["graph"][1]["op"][0]["input_desc"], json::parse("[null,null]"));
}

// Six digits as C's %g prints them; 1.234560022567166e-05 is the float next to 1.23456e-05.
TEST(ModelJson, SingleRealsAreTextsUpToNineCharacters) {
  const json found = json_of_text(
      "graph { op { attr { key: 'a' value { f: 1e-5 } } attr { key: 'b' value { f: 1.23456e-5 } }"
      " attr { key: 'c' value { list { f: 0.5 f: 1 val_type: VT_LIST_FLOAT } } } } }");
  EXPECT_EQ(found["graph"][0]["op"][0]["attr"], json::parse(R"([{"key":"a","value":{"f":"1e-05"}},
                            {"key":"b","value":{"f":1.234560022567166e-05}},
                            {"key":"c","value":{"list":{"f":[0.5,1.0],"val_type":"VT_LIST_FLOAT"}}}])"));
}

TEST(ModelJson, SingleTextsAreEscapedListedOnesAreNot) {
  const json found =
      json_of_text(R"(graph { op { attr { key: 's' value { s: "a\"\\\n\345\261\202" } })"
                   R"( attr { key: 't' value { list { s: "\"\345\261\202\377" } } } } })");
  EXPECT_EQ(found["graph"][0]["op"][0]["attr"][0]["value"]["s"], R"(a\"\\\n\345\261\202)");
  EXPECT_EQ(found["graph"][0]["op"][0]["attr"][1]["value"]["list"]["s"][0], "\"层");
}

/// Text of an AttrDef with that many AttrDefs inside each other.
std::string nested(int levels) {
  std::string text = "i: 1";
  for (int i = 0; i < levels; ++i) {
    text = "func { attr { key: 'k' value { " + text + " } } }";
  }
  return text;
}

// Level 2 is the first AttrDef; each func, entry and AttrDef inside is one more, so the seventh
// func would be level 21.
TEST(ModelJson, CutsBeyondTwentyLevels) {
  const json found = json_of_text("graph { } attr { key: 'deep' value { " + nested(9) + " } }");
  json value = found["attr"][0]["value"];
  int steps = 0;
  while (value["func"].is_object()) {
    const json inner = value["func"]["attr"][0]["value"];
    value = inner;
    ++steps;
  }
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(value, json::parse(R"({"func":null})"));
}

/// The attribute tables of a compressed model with two names, the second of texts.
constexpr const char* kTables =
    "attr { key: 'om_compress_version' value { i: 1 } }"
    "attr { key: 'attr_name_enum' value { list { s: 'plain' s: '_pattern' } } }"
    "attr { key: 'attrs_use_string_value' value { list { b: false b: true } } }"
    "attr { key: 'attr_value_enum' value { list { s: 'Opaque' s: 'Conv \\\"1\\\"' } } }";

// Keys: number 0 is byte 1, number 1 is byte 2, number 127 is bytes 1 2. Texts of the table stay as
// they are, also single ones.
TEST(ModelJson, CompressedAttributesAreWrittenOut) {
  const json found = json_of_text(
      std::string(kTables) +
      R"(graph { op { name: 'x' attr { key: "\000\001" value { i: 5 } })"
      R"( attr { key: "\000\002" value { i: 1 } } attr { key: 'literal' value { i: 1 } })"
      R"( output_desc { attr { key: "\000\002" value { list { i: 0 i: 1 val_type: VT_LIST_INT })"
      R"( } } } } })");
  EXPECT_FALSE(found.contains("attr"));
  const json& op = found["graph"][0]["op"][0];
  EXPECT_EQ(op["attr"], json::parse(R"([{"key":"_pattern","value":{"s":"Conv \"1\""}},
      {"key":"literal","value":{"i":1}},{"key":"plain","value":{"i":5}}])"));
  EXPECT_EQ(op["output_desc"][0]["attr"][0]["value"],
            json::parse(R"({"list":{"s":["Opaque","Conv \"1\""],"val_type":"VT_LIST_STRING"}})"));
}

TEST(ModelJson, CompressedAttributesBeyondTheTablesAreLeftOutWithAWarning) {
  const auto message = encode_model_text(
      std::string(kTables) +
      R"(graph { op { name: 'x' attr { key: "\000\001\002" value { i: 5 } })"
      R"( attr { key: "\000\002" value { i: 9 } } attr { key: 'kept' value { i: 1 } } } })");
  ASSERT_TRUE(message.has_value());
  const auto model = ModelDef::read(*message, 0);
  ASSERT_TRUE(model.has_value());
  const json found = json::parse(rendered(*model));
  EXPECT_EQ(found["graph"][0]["op"][0]["attr"], json::parse(R"([{"key":"kept","value":{"i":1}}])"));
  EXPECT_EQ(model->warnings().size(), 2u);
}

// 0x00010000 is L1 group 1, 5 is UB group 5; the third entry is empty and ends the list.
TEST(ModelJson, FusionModelNamesTheGroupsOfOldModels) {
  const auto scope = [](std::int64_t value) {
    ProtobufWriter attribute;
    attribute.signed_varint(3, value);
    ProtobufWriter entry;
    entry.text(1, "fusion_scope");
    entry.message(2, attribute);
    ProtobufWriter op;
    op.message(10, entry);
    return op;
  };
  ProtobufWriter list;
  list.message(7, scope(0x00010000));
  list.message(7, scope(5));
  list.text(7, "");
  list.message(7, scope(5));
  ProtobufWriter attribute;
  attribute.message(1, list);
  ProtobufWriter entry;
  entry.text(1, "fm");
  entry.message(2, attribute);
  ProtobufWriter graph;
  for (std::uint64_t i = 0; i < 4; ++i) {
    ProtobufWriter op;
    op.text(1, "op" + std::to_string(i));
    op.varint(22, 7 + i);
    graph.message(6, op);
  }
  ProtobufWriter model;
  model.message(11, entry);
  model.message(7, graph);
  const json found = json_of(model.take());
  const json& ops = found["graph"][0]["op"];
  EXPECT_EQ(ops[0]["attr"],
            json::parse(R"([{"key":"group_op_name","value":{"s":"group_op_l1_1_7"}}])"));
  EXPECT_EQ(ops[1]["attr"],
            json::parse(R"([{"key":"group_op_name","value":{"s":"group_op_ub_5_8"}}])"));
  EXPECT_FALSE(ops[2].contains("attr"));
  EXPECT_FALSE(ops[3].contains("attr"));
}

// Numbers may be packed or not, in one field even: 3 alone, then 1 and 300 packed.
TEST(ModelJson, PackedAndSingleNumbersJoin) {
  ProtobufWriter shape;
  shape.varint(1, 3);
  shape.packed(1, std::vector<std::uint64_t>{1, 300});
  ProtobufWriter desc;
  desc.message(3, shape);
  ProtobufWriter op;
  op.text(1, "x");
  op.message(34, desc);
  ProtobufWriter graph;
  graph.message(6, op);
  ProtobufWriter model;
  model.message(7, graph);
  EXPECT_EQ(json_of(model.take())["graph"][0]["op"][0]["output_desc"][0]["shape"]["dim"],
            json::parse("[3,1,300]"));
}

TEST(ModelText, ReadsALoneGraph) {
  const json found = json_of_text("name: \"g\"\nop {\n  name: \"x\"\n  type: \"Data\"\n}\n");
  EXPECT_EQ(found["graph"][0]["name"], "g");
  EXPECT_EQ(found["graph"][0]["op"][0]["type"], "Data");
}

TEST(ModelText, RefusesOtherTextsAndValues) {
  EXPECT_FALSE(encode_model_text("ir_version: 8 producer_name: 'pytorch'").has_value());
  const auto wrong = encode_model_text("graph { op { id: 'seven' } }");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "id: expected a whole number, found \"seven\"");
  EXPECT_TRUE(wrong.error().offset.has_value());
}

}  // namespace
}  // namespace opdrift::graph
