#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "unit/diagnose/flow_testing.hpp"
#include "unit/io/onnx_testing.hpp"
#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/diagnose/evidence/collect.hpp"

namespace opdrift::diagnose::evidence {
namespace {

using flow::facts;
using tensor::DType;

class Evidence : public testing::FolderTest {
 protected:
  /// One operator's output of a run, the `order`-th.
  void write(const std::string& role, const std::string& op, std::size_t order,
             const std::vector<double>& values, DType dtype = DType::f32) const {
    testing::write_npy_file(
        path(role + "/" + op + ".0." + std::to_string(1000000 + order) + ".npy"), dtype,
        {values.size()}, values);
  }

  void write_manifest(const std::string& role, const std::string& text) const {
    std::ofstream(path(role + "/manifest.json")) << text;
  }

  CollectOptions runs(const std::vector<std::string>& roles) const {
    CollectOptions options;
    for (const std::string& role : roles) {
      options.dumps[role] = path(role);
    }
    options.jobs = 1;
    return options;
  }

  static std::string outcome(const CollectOptions& options) {
    const auto collected = collect_facts(options);
    if (!collected) {
      return "error: " + collected.error().to_string();
    }
    return summary(flow::diagnose(*collected, {}));
  }
};

std::vector<double> wave(double scale, std::size_t count = 256) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(scale * std::sin(0.37 * static_cast<double>(i) + 0.2));
  }
  return values;
}

std::vector<double> clamped(std::vector<double> values) {
  for (double& value : values) {
    value = std::min(65504.0, std::max(-65504.0, value));
  }
  return values;
}

// The published case: an AddN whose output runs from 70683 to 109508 in high precision and stops at
// 65504 in float16, of cosine far below the limit.
TEST_F(Evidence, AnAddNBeyondTheRangeOfFloat16IsFound) {
  std::vector<double> sum;
  for (int i = 0; i < 256; ++i) {
    const double from_70683_to_109508 = 70683.0 + (109508.0 - 70683.0) * i / 255.0;
    sum.push_back(i % 2 == 0 ? from_70683_to_109508 : 2000.0 * std::sin(i));
  }
  std::vector<double> stopped = clamped(sum);
  for (std::size_t i = 1; i < stopped.size(); i += 2) {
    stopped[i] = 65504.0;
  }
  for (const char* const role : {"base", "high"}) {
    const bool low = std::string(role) == "base";
    const DType dtype = low ? DType::f16 : DType::f32;
    write(role, "Conv_1", 1, wave(30.0), dtype);
    write(role, "AddN_7", 2, low ? stopped : sum, dtype);
    write(role, "Relu_8", 3, low ? stopped : sum, dtype);
  }
  CollectOptions options = runs({"base", "high"});
  options.verdicts = {{"base", "fail"}, {"high", "pass"}};
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::Diagnosis found = flow::diagnose(*collected, {});
  EXPECT_EQ(summary(found), "OVERFLOW [AddN_7] -> mixed_1");
  const flow::OperatorNumbers& numbers = found.operators.at(0).facts.numbers;
  EXPECT_NEAR(*numbers.ref_max, 109508.0 - (109508.0 - 70683.0) / 255.0, 1.0);
  EXPECT_EQ(*numbers.cand_absmax, 65504.0);
  EXPECT_EQ(*numbers.over_65504, 128.0);
  EXPECT_EQ(*numbers.saturated, 1.0);
}

TEST_F(Evidence, FlushedElementsAreCounted) {
  write("base", "a", 1, wave(1.0));
  write("high", "a", 1, wave(1.0));
  write("base", "b", 2, std::vector<double>(256, 0.0));
  write("high", "b", 2, wave(1e-8));
  CollectOptions options = runs({"base", "high"});
  options.verdicts = {{"base", "fail"}, {"high", "pass"}};
  EXPECT_EQ(outcome(options), "UNDERFLOW [b] -> mixed_1");
}

TEST_F(Evidence, InfinityOfTheLowPrecisionRunIsOverflow) {
  std::vector<double> large = wave(9e4);
  write("high", "a", 1, large);
  for (double& value : large) {
    value = std::abs(value) > 65504.0 ? std::copysign(HUGE_VAL, value) : value;
  }
  write("base", "a", 1, large);
  CollectOptions options = runs({"base", "high"});
  options.verdicts = {{"base", "fail"}, {"high", "pass"}};
  EXPECT_EQ(outcome(options), "OVERFLOW [a] -> mixed_1");
}

TEST_F(Evidence, TheManifestTellsWhoFeedsWhom) {
  for (const char* const role : {"base", "golden"}) {
    write(role, "a", 1, wave(1.0));
    write(role, "b", 2, std::string(role) == "base" ? wave(1.0, 256) : wave(-1.0, 256));
    write(role, "c", 3, std::string(role) == "base" ? wave(1.0, 256) : wave(-1.0, 256));
    write_manifest(role,
                   R"({"schema":"opdrift.dump","schema_version":1,"operators":[)"
                   R"({"order":1,"name":"a","type":"Relu","inputs":["x"],"outputs":[)"
                   R"({"tensor":"ta","index":0,"file":"a.0.1000001.npy","dtype":"float32"}]},)"
                   R"({"order":2,"name":"b","type":"Relu","inputs":["ta"],"outputs":[)"
                   R"({"tensor":"tb","index":0,"file":"b.0.1000002.npy","dtype":"float32"}]},)"
                   R"({"order":3,"name":"c","type":"Relu","inputs":["tb"],"outputs":[)"
                   R"({"tensor":"tc","index":0,"file":"c.0.1000003.npy","dtype":"float32"}]}]})");
  }
  CollectOptions options = runs({"base", "golden"});
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::OperatorList& operators = collected->compare.at("base.vs.golden");
  ASSERT_EQ(operators.size(), 3U);
  EXPECT_EQ(operators[1].cos_in, std::vector<double>{1.0});
  EXPECT_EQ(operators[2].cos_in.size(), 1U);
  EXPECT_NEAR(operators[2].cos_in[0], -1.0, 1e-12);
  EXPECT_NEAR(*collected->runs.at("base").output_cosine, -1.0, 1e-12);
  EXPECT_EQ(summary(flow::diagnose(*collected, {})), "OPERATOR [b] -> high");
}

TEST_F(Evidence, BuffersAreShownWithTheirPlaces) {
  write("base", "a", 1, wave(1.0));
  write("nobuf", "a", 1, wave(1.0));
  std::vector<double> overwritten = wave(1.0);
  for (std::size_t i = 64; i < 192; ++i) {
    overwritten[i] = 7.0;
  }
  write("base", "b", 2, overwritten);
  write("nobuf", "b", 2, wave(1.0));
  CollectOptions options = runs({"base", "nobuf"});
  options.verdicts = {{"base", "fail"}, {"high", "fail"}, {"nobuf", "pass"}};
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::Diagnosis found = flow::diagnose(*collected, {});
  EXPECT_EQ(summary(found), "BUFFER [b]");
  const auto& places = found.operators.at(0).facts.places;
  ASSERT_EQ(places.size(), 2U);
  EXPECT_NE(places[0].find("element 64"), std::string::npos);
  EXPECT_NE(places[1].find("64 to 191; all begin at multiples of 32 bytes"), std::string::npos);
}

// "late" holds what "early" made; in "part" bytes 128 to 639 are those of "early".
TEST_F(Evidence, TheTensorThatOverwroteAnotherIsNamed) {
  std::vector<double> early;
  for (int i = 0; i < 256; ++i) {
    early.push_back(std::cos(1.7 * i * i) * (1.0 + 0.01 * i));
  }
  std::vector<double> part = wave(1.0);
  std::copy(early.begin() + 32, early.begin() + 160, part.begin() + 32);
  for (const char* const role : {"base", "noreuse"}) {
    const bool base = std::string(role) == "base";
    write(role, "early", 1, early);
    write(role, "fine", 2, wave(2.0));
    write(role, "late", 3, base ? early : wave(1.0));
    write(role, "part", 4, base ? part : wave(1.0));
  }
  CollectOptions options = runs({"base", "noreuse"});
  options.verdicts = {{"base", "fail"}, {"high", "fail"}, {"nobuf", "fail"}, {"noreuse", "pass"}};
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::OperatorList& operators = collected->compare.at("base.vs.noreuse");
  ASSERT_EQ(operators.size(), 4U);
  EXPECT_TRUE(operators[1].foreign.empty());
  ASSERT_EQ(operators[2].foreign.size(), 1U);
  EXPECT_NE(operators[2].foreign[0].find("that of early:output:0"), std::string::npos)
      << operators[2].foreign[0];
  ASSERT_EQ(operators[3].foreign.size(), 1U);
  EXPECT_NE(operators[3].foreign[0].find("early:output:0"), std::string::npos)
      << operators[3].foreign[0];
  const flow::Diagnosis found = flow::diagnose(*collected, {});
  EXPECT_EQ(summary(found), "MEMORY [late]");
  EXPECT_TRUE(std::any_of(found.checks.begin(), found.checks.end(), [](const flow::Check& check) {
    return check.id == "B" && check.result.find("that of early:output:0") != std::string::npos;
  }));
}

TEST_F(Evidence, ZeroAndMinusZeroAreOneNumberOfARepetition) {
  write("base", "a", 1, {0.0, 1.0, 2.0, 3.0});
  write("repeat", "a", 1, {-0.0, 1.0, 2.0, 3.0});
  EXPECT_EQ(outcome(runs({"base", "repeat"})), "- [] -> high");
}

TEST_F(Evidence, ASecondDumpThatDiffersIsNoEvidence) {
  write("base", "a", 1, wave(1.0));
  write("base", "b", 2, wave(1.0));
  write("repeat", "a", 1, wave(1.0));
  write("repeat", "b", 2, wave(1.0 + 1e-6));
  EXPECT_EQ(outcome(runs({"base", "repeat"})), "NONDETERMINISTIC [b]");
}

TEST_F(Evidence, DumpsOfDifferentInputsAreBadEvidence) {
  for (const char* const role : {"base", "high"}) {
    const bool low = std::string(role) == "base";
    write(role, "x", 0, wave(low ? 1.0 : -1.0));
    write(role, "a", 1, wave(1.0));
    write_manifest(role,
                   R"({"schema":"opdrift.dump","schema_version":1,)"
                   R"("inputs":[{"tensor":"x","file":"x.0.1000000.npy","dtype":"float32"}],)"
                   R"("operators":[{"order":1,"name":"a","type":"Relu","inputs":["x"],"outputs":[)"
                   R"({"tensor":"ta","index":0,"file":"a.0.1000001.npy","dtype":"float32"}]}]})");
  }
  EXPECT_EQ(outcome(runs({"base", "high"})), "BAD_EVIDENCE []");
}

TEST_F(Evidence, IntegersAreJudgedByTheShareThatDiffers) {
  std::vector<double> labels;
  for (int i = 0; i < 4000; ++i) {
    labels.push_back(i % 17);
  }
  write("golden", "few", 1, labels, DType::i32);
  write("golden", "many", 2, labels, DType::i32);
  labels[5] += 1;
  write("base", "few", 1, labels, DType::i32);
  for (std::size_t i = 0; i < 40; ++i) {
    labels[i] += 1;
  }
  write("base", "many", 2, labels, DType::i32);
  const auto collected = collect_facts(runs({"base", "golden"}));
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::OperatorList& operators = collected->compare.at("base.vs.golden");
  EXPECT_EQ(operators.at(0).cos_out, std::vector<double>{1.0});
  EXPECT_EQ(operators.at(1).cos_out, std::vector<double>{0.0});
}

TEST_F(Evidence, AKeepListGoesOnWithTheLastRound) {
  for (const char* const role : {"mixed1", "mixed2", "high"}) {
    write(role, "a", 1, wave(1.0));
    write(role, "b", 2, wave(std::string(role) == "high" ? 1.0 : -1.0));
  }
  CollectOptions options = runs({"high"});
  options.mixed = {path("mixed1"), path("mixed2")};
  std::ofstream(path("keep.cfg")) << "a\n";
  options.keep = path("keep.cfg");
  options.verdicts = {{"base", "fail"}, {"high", "pass"}};
  EXPECT_EQ(outcome(options), "PRECISION [b] -> mixed_3");
}

TEST_F(Evidence, AResultTableStandsForTheDumps) {
  std::ofstream(path("result.csv"))
      << "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,"
         "CosineSimilarity,MaxAbsoluteError\n"
         "0,Conv2D,conv1,float16,1,conv1,float32,conv1:input:0,1,1.0,0\n"
         "0,Conv2D,conv1,float16,1,conv1,float32,conv1:output:0,1,0.9999,0.1\n"
         "1,TransData,trans_1,NaN,NaN,*,NaN,trans_1:output:0,1,NaN,NaN\n"
         "2,ResizeBilinear,up,float16,1,up,float32,up:input:0,1,0.9999,0.1\n"
         "2,ResizeBilinear,up,float16,1,up,float32,up:output:0,1,0.81,9\n";
  CollectOptions options;
  options.results = {path("result.csv")};
  EXPECT_EQ(outcome(options), "OPERATOR [up] -> high");
}

TEST_F(Evidence, AResultTableEditedByHandIsReadAsFarAsItGoes) {
  std::ofstream(path("result.csv"))
      << "CosineSimilarity,NPUDump,Index\n,\n0.5\nabc,x,1\n\"0.4\",\"y, z\",x\n\n1e999,w,3,4,5,6\n";
  CollectOptions options;
  options.results = {path("result.csv")};
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  const flow::OperatorList& operators = collected->compare.at("base.vs.golden");
  const auto named = [&](const std::string& name) {
    return std::find_if(operators.begin(), operators.end(),
                        [&](const flow::OperatorFacts& op) { return op.op == name; });
  };
  ASSERT_NE(named("x"), operators.end());
  EXPECT_TRUE(std::isnan(named("x")->cos_out.at(0)));
  ASSERT_NE(named("y, z"), operators.end());
  EXPECT_EQ(named("y, z")->cos_out.at(0), 0.4);
}

TEST_F(Evidence, WhatIsNoTableSaysSo) {
  std::ofstream(path("a.csv")) << "one,two\n1,2\n";
  std::ofstream(path("b.csv")) << "";
  std::ofstream(path("c.json")) << "{\"schema\": \"other\"}";
  for (const char* const name : {"a.csv", "b.csv", "c.json", "none.csv"}) {
    CollectOptions options;
    options.results = {path(name)};
    EXPECT_FALSE(collect_facts(options)) << name;
  }
}

/// x -> Add c -> Relu -> Mul -> y; c is {0.1, -2, 0.25}.
class ExportEvidence : public Evidence {
 protected:
  CollectOptions small_model() const {
    EXPECT_TRUE(io::onnx::write_model(path("m.onnx"), io::testing::small_model()));
    CollectOptions options;
    options.model = path("m.onnx");
    return options;
  }
};

TEST_F(ExportEvidence, WeightsThatAreOthersAreAFaultOfTheExport) {
  CollectOptions options = small_model();
  options.weights = path("weights");
  testing::write_npy_file(path("weights/module.c.npy"), DType::f32, {3}, {0.1, -2.0, 0.25});
  testing::write_npy_file(path("weights/gone.npy"), DType::f32, {1}, {1.0});
  auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_TRUE(collected->export_faults.empty());
  ASSERT_EQ(collected->export_findings.size(), 1U);
  EXPECT_EQ(collected->export_findings[0].substr(0, 24), "1 of 2 weights given are");

  testing::write_npy_file(path("weights/module.c.npy"), DType::f32, {3}, {0.1, 2.0, 0.25});
  collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  ASSERT_EQ(collected->export_faults.size(), 1U);
  EXPECT_EQ(collected->export_faults[0].substr(0, 28), "c is not the weight given: r");
  EXPECT_EQ(summary(flow::diagnose(*collected, {})), "EXPORT [] -> high");

  testing::write_npy_file(path("weights/module.c.npy"), DType::f32, {4}, {0.1, 2.0, 0.25, 1.0});
  collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(collected->export_faults.at(0), "c has the shape [3], the weight given [4]");

  // Sums leave a NaN out; that must not make the rest agree.
  testing::write_npy_file(path("weights/module.c.npy"), DType::f32, {3}, {0.1, -2.0, NAN});
  collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(collected->export_faults.at(0).substr(0, 28), "c is not the weight given: r");
}

TEST_F(ExportEvidence, WeightsThatCannotBeReadTellWhy) {
  CollectOptions options = small_model();
  options.weights = path("w.npz");
  std::ofstream(path("w.npz")) << "PK\x03\x04 and no more";
  const auto collected = collect_facts(options);
  ASSERT_FALSE(collected);
  EXPECT_NE(collected.error().to_string().find("w.npz: expected weights"), std::string::npos)
      << collected.error().to_string();
  EXPECT_NE(collected.error().message.find("found none: "), std::string::npos)
      << collected.error().message;
}

TEST_F(ExportEvidence, WeightsOfOtherNamesAreNotCompared) {
  CollectOptions options = small_model();
  options.weights = path("w.npy");
  testing::write_npy_file(path("w.npy"), DType::f32, {3}, {1.0, 1.0, 1.0});
  const auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_TRUE(collected->export_faults.empty());
  EXPECT_EQ(collected->export_findings.at(0).substr(0, 21), "none of the 1 weights");
  options.weights = path("absent");
  EXPECT_FALSE(collect_facts(options));
}

TEST_F(ExportEvidence, InputsThatBecameConstantsAreNamed) {
  CollectOptions options = small_model();
  options.input_names = {"x"};
  EXPECT_TRUE(collect_facts(options)->export_faults.empty());
  options.input_names = {"x", "c"};
  const auto named = collect_facts(options);
  ASSERT_TRUE(named) << named.error().to_string();
  EXPECT_EQ(
      named->export_faults,
      (std::vector<std::string>{"the model takes 1 input (x), 2 were listed; not among them: c",
                                "the input c was baked in as a constant of that name"}));
  options.input_names.clear();
  options.online = path("online");
  testing::write_npy_file(path("online/input_0.npy"), DType::f32, {1, 3}, {1.0, 2.0, 3.0});
  testing::write_npy_file(path("online/input_1.npy"), DType::f32, {1, 3}, {0.1, -2.0, 0.25});
  const auto found = collect_facts(options);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->export_faults,
            (std::vector<std::string>{
                "the constant c holds the values of input_1: this input was baked in",
                "the online run has 2 inputs, the model takes 1 (x)"}));
}

TEST_F(Evidence, VerdictsAndMissingFoldersAreChecked) {
  CollectOptions options;
  options.verdicts = {{"base", "perhaps"}};
  EXPECT_FALSE(collect_facts(options));
  EXPECT_FALSE(collect_facts(runs({"base", "golden"})));
}

TEST_F(Evidence, BoundaryFoldersPairByName) {
  for (const char* const role : {"online", "offline"}) {
    const bool online = std::string(role) == "online";
    testing::write_npy_file(path(std::string(role) + "/input_0.npy"), DType::f32, {16, 16},
                            wave(1.0));
    testing::write_npy_file(path(std::string(role) + "/output_0.npy"), DType::f32, {256},
                            wave(online ? 1.0 : -1.0));
  }
  CollectOptions options;
  options.online = path("online");
  options.offline = path("offline");
  auto collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_NEAR(*collected->boundary->input_cosine, 1.0, 1e-12);
  EXPECT_NEAR(*collected->boundary->output_cosine, -1.0, 1e-12);
  testing::write_npy_file(path("offline/input_0.npy"), DType::f32, {16, 16}, wave(255.0));
  collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_NEAR(*collected->boundary->input_cosine, 1.0, 1e-12);
  EXPECT_EQ(summary(flow::diagnose(*collected, {})), "PREPROCESS []");
  testing::write_npy_file(path("offline/input_0.npy"), DType::f32, {16, 16}, wave(-1.0));
  collected = collect_facts(options);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(summary(flow::diagnose(*collected, {})), "PREPROCESS []");
  EXPECT_EQ(collected->boundary->findings.size(), 1U);
}

}  // namespace
}  // namespace opdrift::diagnose::evidence
