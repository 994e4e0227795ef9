#include "opdrift/diagnose/flow/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/diagnose/flow_testing.hpp"
#include <nlohmann/json.hpp>

namespace opdrift::diagnose::flow {
namespace {

namespace fs = std::filesystem;

// Runs of a model of which everything up to fusion was tried and failed.
const std::string kAllFail =
    "'base':{'verdict':'fail'},'high':{'verdict':'fail'},'nobuf':{'verdict':'fail'},"
    "'noreuse':{'verdict':'fail'},'nofuse':{'verdict':'fail'}";

fs::path shared_folder() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  return set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR) / ".." / "shared";
}

std::string expected_summary(const nlohmann::json& expect) {
  std::string text = expect["conclusion"].is_null() ? "-" : expect["conclusion"].get<std::string>();
  text += " [";
  for (std::size_t i = 0; i < expect["operators"].size(); ++i) {
    text += (i == 0 ? "" : " ") + expect["operators"][i].get<std::string>();
  }
  return text + "]" + (expect["next"].is_null() ? "" : " -> " + expect["next"].get<std::string>());
}

TEST(DiagnosisFlow, ConcludesTheRecordedCases) {
  const fs::path shared = shared_folder();
  const fs::path direct = shared / "fixtures" / "diagnosis" / "cases.json";
  std::ifstream file(direct);
  if (!file) {
    GTEST_SKIP() << "no recorded cases in " << direct;
  }
  const nlohmann::json cases = nlohmann::json::parse(file);
  EXPECT_FALSE(cases.empty());
  for (const nlohmann::json& one : cases) {
    SCOPED_TRACE(one["id"].get<std::string>());
    const Result<Facts> read = parse_facts(one["facts"].dump(), "case");
    ASSERT_TRUE(read.has_value()) << read.error().to_string();
    EXPECT_EQ(summary(diagnose(*read, {})), expected_summary(one["expect"]));
  }
}

TEST(DiagnosisFlow, AsksForHighPrecisionWhenNothingIsKnown) {
  EXPECT_EQ(outcome("{}"), "- [] -> high");
  EXPECT_EQ(outcome("{'runs':{'base':{}}}"), "- [] -> high");
}

TEST(DiagnosisFlow, DumpsThatDoNotRepeatAreNoEvidence) {
  EXPECT_EQ(outcome("{'repeat':{'identical':false,'first_difference':'conv1'}}"),
            "NONDETERMINISTIC [conv1]");
  EXPECT_EQ(outcome("{'repeat':{'identical':false}}"), "NONDETERMINISTIC []");
  EXPECT_EQ(outcome("{'repeat':{'identical':false,'first_difference':{'op':'c','index':3}}}"),
            "NONDETERMINISTIC [c]");
  EXPECT_EQ(outcome("{'repeat':{'identical':true}}"), "- [] -> high");
}

TEST(DiagnosisFlow, RunsOfDifferentInputsAreBadEvidence) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail','input_digest':'1'},"
                    "'high':{'verdict':'pass','input_digest':'1'},"
                    "'golden':{'input_digest':'2'}}}"),
            "BAD_EVIDENCE []");
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'pass'}},'compare':"
                    "{'base.vs.high':[{'op':'x','type':'Data','cos_in':[],'cos_out':[0.5]}]}}"),
            "BAD_EVIDENCE []");
  const Diagnosis found =
      diagnose(facts("{'runs':{'base':{'input_digest':'1'},'high':{'input_digest':'2'}}}"), {});
  EXPECT_EQ(exit_status(found), 3);
}

TEST(DiagnosisFlow, AnAippModelsOwnInputMayDifferFromTheGoldens) {
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    "},'options':{'insert_op_conf':'a.cfg'},'aipp_input_cosine':1,'compare':"
                    "{'base.vs.golden':[{'op':'x','type':'Data','cos_in':[],'cos_out':[0.5]},"
                    "{'op':'c','type':'Conv2D','cos_in':[1],'cos_out':[0.5]}]}}"),
            "OPERATOR [c]");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    "},'options':{'insert_op_conf':'a.cfg'},'compare':"
                    "{'base.vs.golden':[{'op':'x','type':'Aipp','cos_in':[],'cos_out':[0.5]}]}}"),
            "AIPP []");
}

TEST(DiagnosisFlow, RawImagesAreNotComparedWithWhatIsMadeOfThem) {
  const std::string raw =
      "'base':{'verdict':'fail','input_digest':'raw'},'high':{'verdict':"
      "'fail','input_digest':'raw'},'nobuf':{'verdict':'fail'},'noreuse':"
      "{'verdict':'fail'},'nofuse':{'verdict':'fail'}";
  const std::string aipp = "},'options':{'insert_op_conf':'a.cfg'},'aipp_input_cosine':0.4}";
  EXPECT_EQ(outcome("{'runs':{" + raw + ",'golden':{'input_digest':'made'}" + aipp), "AIPP []");
  EXPECT_EQ(outcome("{'runs':{" + raw +
                    ",'golden':{'input_digest':'made'},'noaipp':{'verdict':'pass',"
                    "'input_digest':'made'}}}"),
            "AIPP []");
  EXPECT_EQ(outcome("{'runs':{" + raw +
                    ",'golden':{'input_digest':'made'},'noaipp':{'input_digest':'other'}" + aipp),
            "BAD_EVIDENCE []");
}

// 0.995 is another picture of the same scene; rounding to bfloat16 leaves 0.99999.
TEST(DiagnosisFlow, InputsHaveToBeTheSameNotAlike) {
  const auto data = [](const std::string& cosine) {
    return "{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'pass'}},'compare':"
           "{'base.vs.high':[{'op':'x','type':'Data','cos_in':[],'cos_out':[" +
           cosine + "]},{'op':'a','cos_in':[" + cosine + "],'cos_out':[0.5]}]}}";
  };
  EXPECT_EQ(outcome(data("0.995")), "BAD_EVIDENCE []");
  EXPECT_EQ(outcome(data("0.99999")), "PRECISION [a] -> mixed_1");
}

std::string checks_of(const std::string& text) {
  std::string all;
  for (const Check& check : diagnose(facts(text), {}).checks) {
    all += check.id + ": " + check.result + "\n";
  }
  return all;
}

TEST(DiagnosisFlow, EvidenceThatContradictsItselfIsNamed) {
  EXPECT_NE(checks_of("{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'pass',"
                      "'output_cosine':0.3}}}")
                .find("C5: high passes though its outputs do not agree"),
            std::string::npos);
  const std::string equal =
      "{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'fail'},'nobuf':{'verdict':'pass'}},"
      "'compare':{'base.vs.nobuf':[{'op':'a','cos_in':[1],'cos_out':[1]}]}}";
  EXPECT_NE(checks_of(equal).find("C5: base and nobuf agree in every operator"), std::string::npos);
  const Diagnosis found = diagnose(facts(equal), {});
  EXPECT_EQ(summary(found), "BUFFER []");
  EXPECT_EQ(found.confidence, Confidence::suspected);
  EXPECT_NE(checks_of("{'runs':{'noreuse':{'verdict':'pass'}},'repeat':{'identical':false}}")
                .find("overwritten memory is the likely reason"),
            std::string::npos);
}

TEST(DiagnosisFlow, FaultsOfTheExportCountWhenNothingBetterIsKnown) {
  const std::string fault = "'export':{'faults':['w is not the weight given']}";
  EXPECT_EQ(outcome("{" + fault + "}"), "EXPORT [] -> high");
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}},'compare':{'base.vs.golden':["
                    "{'op':'a','cos_in':[1],'cos_out':[0.5]}]}," +
                    fault + "}"),
            "OPERATOR [a] -> high");
  EXPECT_EQ(outcome("{'export':{'output_cosine':0.999,'faults':['w']}}"), "- [] -> high");
  EXPECT_EQ(outcome("{'export':{'output_cosine':0.5,'faults':['w']}}"), "EXPORT []");
}

TEST(DiagnosisFlow, BoundaryComesBeforeTheModel) {
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':0.9899,'output_cosine':1}}"), "PREPROCESS []");
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':NaN,'output_cosine':1}}"), "PREPROCESS []");
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':0.99,'output_cosine':0.991}}"), "POSTPROCESS []");
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':1,'output_cosine':0.99}}"), "- [] -> high");
  EXPECT_EQ(outcome("{'boundary':{'output_cosine':1}}"), "- [] -> high");
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':1,'input_close':false,'output_cosine':1}}"),
            "PREPROCESS []");
  EXPECT_EQ(outcome("{'boundary':{'input_cosine':1}}"), "- [] -> high");
}

TEST(DiagnosisFlow, AMetricThatPassesNeedsNoPostprocessing) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'pass'}},"
                    "'boundary':{'input_cosine':1,'output_cosine':1}}"),
            "CLEAN []");
}

TEST(DiagnosisFlow, ExportIsJudgedByTheLimitOfOutputs) {
  EXPECT_EQ(outcome("{'export':{'output_cosine':0.98}}"), "EXPORT []");
  EXPECT_EQ(outcome("{'export':{'output_cosine':'nan'}}"), "EXPORT []");
  EXPECT_EQ(outcome("{'export':{'output_cosine':0.99}}"), "- [] -> high");
}

TEST(DiagnosisFlow, VerdictsComeFromOutputCosinesWhenNotGiven) {
  EXPECT_EQ(outcome("{'runs':{'base':{'output_cosine':0.5},'high':{'output_cosine':0.999}}}"),
            "- [] -> dump base.vs.high");
  EXPECT_EQ(outcome("{'runs':{'base':{'output_cosine':0.5},'high':{'output_cosine':NaN}}}"),
            "- [] -> nobuf");
  EXPECT_EQ(outcome("{'runs':{'base':{'output_cosine':[1,0.5,1]}}}"), "- [] -> high");
  EXPECT_EQ(outcome("{'runs':{'base':{'output_cosine':[1,0.99]}}}"), "CLEAN []");
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail','output_cosine':0.9999}}}"), "- [] -> high");
}

TEST(DiagnosisFlow, ALaterStepConcludesWhileAnExperimentIsOpen) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}},'compare':{'base.vs.golden':["
                    "{'op':'a','type':'Conv2D','cos_in':[1],'cos_out':[0.5]}]}}"),
            "OPERATOR [a] -> high");
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'},'nofuse':{'verdict':'pass'}},'compare':"
                    "{'base.vs.nofuse':[{'op':'f','cos_in':[1],'cos_out':[0.5]}]}}"),
            "FUSION [f] -> high");
}

TEST(DiagnosisFlow, NotLocatedIsNoAnswerWhileAnExperimentIsOpen) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}},'compare':{'base.vs.golden':[]}}"),
            "- [] -> high");
}

TEST(DiagnosisFlow, StartsAtAnyStep) {
  FlowOptions options;
  options.first_step = 'F';
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}}}", options), "- [] -> nofuse");
  options.first_step = 'G';
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}}}", options),
            "- [] -> dump base.vs.golden");
  EXPECT_FALSE(check_first_step('Z').has_value());
  EXPECT_TRUE(check_first_step('X').has_value());
}

TEST(DiagnosisFlow, ExitStatusTellsWhatTheAnswerIsWorth) {
  EXPECT_EQ(exit_status(diagnose(facts("{}"), {})), 2);
  EXPECT_EQ(exit_status(diagnose(facts("{'runs':{'base':{'verdict':'pass'}}}"), {})), 0);
  EXPECT_EQ(exit_status(diagnose(facts("{'export':{'output_cosine':0}}"), {})), 1);
}

TEST(DiagnosisFlow, BufferAndMemory) {
  const std::string high_fails = "'base':{'verdict':'fail'},'high':{'verdict':'fail'}";
  EXPECT_EQ(outcome("{'runs':{" + high_fails + ",'nobuf':{'verdict':'fail'}}}"), "- [] -> noreuse");
  EXPECT_EQ(outcome("{'runs':{" + high_fails + ",'nobuf':{'verdict':'pass'}}}"),
            "- [] -> dump base.vs.nobuf");
  EXPECT_EQ(outcome("{'runs':{" + high_fails +
                    ",'nobuf':{'verdict':'fail'},'noreuse':{'verdict':'pass'}},'compare':"
                    "{'base.vs.noreuse':[{'op':'a','cos_in':[1],'cos_out':[0.2]},"
                    "{'op':'b','cos_in':[0.2],'cos_out':[0.2]},"
                    "{'op':'c','cos_in':[1],'cos_out':[0.9]}]}}"),
            "MEMORY [a c]");
  EXPECT_EQ(outcome("{'runs':{" + high_fails +
                    ",'noreuse':{'verdict':'fail'}},'options':{'buffer_optimize':'off_optimize'}}"),
            "- [] -> nofuse");
  EXPECT_EQ(outcome("{'runs':{" + high_fails + "},'options':{'buffer_optimize':'l1_optimize'}}"),
            "- [] -> noreuse");
}

TEST(DiagnosisFlow, DataOfAnotherTensorIsASignOfOverwrittenMemory) {
  EXPECT_NE(checks_of("{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'fail'}},'compare':"
                      "{'base.vs.golden':[{'op':'b','cos_in':[1],'cos_out':[0.1],"
                      "'foreign':['every byte is that of a:output:0']}]}}")
                .find("B: b: every byte is that of a:output:0; that is a sign"),
            std::string::npos);
}

TEST(DiagnosisFlow, FusionIsSuspectedFromTheGoldenAlone) {
  const std::string runs =
      "'base':{'verdict':'fail'},'high':{'verdict':'fail'},'nobuf':{'verdict':'fail'},"
      "'noreuse':{'verdict':'fail'}";
  const std::string fused =
      "{'op':'conv_bn','original':['conv','bn'],'cos_in':[1],'cos_out':[0.5],"
      "'passes':['ConvBatchnormFusionPass','TbeCommonRules2FusionPass']}";
  const Diagnosis found =
      diagnose(facts("{'runs':{" + runs + "},'compare':{'base.vs.golden':[" + fused + "]}}"), {});
  EXPECT_EQ(summary(found), "FUSION [conv_bn] -> nofuse");
  EXPECT_EQ(found.confidence, Confidence::suspected);
  ASSERT_TRUE(found.fixes[0].file.has_value());
  EXPECT_NE(found.fixes[0].file->content.find("ConvBatchnormFusionPass"), std::string::npos);
  EXPECT_EQ(outcome("{'runs':{" + runs + ",'nofuse':{'verdict':'fail'}},'compare':" +
                    "{'base.vs.golden':[" + fused + "]}}"),
            "OPERATOR [conv_bn]");
  EXPECT_EQ(outcome("{'runs':{" + runs + ",'nofuse':{'verdict':'pass'}}}"),
            "- [] -> dump base.vs.nofuse");
}

// A wrong var_reci alone leaves the cosine at 1.
TEST(DiagnosisFlow, AnAippInputOfAnotherScaleIsBadThoughAlike) {
  const std::string runs = "{'runs':{" + kAllFail + "},'aipp_input_cosine':1";
  EXPECT_EQ(outcome(runs + ",'aipp_input_close':false}"), "AIPP []");
  EXPECT_EQ(outcome(runs + ",'aipp_input_close':true}"), "- [] -> dump base.vs.golden");
}

TEST(DiagnosisFlow, DataStepAsksForWhatIsLeftOut) {
  EXPECT_EQ(outcome("{'runs':{" + kAllFail + "},'options':{'insert_op_conf':'a'}}"),
            "- [] -> noaipp");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    ",'noaipp':{'verdict':'pass'}},"
                    "'options':{'insert_op_conf':'a'}}"),
            "AIPP []");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    ",'noaipp':{'verdict':'fail'}},"
                    "'options':{'insert_op_conf':'a'}}"),
            "- [] -> dump base.vs.golden");
  // It fails without AIPP as well: what the Data operator holds is the raw image.
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    ",'noaipp':{'verdict':'fail'}},'options':{'insert_op_conf':'a'},'compare':"
                    "{'base.vs.golden':[{'op':'x','type':'Data','cos_in':[],'cos_out':[0.2]},"
                    "{'op':'c','cos_in':[1],'cos_out':[0.5]}]}}"),
            "OPERATOR [c]");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail + "},'options':{'compression_optimize_conf':'q'}}"),
            "- [] -> noquant");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    ",'noquant':{'verdict':'pass'}},"
                    "'options':{'compression_optimize_conf':'q'}}"),
            "- [] -> dump base.vs.noquant");
}

TEST(DiagnosisFlow, QuantisationIsFoundAtTheFirstOriginBehindAQuantiser) {
  const std::string quantised =
      "{'op':'a','cos_in':[1],'cos_out':[1]},{'op':'q','type':'AscendQuant','quant':true,"
      "'cos_in':[1],'cos_out':[0.999]},{'op':'c','cos_in':[0.999],'cos_out':[0.8]}";
  EXPECT_EQ(outcome("{'runs':{" + kAllFail + "},'compare':{'base.vs.golden':[" + quantised + "]}}"),
            "QUANT [c]");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    ",'noquant':{'verdict':'fail'}},"
                    "'compare':{'base.vs.golden':[" +
                    quantised + "]}}"),
            "OPERATOR [c]");
  EXPECT_EQ(outcome("{'runs':{" + kAllFail +
                    "},'compare':{'base.vs.golden':["
                    "{'op':'z','cos_in':[1],'cos_out':[0.5]}," +
                    quantised + "]}}"),
            "OPERATOR [z]");
}

}  // namespace
}  // namespace opdrift::diagnose::flow
