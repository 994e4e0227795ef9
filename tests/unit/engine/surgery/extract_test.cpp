#include "opdrift/engine/surgery/extract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "unit/engine/surgery/surgery_testing.hpp"

#include "opdrift/base/text.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::empty_model;
using testing::floats;
using testing::Json;
using testing::names_of;
using testing::prepared;
using Names = std::vector<std::string>;

Names names_in(const Json& list) {
  Names names;
  if (list.is_string()) {
    for (const std::string_view name : split(list.get_ref<const std::string&>(), ',')) {
      names.emplace_back(name);
    }
  }
  return names;
}

Json described(const onnx::ValueInfo& info) {
  Json shape;
  if (info.shape) {
    shape = Json::array();
    for (const onnx::Dim& dim : *info.shape) {
      shape.push_back(dim.value ? Json(*dim.value) : Json(dim.symbol));
    }
  }
  const auto dtype = onnx::dtype_of(info.element_type);
  return {{"name", info.name},
          {"dtype", dtype ? std::string(tensor::name_of(*dtype)) : "?"},
          {"shape", shape}};
}

Json described(const std::vector<onnx::ValueInfo>& infos) {
  Json list = Json::array();
  for (const onnx::ValueInfo& info : infos) {
    list.push_back(described(info));
  }
  return list;
}

std::set<std::string> warnings_of(const Extracted& extracted) {
  std::set<std::string> texts;
  for (const ExtractWarning& warning : extracted.warnings) {
    texts.insert(std::string(to_string(warning.kind)) + ":" + warning.name);
  }
  return texts;
}

ExtractOptions options_of(const Json& recorded) {
  ExtractOptions options;
  options.starts = names_in(recorded["start"]);
  options.ends = names_in(recorded["end"]);
  const Json shapes = recorded.value("input_shape", Json::object());
  for (const auto& [name, shape] : shapes.items()) {
    for (const Json& extent : shape) {
      options.input_shapes[name].push_back({extent.get<std::uint64_t>(), ""});
    }
  }
  const Json types = recorded.value("input_dtype", Json::object());
  for (const auto& [name, type] : types.items()) {
    const auto element_type = element_type_by_name(type.get<std::string>());
    EXPECT_TRUE(element_type);
    options.input_types[name] = element_type.value_or(0);
  }
  return options;
}

void expect_error(const Error& error, const Json& expected) {
  const std::string kind = expected["error"];
  if (kind == "no-path") {
    EXPECT_EQ(error.code, ErrorCode::mismatch) << error.message;
    return;
  }
  EXPECT_EQ(error.code, ErrorCode::not_found) << error.message;
  const std::string name = expected["name"];
  EXPECT_NE(error.message.find("'" + name + "'"), std::string::npos) << error.message;
  const std::string place = kind == "unknown-start" ? "to start at" : "to end at";
  EXPECT_NE(error.message.find(place), std::string::npos) << error.message;
}

void expect_result(const Extracted& extracted, const Json& expected) {
  EXPECT_EQ(Json(extracted.nodes), expected["nodes"]);
  const onnx::Graph& graph = extracted.part.placed.model.graph;
  EXPECT_EQ(described(graph.inputs), expected["inputs"]);
  EXPECT_EQ(described(graph.outputs), expected["outputs"]);
  std::set<std::string> constants;
  for (const onnx::Tensor& tensor : graph.initializers) {
    constants.insert(tensor.name);
  }
  EXPECT_EQ(constants, expected["initializers"].get<std::set<std::string>>());
  EXPECT_EQ(warnings_of(extracted), expected["warnings"].get<std::set<std::string>>());
}

TEST(Extract, RecordedCasesComeOutAsRecorded) {
  OPDRIFT_NEEDS_EXTRACT_FIXTURES();
  const Json cases = testing::fixture_json("cases.json");
  ASSERT_FALSE(cases.empty());
  for (const Json& recorded : cases) {
    SCOPED_TRACE(recorded.dump().substr(0, 150));
    if (recorded["expect"].value("error", "") == "bad-dtype") {
      for (const auto& [name, type] : recorded["input_dtype"].items()) {
        EXPECT_FALSE(element_type_by_name(type.get<std::string>()));
      }
      continue;
    }
    const Workpiece piece = testing::opened(testing::extract_fixture(recorded["model"]));
    const Result<Extracted> extracted = extract(piece, options_of(recorded));
    if (recorded["expect"].contains("error")) {
      ASSERT_FALSE(extracted);
      expect_error(extracted.error(), recorded["expect"]);
    } else {
      ASSERT_TRUE(extracted) << extracted.error().to_string();
      expect_result(*extracted, recorded["expect"]);
    }
  }
}

/// cond, a, b -> If (its branch reads s = a + b from outside) -> y
onnx::Model branching_model() {
  onnx::Graph then_graph;
  then_graph.nodes = {onnx::make_node("Relu", "inner", {"s"}, {"t"})};
  then_graph.outputs = {onnx::make_value_info("t", testing::kFloat)};
  onnx::Graph else_graph;
  else_graph.nodes = {onnx::make_node("Mul", "other", {"s", "k"}, {"e"})};
  else_graph.outputs = {onnx::make_value_info("e", testing::kFloat)};
  onnx::Model model = empty_model();
  model.graph.inputs = {onnx::make_value_info("cond", testing::kBool, {}), floats("a", {{2, ""}}),
                        floats("b", {{2, ""}})};
  model.graph.initializers = {testing::constant("k", {2}, std::vector<float>{1, 2}),
                              testing::constant("unused", {1}, std::vector<float>{7})};
  model.graph.nodes = {onnx::make_node("Add", "add", {"a", "b"}, {"s"}),
                       onnx::make_node("If", "choose", {"cond"}, {"c"},
                                       {testing::body("then_branch", then_graph),
                                        testing::body("else_branch", else_graph)}),
                       onnx::make_node("Neg", "neg", {"c"}, {"y"})};
  model.graph.outputs = {floats("y", {{2, ""}})};
  return model;
}

TEST(Extract, WhatBodiesReadFromOutsideBecomesAnInput) {
  const auto extracted =
      extract(prepared(branching_model()), {.starts = {"choose"}, .ends = {"choose"}});
  ASSERT_TRUE(extracted) << extracted.error().to_string();
  EXPECT_EQ(extracted->part.inputs, (Names{"cond", "s"}));
  ASSERT_EQ(extracted->part.placed.model.graph.initializers.size(), 1U);
  EXPECT_EQ(extracted->part.placed.model.graph.initializers[0].name, "k");
}

TEST(Extract, APathThroughABodyIsAPath) {
  const auto extracted = extract(prepared(branching_model()), {.starts = {"add"}, .ends = {"neg"}});
  ASSERT_TRUE(extracted);
  EXPECT_EQ(extracted->nodes, (Names{"add", "choose", "neg"}));
}

TEST(Extract, AbsentOutputsAreNoOutputs) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Dropout", "drop", {"x"}, {"y", ""})};
  model.graph.outputs = {floats("y", {{4, ""}})};
  const auto extracted = extract(prepared(std::move(model)), {});
  ASSERT_TRUE(extracted);
  EXPECT_EQ(extracted->part.outputs, (Names{"y"}));
}

TEST(Extract, NodesInAnyOrderComeOutSorted) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Neg", "last", {"b"}, {"y"}),
                       onnx::make_node("Abs", "first", {"x"}, {"a"}),
                       onnx::make_node("Exp", "middle", {"a"}, {"b"})};
  model.graph.outputs = {floats("y", {{4, ""}})};
  const auto extracted = extract(prepared(std::move(model)), {});
  ASSERT_TRUE(extracted);
  EXPECT_EQ(extracted->nodes, (Names{"first", "middle", "last"}));
}

TEST(Extract, OpsetsAndFunctionsOfOtherDomainsAreKept) {
  onnx::Model model = testing::small_model();
  io::ProtobufWriter import;
  import.text(1, "我的领域");
  import.varint(2, 3);
  testing::keep_field(model, 8, io::WireType::bytes, 0, own_bytes(import.take()));
  io::ProtobufWriter function;
  function.text(1, "MyOp");
  testing::keep_field(model, 25, io::WireType::bytes, 0, own_bytes(function.take()));
  const auto extracted =
      extract(prepared(std::move(model)), {.starts = {"first"}, .ends = {"first"}});
  ASSERT_TRUE(extracted);
  const auto bytes = onnx::encode(extracted->part.placed.model);
  ASSERT_TRUE(bytes);
  const auto again = onnx::read_model(own_bytes(bytes->flatten()));
  ASSERT_TRUE(again) << again.error().to_string();
  ASSERT_EQ(again->opsets.size(), 2U);
  EXPECT_EQ(again->opsets[1].domain, "我的领域");
  EXPECT_EQ(again->functions, (Names{"MyOp"}));
  EXPECT_EQ(again->graph.name, "extracted graph");
}

// ONNX Runtime refuses such models too.
TEST(Extract, OperatorsOfOneNameAreRefusedWhereverTheyAre) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Neg", "same", {"x"}, {"a"}),
                       onnx::make_node("Abs", "same", {"a"}, {"b"}),
                       onnx::make_node("Neg", "other", {"b"}, {"y"})};
  model.graph.outputs = {floats("y", {{4, ""}})};
  const Workpiece piece = prepared(std::move(model));
  for (const Names& starts : {Names{}, Names{"same"}, Names{"other"}}) {
    const auto refused = extract(piece, {.starts = starts});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ambiguous);
    EXPECT_NE(refused.error().message.find("2 called 'same'"), std::string::npos);
  }
}

TEST(Prepare, InputsOrConstantsOfOneNameAreRefused) {
  const auto problem = [](const std::function<void(onnx::Graph&)>& change) {
    onnx::Model model = testing::small_model();
    change(model.graph);
    const auto piece = prepare({std::move(model), "."});
    return piece ? std::string() : piece.error().message;
  };
  EXPECT_EQ(problem([](onnx::Graph&) {}), "");
  EXPECT_EQ(problem([](onnx::Graph& g) { g.inputs.push_back(floats("c", {{3, ""}})); }), "");
  EXPECT_NE(problem([](onnx::Graph& g) { g.inputs.push_back(g.inputs[0]); }).find("two inputs"),
            std::string::npos);
  EXPECT_NE(problem([](onnx::Graph& g) {
              g.initializers.push_back(g.initializers[0]);
            }).find("two constants called 'c'"),
            std::string::npos);
}

TEST(Extract, NamelessNodesAnswerToTheNameTheyHaveInDumpsToo) {
  const auto extracted = extract(prepared(testing::small_model()), {.starts = {"Mul_2"}});
  ASSERT_TRUE(extracted) << extracted.error().to_string();
  EXPECT_EQ(extracted->nodes, (Names{"Mul_y"}));
}

TEST(Prepare, CyclesAreRefused) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Add", "one", {"x", "b"}, {"a"}),
                       onnx::make_node("Neg", "two", {"a"}, {"b"})};
  const auto refused = prepare({std::move(model), "."});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::malformed);
  EXPECT_NE(refused.error().message.find("cycle"), std::string::npos);
}

TEST(Prepare, AValueMadeTwiceIsRefused) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Neg", "one", {"x"}, {"a"}),
                       onnx::make_node("Abs", "two", {"x"}, {"a"})};
  const auto refused = prepare({std::move(model), "."});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("made once"), std::string::npos);
}

TEST(Prepare, EveryFormOfConstantBecomesAnInitializer) {
  onnx::Attribute real;
  real.name = "value_float";
  real.type = onnx::AttributeType::real;
  real.real = 2.5F;
  onnx::Attribute texts;
  texts.name = "value_strings";
  texts.type = onnx::AttributeType::texts;
  texts.texts = {"ä", "b"};
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {
      onnx::make_node("Constant", "", {}, {"f"}, {real}),
      onnx::make_node("Constant", "", {}, {"i"},
                      {onnx::make_attribute("value_ints", std::vector<std::int64_t>{4, 5})}),
      onnx::make_node("Constant", "", {}, {"t"},
                      {onnx::make_attribute(
                          "value", testing::constant("other name", {1}, std::vector<float>{9}))}),
      onnx::make_node("Constant", "", {}, {"s"}, {texts}),
      onnx::make_node("Neg", "neg", {"x"}, {"y"})};
  const Workpiece piece = prepared(std::move(model));
  const std::vector<onnx::Tensor>& made = piece.placed.model.graph.initializers;
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(piece.graph.size(), 1U);
  const auto bytes = onnx::encode(piece.placed.model);
  ASSERT_TRUE(bytes);
  const auto again = onnx::read_model(own_bytes(bytes->flatten()));
  ASSERT_TRUE(again);
  const std::vector<onnx::Tensor>& read = again->graph.initializers;
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].name, "f");
  EXPECT_EQ(as_text(onnx::load(read[0], ".").value().bytes.span),
            io::testing::text_of(std::vector<float>{2.5F}));
  EXPECT_EQ(as_text(onnx::load(read[1], ".").value().bytes.span),
            io::testing::text_of(std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(read[2].name, "t");
  EXPECT_EQ(as_text(onnx::load(read[2], ".").value().bytes.span),
            io::testing::text_of(std::vector<float>{9}));
  EXPECT_EQ(read[3].dims, (tensor::Shape{2}));
}

TEST(ParseShapes, NamesMayHoldColons) {
  const auto shapes = parse_shapes("a:0:1,3;b:n,-1 ;c:");
  ASSERT_TRUE(shapes) << shapes.error().to_string();
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ(*shapes->at("a:0")[1].value, 3U);
  EXPECT_EQ(shapes->at("b")[0].symbol, "n");
  EXPECT_FALSE(shapes->at("b")[1].value);
  EXPECT_TRUE(shapes->at("c").empty());
  EXPECT_FALSE(parse_shapes("x"));
  EXPECT_FALSE(parse_shapes("x:1,,3"));
  EXPECT_FALSE(parse_shapes("x:-3"));
}

TEST(ParseTypes, FloatIsDoubleAndUnknownNamesAreRefused) {
  const auto types = parse_types("x:float;y:fp16;z:int");
  ASSERT_TRUE(types);
  EXPECT_EQ(types->at("x"), 11);
  EXPECT_EQ(types->at("y"), 10);
  EXPECT_EQ(types->at("z"), 6);
  const auto refused = parse_types("x:flot32");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported_dtype);
}

}  // namespace
}  // namespace opdrift::engine
