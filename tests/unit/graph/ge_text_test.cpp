#include "opdrift/graph/ge_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "opdrift/graph/api_run.hpp"
#include "opdrift/graph/table_text.hpp"

namespace opdrift::graph {

namespace {

constexpr const char* kGraph = R"(name: "graph_1"
op {
  name: "Add_2"
  type: "Add"
  input: "x:0"
  input: "c:-1"
  output_desc {
    dtype: DT_FLOAT
    layout: "ND"
    shape { dim: 2 dim: 3 }
    attr { key: "other" value { s: "a: b {" } }
    attr { key: "_fx_tensor_name" value { s: "add_1-aten.add" ".Tensor.OUTPUT.0" } }
  }
}
op < name: 'Mul\_'  # not an escape: an error
)";

std::string valid() {
  const std::string text(kGraph);
  return text.substr(0, text.find("op <"));
}

}  // namespace

TEST(GeText, ReadsOperatorsInputsAndFxNames) {
  const auto graph = parse_ge_text(valid());
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(graph->name, "graph_1");
  ASSERT_EQ(graph->operators.size(), 1U);
  const Operator& op = graph->operators[0];
  EXPECT_EQ(op.name, "Add_2");
  EXPECT_EQ(op.type, "Add");
  ASSERT_EQ(op.inputs.size(), 2U);
  EXPECT_EQ(op.inputs[0].producer, "x");
  EXPECT_EQ(op.inputs[1].index, -1);
  ASSERT_EQ(op.outputs.size(), 1U);
  EXPECT_EQ(op.outputs[0].tensor, "add_1-aten.add.Tensor.OUTPUT.0");
  EXPECT_EQ(op.outputs[0].shape, (tensor::Shape{2, 3}));
}

TEST(GeText, KeepsAttributesButNotTheCompilersOwn) {
  const auto graph = parse_ge_text(R"(op { name: "c" type: "Conv2D"
    attr { key: "_input_name_key" value { list { s: "x0" } } }
    attr { key: "transpose_x1" value { b: true } }
    attr { key: "epsilon" value { f: 1e-05 } }
    attr { key: "strides" value { list { i: 1 i: 2 val_type: VT_LIST_INT } } }
    attr { key: "pads" value { list { i: [0, -1] } } }
    attr { key: "data_format" value { s: "NCHW" } } })");
  ASSERT_TRUE(graph) << graph.error().to_string();
  const auto& attributes = graph->operators.at(0).attributes;
  EXPECT_FALSE(attributes.contains("_input_name_key"));
  EXPECT_EQ(attributes.at("transpose_x1").integers, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(attributes.at("epsilon").reals, (std::vector<double>{1e-5}));
  EXPECT_EQ(attributes.at("strides").integers, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(attributes.at("pads").integers, (std::vector<std::int64_t>{0, -1}));
  EXPECT_EQ(attributes.at("data_format").texts, (std::vector<std::string>{"NCHW"}));
}

TEST(GeText, AllFormsOfTheGrammarAreRead) {
  const auto graph = parse_ge_text(
      "graph: < op: < name: 'a\\x41\\101\\n', type: \"T\"; > >\n# comment\n[ext.name]: 1\n"
      "list: [1, -2.5e3, {x: 1}] op { name: \"b\" input: [\"a:0\", \"a:1\"] }");
  ASSERT_TRUE(graph) << graph.error().to_string();
  ASSERT_EQ(graph->operators.size(), 2U);
  EXPECT_EQ(graph->operators[0].name, "aAA\n");
  EXPECT_EQ(graph->operators[1].inputs.size(), 2U);
}

TEST(GeText, BrokenTextIsRefusedWithAPlace) {
  for (const char* text : {"op {", "op { name: \"a }", "op { name }", "op }", "name: ", "a: [1 2]",
                           "a: \"x\ny\"", "op { name: 'Mul\\_' }", ": 1"}) {
    const auto graph = parse_ge_text(text);
    ASSERT_FALSE(graph) << text;
    EXPECT_TRUE(graph.error().offset.has_value()) << text;
  }
}

TEST(GeText, NestingHasALimit) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "a{";
  }
  const auto graph = parse_ge_text(deep);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::limit);
}

TEST(ApiNames, AreSplitAtTheirDirection) {
  const auto split_of = [](std::string_view name) {
    ApiEntry entry;
    split_api_name(name, entry);
    return std::string(entry.prefix) + "|" + std::string(entry.call);
  };
  EXPECT_EQ(split_of("Functional.conv2d.1.forward"), "Functional.conv2d|1.forward");
  EXPECT_EQ(split_of("Module.fc.Linear.forward.0"), "Module.fc.Linear|forward.0");
  EXPECT_EQ(split_of("Module.fc.Linear.parameters_grad"), "Module.fc.Linear|parameters_grad");
  EXPECT_EQ(split_of("Module.fc.Linear.parameters_grad.2"), "Module.fc.Linear.parameters_grad|2");
  EXPECT_EQ(split_of("NoDirection.x.0"), "|");
  EXPECT_EQ(split_of("forward"), "|");
  EXPECT_EQ(split_of("a.forward"), "|");
}

// Python 3: repr of each value.
TEST(TableText, FloatsLookLikePythons) {
  EXPECT_EQ(python_float(1.0), "1.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(1e-4), "0.0001");
  EXPECT_EQ(python_float(1e-5), "1e-05");
  EXPECT_EQ(python_float(1.8014398509481984e+16), "1.8014398509481984e+16");
  EXPECT_EQ(python_float(1e15), "1000000000000000.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(0.1), "0.1");
  EXPECT_EQ(python_float(1e300 * 1e300), "inf");
}

TEST(TableText, TextsLookLikePythons) {
  EXPECT_EQ(python_repr("a\nb\\"), "'a\\nb\\\\'");
  EXPECT_EQ(python_repr("it's"), "\"it's\"");
  EXPECT_EQ(python_repr("卷积"), "'卷积'");
}

TEST(TableText, NumbersMayBeginLikeFormulas) {
  EXPECT_FALSE(is_malicious_cell("-1.5"));
  EXPECT_FALSE(is_malicious_cell("-inf"));
  EXPECT_FALSE(is_malicious_cell("-1;-2"));
  EXPECT_TRUE(is_malicious_cell("-1;-x"));
  EXPECT_TRUE(is_malicious_cell("=1+1"));
  EXPECT_TRUE(is_malicious_cell("＝1"));
  EXPECT_TRUE(is_malicious_cell("a;-1"));
  EXPECT_FALSE(is_malicious_cell("a;b"));
}

}  // namespace opdrift::graph
