#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/engine/model_testing.hpp"

#include "opdrift/diagnose/repro/bundle.hpp"
#include "opdrift/diagnose/repro/replay.hpp"
#include "opdrift/diagnose/repro/write_repro.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/io/archive/zip_writer.hpp"

namespace opdrift::diagnose {
namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using engine::testing::TempFolder;

/// Golden and target dumps of the small model; the target's Add has another constant.
struct TwoRuns {
  TwoRuns() {
    options.operator_name = "first";
    options.model = folder / "model.onnx";
    options.golden = dump(engine::testing::small_model(), "model.onnx", "golden");
    onnx::Model damaged = engine::testing::small_model();
    damaged.graph.initializers = {
        engine::testing::constant("c", {3}, std::vector<float>{0.1F, -2.0F, 0.75F})};
    options.target = dump(damaged, "damaged.onnx", "target");
    options.output = folder / "bundle";
    options.opdrift_version = "1.2.3";
  }

  std::string dump(const onnx::Model& model, const std::string& name, const std::string& to) const {
    engine::DumpOptions run;
    run.model = folder / name;
    run.output_folder = folder / to;
    EXPECT_TRUE(onnx::write_model(run.model, model));
    const auto report = engine::dump_model(run);
    EXPECT_TRUE(report) << report.error().to_string();
    return run.output_folder;
  }

  Repro write() const {
    auto made = write_repro(options);
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? std::move(*made) : Repro{};
  }

  TempFolder folder;
  ReproOptions options;
};

Replay run(const std::string& bundle) {
  ReplayOptions options;
  options.bundle = bundle;
  auto replay = replay_repro(options);
  EXPECT_TRUE(replay) << replay.error().to_string();
  return replay ? std::move(*replay) : Replay{};
}

void expect_culprit(const Replay& replay) {
  EXPECT_EQ(replay.operator_name, "first");
  EXPECT_EQ(replay.not_run, "");
  ASSERT_EQ(replay.checks.size(), 1U);
  EXPECT_TRUE(replay.checks[0].equal);
  ASSERT_TRUE(replay.compared.verdict);
  EXPECT_EQ(replay.compared.verdict->outcome, verdict::Outcome::fail);
  ASSERT_EQ(replay.compared.verdict->first_divergence.size(), 1U);
  EXPECT_EQ(replay.compared.tensors[replay.compared.verdict->first_divergence[0]].operator_name,
            "first");
}

TEST(Repro, AFolderShowsTheVerdictAgain) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TwoRuns runs;
  const Repro made = runs.write();
  ASSERT_TRUE(made.compared.verdict);
  EXPECT_EQ(made.compared.verdict->outcome, verdict::Outcome::fail);
  expect_culprit(run(made.path));
}

TEST(Repro, AZipShowsTheVerdictAgainWherever) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  TwoRuns runs;
  runs.options.output = runs.folder / "bundle.zip";
  const Repro made = runs.write();
  fs::remove_all(runs.options.golden);
  fs::remove_all(runs.options.target);
  fs::remove(runs.options.model);
  expect_culprit(run(made.path));
}

TEST(Repro, AHealthyOperatorPasses) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  TwoRuns runs;
  runs.options.operator_name = "Mul_2";
  const Replay replay = run(runs.write().path);
  ASSERT_TRUE(replay.compared.verdict);
  EXPECT_NE(replay.compared.verdict->outcome, verdict::Outcome::fail);
}

TEST(Repro, AnOlderBundleIsReplacedAndOtherFilesAreNot) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TwoRuns runs;
  runs.write();
  runs.write();
  runs.folder.file("bundle/mine.txt", "precious");
  const auto again = write_repro(runs.options);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(fs::exists(runs.folder / "bundle/mine.txt"));
}

TEST(Repro, WhatCannotBePackedIsSaid) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  TwoRuns runs;
  runs.options.operator_name = "firts";
  auto made = write_repro(runs.options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "the model has no operator 'firts'; did you mean 'first'?");
  runs.options.operator_name = "Mul_2";
  for (const auto& entry : fs::directory_iterator(runs.options.golden)) {
    if (entry.path().filename().string().starts_with("a_b_c.")) {
      fs::remove(entry.path());
      break;
    }
  }
  made = write_repro(runs.options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "operator 'Mul_2': input 'r', made by 'a/b.c', was not dumped");
}

TEST(BundleName, OnlyThePartsOfABundleAreAllowed) {
  for (const char* name : {"repro.json", "README.txt", "operator.onnx", "golden/a.0.1.npy",
                           "target/manifest.json", "golden/卷积.npy"}) {
    EXPECT_TRUE(is_bundle_name(name)) << name;
  }
  for (const char* name :
       {"", "/etc/passwd", "../repro.json", "golden/../../x", "golden/", "golden/..", "golden/a/b",
        "golden\\x", "golden/a\\b", "target/a\nb", "run.sh", "golden/.", "GOLDEN/x"}) {
    EXPECT_FALSE(is_bundle_name(name)) << name;
  }
}

/// A zip of these members, each with a little text.
std::string zip_of(const TempFolder& folder, const std::vector<std::string>& names) {
  const std::string path = folder / "hostile.zip";
  auto zip = io::ZipWriter::create(path, io::ZipStyle::numpy);
  EXPECT_TRUE(zip);
  for (const std::string& name : names) {
    EXPECT_TRUE(zip->begin(name, 2));
    EXPECT_TRUE(zip->write("{}"));
    EXPECT_TRUE(zip->end());
  }
  EXPECT_TRUE(zip->finish());
  return path;
}

TEST(Bundle, HostileArchivesAreRefusedBeforeAnythingIsWritten) {
  const TempFolder folder;
  const TempFolder scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  const auto message = [&](const std::vector<std::string>& names) {
    const auto bundle = OpenBundle::open(zip_of(folder, names));
    return bundle ? std::string("opened") : bundle.error().message;
  };
  EXPECT_EQ(message({"repro.json", "operator.onnx", "../evil"}),
            "not a repro bundle: unexpected member '../evil'");
  EXPECT_EQ(message({"repro.json", "operator.onnx", "/tmp/evil"}),
            "not a repro bundle: unexpected member '/tmp/evil'");
  EXPECT_EQ(message({"repro.json", "operator.onnx", "golden/../../evil"}),
            "not a repro bundle: unexpected member 'golden/../../evil'");
  EXPECT_EQ(message({"repro.json", "operator.onnx", "repro.json"}),
            "not a repro bundle: member 'repro.json' is there twice");
  EXPECT_EQ(message({"operator.onnx"}), "not a repro bundle: it has no repro.json");
  EXPECT_TRUE(scratch.names().empty());
  EXPECT_EQ(message({"repro.json", "operator.onnx", "golden/x.npy"}), "opened");
  EXPECT_TRUE(scratch.names().empty()) << "what was unpacked goes away";
  ::unsetenv("TMPDIR");
}

TEST(Bundle, TooManyFilesAreRefused) {
  const TempFolder folder;
  std::vector<std::string> names = {"repro.json", "operator.onnx"};
  for (int i = 0; i < 10'000; ++i) {
    names.push_back("golden/" + std::to_string(i));
  }
  const auto bundle = OpenBundle::open(zip_of(folder, names));
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().code, ErrorCode::limit);
}

TEST(Bundle, FoldersWithLinksAreRefused) {
  const TempFolder folder;
  folder.file("repro.json", "{}");
  folder.file("operator.onnx", "x");
  fs::create_directory(folder / "golden");
  fs::create_symlink("/etc/passwd", folder / "golden/x.npy");
  const auto bundle = OpenBundle::open(folder.path());
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().message, "not a repro bundle: unexpected file 'golden/x.npy'");
}

TEST(Bundle, WhatIsNeitherFolderNorZipIsSaid) {
  const TempFolder folder;
  const auto text = OpenBundle::open(folder.file("x.txt", "text"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::wrong_kind);
  EXPECT_FALSE(OpenBundle::open(folder / "missing"));
}

TEST(Replay, ADescriptionThatIsNoneAndWeightsOutsideAreRefused) {
  const TempFolder folder;
  ReplayOptions options;
  options.bundle = folder.path();
  folder.file("repro.json", "[]");
  folder.file("operator.onnx", "x");
  auto replay = replay_repro(options);
  ASSERT_FALSE(replay);
  EXPECT_EQ(replay.error().code, ErrorCode::bad_json);
  folder.file("repro.json", R"({"schema": "opdrift.repro", "schema_version": 1})");
  replay = replay_repro(options);
  ASSERT_FALSE(replay);
  EXPECT_EQ(replay.error().path, folder.path() + "/operator.onnx");
}

}  // namespace
}  // namespace opdrift::diagnose
