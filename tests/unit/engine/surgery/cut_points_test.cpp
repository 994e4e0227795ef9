#include <gtest/gtest.h>

#include "unit/engine/surgery/surgery_testing.hpp"

#include "opdrift/engine/surgery/node_graph.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::Json;
using testing::prepared;
using Names = std::vector<std::string>;

Names cuts_of(const Workpiece& piece, const std::string& start, const std::string& end) {
  const std::vector<std::size_t> starts = piece.graph.named(start);
  const std::vector<std::size_t> ends = piece.graph.named(end);
  Names names;
  for (const std::size_t node : cut_points(piece.graph, starts, ends)) {
    names.push_back(piece.graph.name(node));
  }
  return names;
}

onnx::Model model_of(std::vector<onnx::Node> nodes) {
  onnx::Model model = testing::empty_model();
  model.graph.inputs = {testing::floats("x", {{4, ""}}), testing::floats("z", {{4, ""}})};
  model.graph.nodes = std::move(nodes);
  return model;
}

TEST(CutPoints, RecordedCasesComeOutAsRecorded) {
  OPDRIFT_NEEDS_EXTRACT_FIXTURES();
  const Json cases = testing::fixture_json("bisect.json");
  ASSERT_FALSE(cases.empty());
  for (const Json& recorded : cases) {
    SCOPED_TRACE(recorded["model"].get<std::string>());
    const Workpiece piece = testing::opened(testing::extract_fixture(recorded["model"]));
    EXPECT_EQ(Json(cuts_of(piece, recorded["start"], recorded["end"])), recorded["cut_points"]);
  }
}

// The vendor's tool waits for a second release of a node that reads one value twice.
TEST(CutPoints, ReadingAValueTwiceEndsNoChain) {
  const Workpiece piece = prepared(model_of({onnx::make_node("Neg", "a", {"x"}, {"va"}),
                                             onnx::make_node("Mul", "b", {"va", "va"}, {"vb"}),
                                             onnx::make_node("Abs", "c", {"vb"}, {"vc"})}));
  EXPECT_EQ(cuts_of(piece, "a", "c"), (Names{"a", "b", "c"}));
}

TEST(CutPoints, InputsFromElsewhereDoNotMatter) {
  const Workpiece piece = prepared(model_of({onnx::make_node("Neg", "a", {"x"}, {"va"}),
                                             onnx::make_node("Exp", "side", {"z"}, {"vs"}),
                                             onnx::make_node("Add", "b", {"va", "vs"}, {"vb"}),
                                             onnx::make_node("Abs", "c", {"vb"}, {"vc"})}));
  EXPECT_EQ(cuts_of(piece, "a", "c"), (Names{"a", "b", "c"}));
}

// 40 splits into three: an even flow of floating point numbers would be lost long before.
TEST(CutPoints, ManyUnevenSplitsLoseNothing) {
  std::vector<onnx::Node> nodes = {onnx::make_node("Neg", "n0", {"x"}, {"v0"})};
  Names expected = {"n0"};
  for (int i = 1; i <= 40; ++i) {
    const std::string last = "v" + std::to_string(i - 1);
    const std::string own = std::to_string(i);
    for (const std::string side : {"p", "q", "r"}) {
      nodes.push_back(onnx::make_node("Abs", side + own, {last}, {"v" + side + own}));
    }
    nodes.push_back(
        onnx::make_node("Sum", "n" + own, {"vp" + own, "vq" + own, "vr" + own}, {"v" + own}));
    expected.push_back("n" + own);
  }
  EXPECT_EQ(cuts_of(prepared(model_of(std::move(nodes))), "n0", "n40"), expected);
}

TEST(CutPoints, WithoutAPathThereAreNone) {
  const Workpiece piece = prepared(model_of(
      {onnx::make_node("Neg", "a", {"x"}, {"va"}), onnx::make_node("Exp", "b", {"z"}, {"vb"})}));
  EXPECT_EQ(cuts_of(piece, "a", "b"), Names{});
  EXPECT_EQ(cuts_of(piece, "a", "a"), Names{"a"});
}

TEST(CutPoints, SeveralStartsAndEndsShareOnlyTheMiddle) {
  const Workpiece piece = prepared(model_of(
      {onnx::make_node("Neg", "a", {"x"}, {"va"}), onnx::make_node("Exp", "b", {"z"}, {"vb"}),
       onnx::make_node("Add", "m", {"va", "vb"}, {"vm"}),
       onnx::make_node("Abs", "n", {"vm"}, {"vn"}), onnx::make_node("Abs", "y1", {"vn"}, {"o1"}),
       onnx::make_node("Abs", "y2", {"vn"}, {"o2"})}));
  const std::vector<std::size_t> starts = {0, 1};
  const std::vector<std::size_t> ends = {4, 5};
  EXPECT_EQ(cut_points(piece.graph, starts, ends), (std::vector<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace opdrift::engine
