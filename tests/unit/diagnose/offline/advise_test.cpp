#include "opdrift/diagnose/offline/advise.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/compat/fixture_case.hpp"

namespace opdrift::diagnose {
namespace {

namespace fs = std::filesystem;
using testing::file_text;
using testing::TemporaryFolder;

constexpr const char* kFusedGraph = R"({"graph": [{"name": "g", "op": [
  {"name": "x", "type": "Data"},
  {"name": "convrelu", "type": "Conv2D", "attr": [
    {"key": "pass_name", "value": {"list": {"s": ["PassB", "PassA"]}}},
    {"key": "pass_name_ub", "value": {"s": "UbPass"}}]},
  {"name": "old", "type": "Add", "attr": [{"key": "pass_name", "value": {"s": "OldPass"}}]},
  {"name": "plain", "type": "Add"}]}]})";

constexpr const char* kFusedResult =
    "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,CosineSimilarity\r\n"
    "0,Data,x,float32,x,float32,x:output:0,1.000000\r\n"
    "1,Conv2D,convrelu,float16,conv,float16,convrelu:input:0,0.500000\r\n"
    "1,Conv2D,convrelu,float16,conv,float16,convrelu:output:0,0.500000\r\n"
    "2,Add,\"old,plain\",NaN,add,NaN,old:output:0,NaN\r\n"
    "3,Add,plain,float16,add2,float16,plain:output:0,0.999000\r\n";

/// The case of a fused model in a folder.
struct FusedCase {
  TemporaryFolder folder;
  AdviseOptions options;

  FusedCase() {
    std::ofstream(folder.path() / "on_off.csv", std::ios::binary) << kFusedResult;
    std::ofstream(folder.path() / "graph.json") << kFusedGraph;
    options.result = (folder.path() / "on_off.csv").string();
    options.graph = (folder.path() / "graph.json").string();
    options.output_folder = (folder.path() / "out").string();
  }
  std::string written(const char* name) const { return file_text(folder.path() / "out" / name); }
};

TEST(Advise, NamesThePassesBehindTheRowsAndTurnsOnlyThoseOff) {
  const FusedCase fused;
  const auto report = advise_on_file(fused.options);
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(report->alarms.size(), 1U);
  EXPECT_EQ(report->alarm_passes, std::vector<std::string>{"PassA;PassB;UbPass"});
  EXPECT_EQ(fused.written("fusion_switch.cfg"),
            "{\n  \"Switch\": {\n    \"GraphFusion\": {\n      \"PassA\": \"off\",\n"
            "      \"PassB\": \"off\"\n    },\n    \"UBFusion\": {\n      \"UbPass\": \"off\"\n"
            "    }\n  }\n}\n");
}

TEST(Advise, TheFusionReportKeepsOutputsOfOperatorsWithAPass) {
  FusedCase fused;
  ASSERT_TRUE(advise_on_file(fused.options));
  const std::string text = fused.written("on_off_passes.csv");
  EXPECT_EQ(text,
            "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,CosineSimilarity,"
            "PassName,MatchError\r\n"
            "1,Conv2D,convrelu,float16,conv,float16,convrelu:output:0,0.500000,"
            "PassA;PassB;UbPass,\r\n"
            "2,Add,\"old,plain\",NaN,add,NaN,old:output:0,NaN,OldPass,Fusion node not match\r\n");
  fused.options.all_operators = true;
  ASSERT_TRUE(advise_on_file(fused.options));
  EXPECT_NE(fused.written("on_off_passes.csv").find("plain:output:0"), std::string::npos);
}

TEST(Advise, WritesTheAdviceAndTheMarkedTable) {
  const FusedCase fused;
  ASSERT_TRUE(advise_on_file(fused.options));
  EXPECT_EQ(fused.written("advisor_summary.txt").rfind("Detection Type: Global Consistency\n", 0),
            0U);
  EXPECT_NE(fused.written("on_off_marked.csv").find("convrelu:output:0,0.500000,NO,NO,YES\r\n"),
            std::string::npos);
}

TEST(Advise, WithoutAFolderNothingIsWritten) {
  FusedCase fused;
  fused.options.output_folder.clear();
  const auto report = advise_on_file(fused.options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->files.empty());
  EXPECT_FALSE(fs::exists(fused.folder.path() / "out"));
}

/// Recorded tables of the reference with the summary it made of them.
TEST(Advise, RecordedTablesGetTheRecordedDetectionAndIndex) {
  const fs::path root = testing::fixture_root().parent_path() / "msaccucmp";
  std::size_t cases = 0;
  for (const char* name : {"advisor_fine", "advisor_overflow", "advisor_problem"}) {
    const fs::path expected = root / name / "expected" / "out";
    if (!fs::exists(expected / "advisor_summary.txt")) {
      continue;
    }
    for (const auto& entry : fs::directory_iterator(expected)) {
      if (entry.path().extension() != ".csv") {
        continue;
      }
      AdviseOptions options;
      options.result = entry.path().string();
      const auto report = advise_on_file(options);
      ASSERT_TRUE(report) << report.error().to_string();
      const std::string summary = file_text(expected / "advisor_summary.txt");
      EXPECT_EQ(summary.rfind(report->advice.lines()[0] + "\n" + report->advice.lines()[1], 0), 0U)
          << name;
      ++cases;
    }
  }
  if (cases == 0) {
    GTEST_SKIP() << "no recorded cases below " << root;
  }
}

}  // namespace
}  // namespace opdrift::diagnose
