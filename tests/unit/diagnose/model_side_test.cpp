#include "opdrift/diagnose/on_the_fly/model_side.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "unit/engine/model_testing.hpp"

#include "opdrift/pipeline/compare.hpp"

namespace opdrift::diagnose {
namespace {

namespace fs = std::filesystem;
using engine::testing::TempFolder;

std::string small_model(const TempFolder& folder) {
  const std::string path = folder / "small.onnx";
  EXPECT_TRUE(io::onnx::write_model(path, engine::testing::small_model()));
  return path;
}

/// Dumps the small model with x = values.
std::string dump(const TempFolder& folder, const std::vector<float>& values) {
  engine::DumpOptions options;
  options.model = small_model(folder);
  options.output_folder = folder / "dump";
  options.inputs.files = {{"x", folder.file("x.bin", io::testing::text_of(values))}};
  options.inputs.dims = {{"n", values.size() / 3}};
  const auto report = engine::dump_model(options);
  EXPECT_TRUE(report) << report.error().to_string();
  return options.output_folder;
}

bool has_note(const Sides& sides, const std::string& part) {
  return std::any_of(sides.notes().begin(), sides.notes().end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

Result<verdict::RunResult> compare(const Sides& sides) {
  pipeline::CompareOptions options;
  options.graphs = {sides.model()};
  return pipeline::compare_dumps(sides.target(), sides.golden(), options);
}

TEST(ModelSide, IsToldByItsEnding) {
  EXPECT_TRUE(is_model_side("a/b.ONNX"));
  EXPECT_FALSE(is_model_side("a/b.onnx/"));
  EXPECT_FALSE(is_model_side("a.npy"));
}

TEST(ModelSide, IsFedWithTheInputsOfTheOtherSidesDump) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = dump(folder, {1, 5, -1, 2, 7, 3});
  options.golden = small_model(folder);
  const auto sides = prepare_sides(options);
  ASSERT_TRUE(sides) << sides.error().to_string();
  EXPECT_TRUE(has_note(*sides, "golden: input 'x' (2,3) from the dump " + options.target));
  const auto result = compare(*sides);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->tensors.size(), 4U);
  EXPECT_EQ(result->totals(verdict::RunSide::target).equal, 4U);
}

TEST(ModelSide, GivenInputsWinOverThoseOfTheDump) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = dump(folder, {1, 5, -1});
  options.golden = small_model(folder);
  options.inputs.files = {{"x", folder.file("y.bin", io::testing::text_of<float>({2, 5, -1}))}};
  const auto sides = prepare_sides(options);
  ASSERT_TRUE(sides) << sides.error().to_string();
  EXPECT_TRUE(has_note(*sides, "from " + options.inputs.files[0].path));
}

TEST(ModelSide, InputsOfADumpThatDoNotFitAreAnError) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = dump(folder, {1, 5, -1});
  engine::testing::onnx::Model other = engine::testing::small_model();
  other.graph.inputs = {engine::testing::floats("x", {{1, ""}, {4, ""}})};
  options.golden = folder / "other.onnx";
  ASSERT_TRUE(io::onnx::write_model(options.golden, other));
  const auto sides = prepare_sides(options);
  ASSERT_FALSE(sides);
  EXPECT_EQ(sides.error().message, "input 'x': expected shape (1,4), found (1,3)");
}

TEST(ModelSide, TemporaryDumpsGoAwayAndTheirFilesAreNamedWithoutFolder) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = small_model(folder);
  options.golden = options.target;
  options.target_settings.precision = engine::Precision::fp16;
  std::string dump_folder;
  {
    const auto sides = prepare_sides(options);
    ASSERT_TRUE(sides) << sides.error().to_string();
    dump_folder = sides->golden();
    EXPECT_TRUE(fs::exists(dump_folder));
    auto result = compare(*sides);
    ASSERT_TRUE(result) << result.error().to_string();
    sides->describe(*result);
    EXPECT_EQ(result->golden_path, options.golden);
    EXPECT_NE(result->target_kind.find("fp16, optimisation none"), std::string::npos);
    EXPECT_EQ(result->tensors.at(0).golden_path.find('/'), std::string::npos);
    ASSERT_TRUE(result->verdict);
    EXPECT_EQ(result->verdict->outcome, verdict::Outcome::pass);
  }
  EXPECT_FALSE(fs::exists(dump_folder));
}

TEST(ModelSide, DumpsAreKeptBelowTheOutputFolderAndReplacedNextTime) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = small_model(folder);
  options.golden = options.target;
  options.output = folder / "out";
  for (int time = 0; time < 2; ++time) {
    const auto sides = prepare_sides(options);
    ASSERT_TRUE(sides) << sides.error().to_string();
  }
  EXPECT_TRUE(fs::exists(folder / "out/target_dump/manifest.json"));
  EXPECT_TRUE(fs::exists(folder / "out/golden_dump/manifest.json"));
}

TEST(ModelSide, OneSeedFeedsBothSides) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  SidesOptions options;
  options.target = small_model(folder);
  options.golden = options.target;
  options.target_settings.seed = 9;
  const auto sides = prepare_sides(options);
  ASSERT_TRUE(sides);
  EXPECT_TRUE(has_note(*sides, "both sides: input 'x' (1,3) from seed 9"));
}

TEST(ModelSide, AnInterruptionLeavesNothingBehind) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const TempFolder scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  CancelFlag cancel;
  cancel.cancel();
  SidesOptions options;
  options.target = small_model(folder);
  options.golden = options.target;
  options.cancel = &cancel;
  const auto sides = prepare_sides(options);
  ::unsetenv("TMPDIR");
  ASSERT_FALSE(sides);
  EXPECT_EQ(sides.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(scratch.names().empty());
}

TEST(ModelSide, AModelThatIsNotThereIsNamed) {
  const TempFolder folder;
  SidesOptions options;
  options.target = folder / "none.onnx";
  options.golden = options.target;
  const auto sides = prepare_sides(options);
  ASSERT_FALSE(sides);
  EXPECT_EQ(sides.error().path, options.target);
}

}  // namespace
}  // namespace opdrift::diagnose
