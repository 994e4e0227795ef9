#include "opdrift/engine/surgery/save_part.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "unit/engine/surgery/surgery_testing.hpp"

#include "opdrift/engine/surgery/extract_file.hpp"

namespace opdrift::engine {
namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using io::testing::content_of;
using testing::constant;
using testing::empty_model;
using testing::floats;
using testing::TempFolder;

const std::vector<float> kWeights(500, 1.5F);

/// x -> Add w -> Mul w2 -> y, with w in an external file of the folder.
std::string write_external(const TempFolder& folder, const std::string& location = "w.bin") {
  const std::string bytes = "skipped!" + io::testing::text_of(kWeights);
  folder.file("w.bin", bytes);
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{500, ""}})};
  model.graph.initializers = {
      onnx::make_external_tensor(constant("w", {500}, kWeights), location, 8, 2000),
      constant("w2", {500}, kWeights)};
  model.graph.nodes = {onnx::make_node("Add", "add", {"x", "w"}, {"a"}),
                       onnx::make_node("Mul", "mul", {"a", "w2"}, {"y"})};
  model.graph.outputs = {floats("y", {{500, ""}})};
  const std::string path = folder / "model.onnx";
  EXPECT_TRUE(onnx::write_model(path, model));
  return path;
}

std::string weight_in(const std::string& path, std::size_t position) {
  const auto model = onnx::open_model(path);
  EXPECT_TRUE(model) << model.error().to_string();
  const auto loaded =
      onnx::load(model->graph.initializers.at(position), onnx::folder_of_model(path));
  EXPECT_TRUE(loaded) << loaded.error().to_string();
  return loaded ? std::string(as_text(loaded->bytes.span)) : "";
}

ExtractFileOptions options_for(const std::string& model, const std::string& output) {
  ExtractFileOptions options;
  options.model = model;
  options.output = output;
  return options;
}

TEST(SavePart, ExternalWeightsComeIntoTheFile) {
  const TempFolder folder;
  const TempFolder elsewhere;
  const std::string model = write_external(folder);
  elsewhere.file("子图.onnx.data", "left over");
  const std::string output = elsewhere / "子图.onnx";
  const auto report = extract_file(options_for(model, output));
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->saved.data_file, "");
  EXPECT_EQ(weight_in(output, 0), io::testing::text_of(kWeights));
  EXPECT_FALSE(fs::exists(output + ".data"));
}

TEST(SavePart, BeyondTheLimitWeightsGoToAFileBesideIt) {
  const TempFolder folder;
  const Workpiece piece = testing::opened(write_external(folder));
  const std::string output = folder / "big.onnx";
  const auto saved = save_part(output, piece.placed, {.max_inline_bytes = 3000});
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->data_file, output + ".data");
  EXPECT_EQ(fs::file_size(output + ".data"), 4000U);
  EXPECT_LT(fs::file_size(output), 1000U);
  EXPECT_EQ(weight_in(output, 0), io::testing::text_of(kWeights));
  EXPECT_EQ(weight_in(output, 1), io::testing::text_of(kWeights));
}

TEST(SavePart, ConstantsOfBodiesAreTakenInToo) {
  const TempFolder folder;
  folder.file("w.bin", io::testing::text_of(kWeights));
  onnx::Graph branch;
  branch.initializers = {
      onnx::make_external_tensor(constant("w", {500}, kWeights), "w.bin", 0, 2000)};
  branch.outputs = {onnx::make_value_info("w", testing::kFloat)};
  onnx::Model model = empty_model();
  model.graph.inputs = {onnx::make_value_info("c", testing::kBool, {})};
  model.graph.nodes = {onnx::make_node(
      "If", "if", {"c"}, {"y"},
      {testing::body("then_branch", branch), testing::body("else_branch", branch)})};
  model.graph.outputs = {floats("y", {{500, ""}})};
  const std::string path = folder / "m.onnx";
  ASSERT_TRUE(onnx::write_model(path, model));
  const std::string output = folder / "out.onnx";
  ASSERT_TRUE(extract_file(options_for(path, output)));
  ASSERT_TRUE(fs::remove(folder / "w.bin"));
  const auto again = onnx::open_model(output);
  ASSERT_TRUE(again);
  const onnx::Graph& body = *again->graph.nodes[0].attributes[0].graphs[0];
  const auto loaded = onnx::load(body.initializers[0], folder.path());
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(as_text(loaded->bytes.span), io::testing::text_of(kWeights));
}

TEST(SavePart, MissingExternalDataIsNamed) {
  const TempFolder folder;
  const std::string model = write_external(folder);
  fs::remove(folder / "w.bin");
  const auto refused = extract_file(options_for(model, folder / "out.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_NE(refused.error().to_string().find("w.bin"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out.onnx"));
}

TEST(SavePart, ExternalDataOutsideTheFolderAreRefused) {
  for (const std::string location : {"../w.bin", "/etc/passwd", ""}) {
    const TempFolder folder;
    const auto refused =
        extract_file(options_for(write_external(folder, location), folder / "out.onnx"));
    ASSERT_FALSE(refused) << location;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << location;
  }
}

TEST(SavePart, ItsOwnSourceIsNotReplaced) {
  const TempFolder folder;
  const std::string model = write_external(folder, "w.bin");
  EXPECT_FALSE(extract_file(options_for(model, model)));
  EXPECT_FALSE(extract_file(options_for(model, folder / "w.bin")));
  EXPECT_EQ(content_of(folder / "w.bin").substr(0, 8), "skipped!");
}

TEST(ExtractFile, TypesTheModelLeavesOpenComeFromTheRuntime) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{2, ""}, {3, ""}})};
  model.graph.nodes = {onnx::make_node("Shape", "shape", {"x"}, {"s"}),
                       onnx::make_node("Neg", "neg", {"s"}, {"y"})};
  model.graph.outputs = {onnx::make_value_info("y", testing::kInt64, {{2, ""}})};
  const std::string path = folder / "m.onnx";
  ASSERT_TRUE(onnx::write_model(path, model));
  ExtractFileOptions options = options_for(path, folder / "out.onnx");
  options.starts = {"neg"};
  options.check = true;
  const auto plain = extract_file(options);
  ASSERT_TRUE(plain) << plain.error().to_string();
  EXPECT_EQ(plain->check_problem, "");
  const onnx::ValueInfo& input = plain->extracted.part.placed.model.graph.inputs.at(0);
  EXPECT_EQ(input.element_type, testing::kInt64);
  EXPECT_FALSE(input.shape);
  options.infer = true;
  const auto inferred = extract_file(options);
  ASSERT_TRUE(inferred);
  const auto& shape = inferred->extracted.part.placed.model.graph.inputs.at(0).shape;
  ASSERT_TRUE(shape);
  EXPECT_EQ(*shape->at(0).value, 2U);
}

}  // namespace
}  // namespace opdrift::engine
