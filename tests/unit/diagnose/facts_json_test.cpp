#include "opdrift/diagnose/flow/facts_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "unit/diagnose/flow_testing.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/diagnose/flow/report.hpp"

namespace opdrift::diagnose::flow {
namespace {

std::string error_of(const std::string& text) {
  const Result<Facts> parsed = parse_facts(text, "facts.json");
  return parsed ? "" : parsed.error().to_string();
}

TEST(Facts, UnknownKeysAndNullsArePassedOver) {
  const Facts read = facts(
      "{'future':{'x':[1]},'boundary':null,'runs':{'base':null,'high':"
      "{'verdict':null,'clock':3}},'compare':null}");
  EXPECT_EQ(read.runs.size(), 1U);
  EXPECT_FALSE(read.boundary.has_value());
}

TEST(Facts, NumbersMayBeNoNumbers) {
  const Facts read = facts(
      "{'compare':{'base.vs.high':[{'op':'NaN, -Infinity','cos_in':0.5,"
      "'cos_out':[NaN,null,'nan',-Infinity],'ref_absmax':Infinity}]}}");
  const OperatorFacts& op = read.compare.at("base.vs.high").at(0);
  EXPECT_EQ(op.op, "NaN, -Infinity");
  EXPECT_EQ(op.original, std::vector<std::string>{"NaN, -Infinity"});
  EXPECT_EQ(op.cos_in, std::vector<double>{0.5});
  ASSERT_EQ(op.cos_out.size(), 4U);
  EXPECT_TRUE(std::isnan(op.cos_out[0]) && std::isnan(op.cos_out[1]) && std::isnan(op.cos_out[2]));
  EXPECT_TRUE(std::isinf(op.cos_out[3]));
  EXPECT_TRUE(std::isinf(*op.numbers.ref_absmax));
}

TEST(Facts, OptionsMayBeACommandOrHaveDashes) {
  EXPECT_EQ(facts("{'options':'atc --precision_mode=force_fp16'}").options.get("precision_mode"),
            "force_fp16");
  EXPECT_EQ(facts("{'options':{'--disable_reuse_memory':1}}").options.get("disable_reuse_memory"),
            "1");
}

TEST(Facts, ErrorsNameTheKey) {
  EXPECT_NE(error_of("[1]").find("expected an object"), std::string::npos);
  EXPECT_NE(error_of("{").find("offset 1: expected JSON"), std::string::npos);
  EXPECT_NE(error_of(R"({"runs":{"base":{"verdict":"maybe"}}})").find("runs.base.verdict"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"compare":{"a":[{"cos_in":["x"]}]}})").find("compare.a[0].cos_in"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"compare":{"a":{}}})").find("facts.json"), std::string::npos);
  EXPECT_NE(error_of("{\"keep\":[{}]}").find("keep"), std::string::npos);
}

TEST(Facts, ManyBracketsAreNoTrouble) {
  EXPECT_FALSE(parse_facts(std::string(200000, '['), "deep").has_value());
  const std::string deep = "{\"x\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  const auto refused = parse_facts(deep, "deep");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("levels"), std::string::npos);
  const std::string flat = "{\"x\":" + std::string(200, '[') + std::string(200, ']') + "}";
  EXPECT_TRUE(parse_facts(flat, "flat").has_value());
}

TEST(Facts, ComeBackFromTheirOwnText) {
  const Facts first = facts(
      "{'runs':{'base':{'verdict':'fail','output_cosine':0.5,'input_digest':'1'}},'keep':['a'],"
      "'boundary':{'input_cosine':1,'output_cosine':0.7,'findings':['f']},'export':"
      "{'output_cosine':1,'findings':['e']},'aipp_input_cosine':0.8,'aipp_findings':['s'],"
      "'repeat':{'identical':true},'bisect':{'interval':['a','b'],'single_op_ok':true},"
      "'options':{'model':'m.onnx'},'notes':[{'id':'C3','result':'r'}],'golden_model':'g',"
      "'device_soc':'d','compare':{'base.vs.high':[{'op':'a','type':'T','original':['x','y'],"
      "'cos_in':[NaN],'cos_out':[1],'ref_absmax':3,'const':true,'quant':true,'passes':['P'],"
      "'dtype':'DT_FLOAT16','places':['p']}]}}");
  const Result<Facts> second = parse_facts(write_facts(first), "again");
  ASSERT_TRUE(second.has_value()) << second.error().to_string();
  EXPECT_EQ(write_facts(*second), write_facts(first));
  EXPECT_EQ(second->compare.at("base.vs.high").at(0).passes, std::vector<std::string>{"P"});
  EXPECT_EQ(second->bisect->single_op_ok, true);
}

TEST(DiagnosisReport, IsJsonWithEveryPart) {
  const Diagnosis found =
      diagnose(facts("{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'pass'}},'compare':"
                     "{'base.vs.high':[{'op':'加','type':'AddN','original':['加'],'cos_in':[1],"
                     "'cos_out':[0.72],'ref_min':70683,'ref_max':109508,'ref_absmax':109508,"
                     "'cand_absmax':65504,'over_65504':12,'saturated':1}]}}"),
               {});
  const nlohmann::json json = nlohmann::json::parse(render_json(found));
  EXPECT_EQ(json["conclusion"], "OVERFLOW");
  EXPECT_EQ(json["confidence"], "strong");
  EXPECT_EQ(json["step"], "P");
  EXPECT_EQ(json["operators"][0]["name"], "加");
  EXPECT_EQ(json["operators"][0]["evidence"]["ref_max"], 109508);
  EXPECT_EQ(json["operators"][0]["evidence"]["cosine"], 0.72);
  EXPECT_EQ(json["next"][0]["role"], "mixed_1");
  EXPECT_EQ(json["next"][0]["files"][0], "keep_dtype.cfg");
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_NE(render_text(found).find("values from 70683 to 109508"), std::string::npos);
  EXPECT_NE(render_text(found).find("12 elements beyond 65504"), std::string::npos);
}

TEST(DiagnosisReport, AnUndecidedOneHasNoConclusion) {
  const nlohmann::json json = nlohmann::json::parse(render_json(diagnose(facts("{}"), {})));
  EXPECT_TRUE(json["conclusion"].is_null());
  EXPECT_EQ(json["next"][0]["command"], "--precision_mode=allow_fp32_to_fp16");
}

TEST(CommandReview, FindsWhatContradicts) {
  const auto findings = [](const std::string& options) {
    std::string text;
    for (const Check& check : diagnose(facts("{'options':" + options + "}"), {}).checks) {
      text += check.id == "A" ? check.result + "\n" : "";
    }
    return text;
  };
  EXPECT_EQ(findings("{}"), "");
  EXPECT_NE(findings("{'model':'m'}").find("default is float16"), std::string::npos);
  EXPECT_NE(findings("{'precision_mode':'force_fp16','precision_mode_v2':'fp16'}").find("invalid"),
            std::string::npos);
  EXPECT_NE(findings("{'precision_mode':'must_keep_origin_dtype','keep_dtype':'k'}")
                .find("keep_dtype has no effect"),
            std::string::npos);
  EXPECT_NE(findings("{'modify_mixlist':'m'}").find("modify_mixlist has no effect"),
            std::string::npos);
  EXPECT_EQ(findings("{'modify_mixlist':'m','precision_mode':'allow_mix_precision'}"), "");
  EXPECT_NE(findings("{'precision_mode':'quick'}").find("no such mode"), std::string::npos);
  EXPECT_NE(
      findings("{'op_precision_mode':'o','optypelist_for_implmode':'A'}").find("do not count"),
      std::string::npos);
}

}  // namespace
}  // namespace opdrift::diagnose::flow
