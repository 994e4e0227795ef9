#include "opdrift/engine/surgery/break_apart.hpp"

#include <gtest/gtest.h>

#include "unit/engine/surgery/surgery_testing.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::Json;
using Names = std::vector<std::string>;

Json described(const SinglePiece& piece) {
  return {{"node", piece.node},
          {"op_type", piece.op_type},
          {"inputs", piece.inputs},
          {"initializers", piece.initializers},
          {"outputs", piece.outputs}};
}

TEST(BreakApart, RecordedCasesComeOutAsRecorded) {
  OPDRIFT_NEEDS_EXTRACT_FIXTURES();
  const Json cases = testing::fixture_json("single_op.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& [model, expected] : cases.items()) {
    SCOPED_TRACE(model);
    const BrokenModel broken = break_apart(testing::opened(testing::extract_fixture(model)));
    Json made = Json::array();
    for (const SinglePiece& piece : broken.pieces) {
      made.push_back(described(piece));
    }
    EXPECT_EQ(made, expected);
  }
}

TEST(BreakApart, NoOperatorFeedsAnother) {
  OPDRIFT_NEEDS_EXTRACT_FIXTURES();
  for (const std::string model : {"chain.onnx", "residual.onnx", "multi-io.onnx", "ladder.onnx"}) {
    const BrokenModel broken = break_apart(testing::opened(testing::extract_fixture(model)));
    const auto again = prepare(broken.placed);
    ASSERT_TRUE(again) << again.error().to_string();
    for (std::size_t node = 0; node < again->graph.size(); ++node) {
      EXPECT_TRUE(again->graph.before(node).empty()) << model;
    }
  }
}

TEST(BreakApart, AnOutputThatIsReadGetsANewName) {
  onnx::Model model = testing::empty_model();
  model.graph.inputs = {testing::floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Neg", "one", {"x"}, {"y"}),
                       onnx::make_node("Abs", "two", {"y"}, {"z"})};
  model.graph.outputs = {testing::floats("y", {{4, ""}}), testing::floats("z", {{4, ""}})};
  const BrokenModel broken = break_apart(testing::prepared(std::move(model)));
  EXPECT_EQ(testing::names_of(broken.placed.model.graph.inputs), (Names{"x", "y"}));
  EXPECT_EQ(testing::names_of(broken.placed.model.graph.outputs), (Names{"out_0_0_y", "z"}));
}

TEST(BreakApart, TheRuntimeLoadsIt) {
  OPDRIFT_NEEDS_EXTRACT_FIXTURES();
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const BrokenModel broken =
      break_apart(testing::opened(testing::extract_fixture("residual.onnx")));
  const auto session = open_model(*testing::runtime(), broken.placed, {});
  ASSERT_TRUE(session) << session.error().to_string();
  EXPECT_EQ((*session)->outputs().size(), 8U);
}

}  // namespace
}  // namespace opdrift::engine
