#include "opdrift/io/model_file.hpp"

#include <gtest/gtest.h>

#include "unit/io/io_testing.hpp"

#include "opdrift/graph/om/model_json.hpp"
#include "opdrift/graph/om/visual_json.hpp"
#include "opdrift/io/archive/deflate_archive.hpp"

namespace opdrift::io {
namespace {

using graph::GraphFileKind;

// A Data operator and a Conv2D with every kind of value an attribute may have.
constexpr const char* kVisual = R"({
 "format": "ge_visual_json", "format_version": 1,
 "model": {"name": "网络", "version": 3,
  "attr": {"framework_type": "Onnx", "om_info_list": {"type": "list_int", "value": [1, 2]}},
  "graph": [{"name": "g", "op": [
    {"name": "x", "type": "Data", "output_desc": [{"dtype": "DT_FLOAT16", "layout": "NCHW",
      "shape": {"dim": [1, 3, -1, 8]}, "attr": {"origin_format": "NCHW"}}]},
    {"name": "conv", "type": "Conv2D", "id": 7, "input": ["x:0", ""], "is_input_const": [false, true],
     "input_desc": [{"dtype": 2, "shape": [1, 3, 8, 8],
                     "attr": {"shape_range": [[1, 4], [3, 3]]}}, null],
     "src_name": ["gone"],
     "attr": {"_datadump_original_op_names": {"type": "list_string", "value": ["a", "b"]},
              "_datadump_is_multiop": true, "groups": -1, "alpha": 0.5,
              "offset": {"type": "float", "value": 2},
              "none": {"type": "list_string", "value": []},
              "T": {"type": "data_type", "value": "DT_FLOAT16"},
              "call": {"type": "func", "value": {"name": "f", "attr": {"k": 1}}},
              "value": {"type": "tensor", "value": {"desc": {"dtype": "DT_INT8"}}},
              "later": {"type": "a type of tomorrow", "value": 1}}}]}]}})";

std::string om2(const testing::TempFolder& folder,
                const std::vector<std::pair<std::string, std::string>>& members) {
  const std::string path = folder / "model.om2";
  auto writer = DeflateArchive::create(path);
  EXPECT_TRUE(writer);
  for (const auto& [name, content] : members) {
    EXPECT_TRUE(writer->member(name, content));
  }
  EXPECT_TRUE(writer->finish());
  return path;
}

TEST(Om2, IsTheSameGraphAsItsJson) {
  const testing::TempFolder folder;
  const std::string path =
      om2(folder, {{"manifest.json", R"({"model_num": 1, "atc_command": "atc --model=m.onnx"})"},
                   {"data/model_0/debug/ge_visual_9.json", "{}"},
                   {"data/model_0/debug/ge_visual_10.json", kVisual},
                   {"data/model_0/constants/ge_visual_11.json", "{}"}});
  const auto graph = read_graph_file(path, {.attributes = true});
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(graph->name, "网络");
  EXPECT_EQ(graph->attributes.at("atc_cmdline").texts.at(0), "atc --model=m.onnx");
  EXPECT_EQ(graph->attributes.at("om_info_list").integers, (std::vector<std::int64_t>{1, 2}));
  ASSERT_EQ(graph->operators.size(), 2U);
  EXPECT_EQ(graph->operators[0].outputs.at(0).dtype, "DT_FLOAT16");
  const graph::Operator& conv = graph->operators[1];
  EXPECT_EQ(conv.id, 7);
  ASSERT_EQ(conv.inputs.size(), 1U);
  EXPECT_EQ(conv.inputs[0].producer, "x");
  EXPECT_TRUE(conv.multi_op);
  EXPECT_EQ(conv.original_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(conv.attributes.at("groups").integers.at(0), -1);
  EXPECT_EQ(conv.attributes.at("alpha").reals.at(0), 0.5);
  EXPECT_EQ(conv.attributes.at("offset").reals.at(0), 2.0);
  ASSERT_EQ(conv.input_descs.size(), 2U);
  EXPECT_EQ(conv.input_descs[0].dims, (std::vector<std::int64_t>{1, 3, 8, 8}));
  EXPECT_EQ(conv.input_descs[0].ranges, (std::vector<std::int64_t>{1, 4, 3, 3}));
}

TEST(Om2, IsRenderedAsAnOfflineModelIs) {
  const testing::TempFolder folder;
  const auto file = open_model_file(om2(folder, {{"data/model_0/debug/visual.json", kVisual}}));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->kind, GraphFileKind::zip);
  std::string text;
  ASSERT_TRUE(graph::write_model_json(file->model, [&](std::string_view piece) -> Status {
    text += piece;
    return Unit{};
  }));
  for (const char* part :
       {R"("dt": 1)", R"("f": "2")", R"("val_type": "VT_LIST_STRING")", R"("b": true)",
        R"("name": "f")", R"("dtype": "DT_INT8")", R"("list_list_i")"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("tomorrow"), std::string::npos);
}

TEST(Om2, OfSeveralModelsTheNumberChooses) {
  const testing::TempFolder folder;
  const auto named = [](const std::string& name) {
    return R"({"model": {"name": ")" + name + R"(", "graph": [{"op": []}]}})";
  };
  const std::string path = om2(folder, {{"data/model_2/debug/visual.json", named("second")},
                                        {"data/model_0/debug/visual.json", named("first")}});
  const auto name = [&](const std::string& model) {
    const auto file = open_model_file(path, {.model = model});
    return file ? std::string(file->model.name()) : file.error().message;
  };
  EXPECT_EQ(name(""), "first");
  EXPECT_EQ(name("model_2"), "second");
  EXPECT_EQ(name("2"), "second");
  EXPECT_NE(name("1").find("found 0, 2"), std::string::npos);
  EXPECT_EQ(open_model_file(path)->models, (std::vector<std::string>{"0", "2"}));
}

TEST(Om2, WhatIsNoneSaysSo) {
  const testing::TempFolder folder;
  const auto problem = [&](const std::string& name, const std::string& content) {
    const auto file = read_graph_file(om2(folder, {{name, content}}));
    EXPECT_FALSE(file);
    EXPECT_NE(file.error().path.find("model.om2"), std::string::npos);
    return file.error().message;
  };
  EXPECT_NE(problem("a.npy", "x").find("data/model_<i>/debug"), std::string::npos);
  const char* const member = "data/model_0/debug/visual.json";
  EXPECT_NE(problem(member, "{").find("visual.json: expected JSON"), std::string::npos);
  EXPECT_NE(problem(member, R"({"model": 1e999})").find("number overflow"), std::string::npos);
  EXPECT_NE(problem(member, "[]").find("\"model\""), std::string::npos);
  EXPECT_NE(problem(member, R"({"model": {"name": 1}})").find("a text as \"name\""),
            std::string::npos);
  EXPECT_NE(problem(member, R"({"model": {"graph": [{"op": [{"id": "x"}]}]}})").find("\"id\""),
            std::string::npos);
  EXPECT_NE(problem(member, std::string(5000, '[')).find("levels"), std::string::npos);
}

TEST(ModelFormats, EveryKindOfFileHasARow) {
  std::vector<std::string_view> names;
  for (const ModelFormat& format : model_formats()) {
    names.push_back(format.name);
    EXPECT_FALSE(format.summary.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"onnx", "om", "om2", "atc-json", "ge-text"}));
}

}  // namespace
}  // namespace opdrift::io
