#include <gtest/gtest.h>

#include <string>

#include "opdrift/diagnose/fixes/customize_dtypes.hpp"
#include "opdrift/diagnose/fixes/dump_switch.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"
#include "opdrift/diagnose/fixes/mix_list.hpp"
#include "opdrift/diagnose/fixes/op_precision.hpp"
#include "opdrift/diagnose/fixes/precision_modes.hpp"

namespace opdrift::diagnose::fixes {
namespace {

TEST(KeepDtype, HoldsOneEntryPerLine) {
  const std::string text = "layer3/conv1/Conv\nOpType::SoftmaxV2\n";
  EXPECT_EQ(write_keep_dtype({{"layer3/conv1/Conv"}, {"SoftmaxV2"}}), text);
  const KeepList list = parse_keep_dtype(
      "\n layer3/conv1/Conv\r\nOpType::SoftmaxV2\n"
      "layer3/conv1/Conv\n");
  EXPECT_EQ(write_keep_dtype(list), text);
}

TEST(KeepDtype, LeavesOutWhatNoLineHolds) {
  EXPECT_EQ(write_keep_dtype({{"a\nb", "", " ", "层"}, {}}), "层\n");
}

TEST(CustomizeDtypes, HaveTheirTypesInOrder) {
  std::vector<CustomDtypes> entries = {all_float32("layer3/conv1/Conv", 2, 1)};
  entries.push_back({true, "SoftmaxV2", {"float32"}, {"float32"}});
  const std::string text =
      "layer3/conv1/Conv::InputDtype:float32,float32,OutputDtype:float32\n"
      "OpType::SoftmaxV2:InputDtype:float32,OutputDtype:float32\n";
  EXPECT_EQ(write_customize_dtypes(entries), text);
  const auto read = parse_customize_dtypes(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(write_customize_dtypes(*read), text);
}

TEST(CustomizeDtypes, NameTheLineThatIsNone) {
  const auto read = parse_customize_dtypes("a::OutputDtype:float16\nb:float32\n");
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("line 2"), std::string::npos);
  EXPECT_FALSE(parse_customize_dtypes("OutputDtype:float16").has_value());
  EXPECT_FALSE(parse_customize_dtypes("OpType::InputDtype:float16").has_value());
}

TEST(MixList, HasOnlyThePartsThatAreNotEmpty) {
  MixList list;
  list.black.to_add = {"SoftmaxV2"};
  const std::string text = write_mix_list(list);
  EXPECT_EQ(text,
            "{\n  \"black-list\": {\n    \"to-add\": [\n      \"SoftmaxV2\"\n    ]\n  }\n}\n");
  list.white.to_remove = {"MatMul"};
  const auto read = parse_mix_list(write_mix_list(list));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->black.to_add, list.black.to_add);
  EXPECT_EQ(read->white.to_remove, list.white.to_remove);
  EXPECT_TRUE(read->white.to_add.empty());
}

TEST(MixList, RefusesOtherShapes) {
  EXPECT_FALSE(parse_mix_list("[]").has_value());
  EXPECT_FALSE(parse_mix_list(R"({"black-list": []})").has_value());
  EXPECT_FALSE(parse_mix_list(R"({"black-list": {"to-add": "a"}})").has_value());
  EXPECT_FALSE(parse_mix_list(R"({"black-list": {"to-add": [1]}})").has_value());
}

TEST(FusionSwitch, AllOffKeepsExceptionsBesideIt) {
  EXPECT_EQ(write_fusion_switch(all_fusion_off({"SplitConvConcatFusionPass"})),
            "{\n  \"Switch\": {\n    \"GraphFusion\": {\n      \"ALL\": \"off\",\n"
            "      \"SplitConvConcatFusionPass\": \"on\"\n    },\n    \"UBFusion\": {\n"
            "      \"ALL\": \"off\"\n    }\n  }\n}\n");
  EXPECT_EQ(write_fusion_switch(all_fusion_off({}, false)).find("UBFusion"), std::string::npos);
}

TEST(FusionSwitch, PassesGoWhereTheyBelong) {
  const FusionSwitch off = passes_off(
      {"ConvBatchnormFusionPass", "TbeCommonRules2FusionPass", "ConvBatchnormFusionPass"});
  EXPECT_EQ(off.graph.size(), 1U);
  EXPECT_EQ(off.ub.size(), 1U);
  EXPECT_EQ(optimization_switch(off), "ConvBatchnormFusionPass:off;TbeCommonRules2FusionPass:off");
  const auto read = parse_fusion_switch(write_fusion_switch(off));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->graph, off.graph);
  EXPECT_EQ(read->ub, off.ub);
}

TEST(FusionSwitch, ReadsTheLineFormToo) {
  const auto read = parse_fusion_switch("A:off\n\nB : on\n");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->graph, (std::vector<PassSwitch>{{"A", false}, {"B", true}}));
  EXPECT_FALSE(parse_fusion_switch("A\n").has_value());
  EXPECT_FALSE(parse_fusion_switch("A:maybe").has_value());
  EXPECT_FALSE(parse_fusion_switch("{\"Switch\": {\"GraphFusion\": {\"A\": 1}}}").has_value());
  EXPECT_FALSE(parse_fusion_switch("{}").has_value());
}

TEST(FusionSwitch, QuantisedModelsHaveAListByProduct) {
  EXPECT_EQ(quantised_passes(QuantProduct::any).size(), 14U);
  EXPECT_EQ(quantised_passes(QuantProduct::training).back(), "V100RequantFusionPass");
  EXPECT_EQ(quantised_passes(QuantProduct::inference).back(), "V200RequantFusionPass");
}

TEST(OpPrecision, HasSectionsForTypesAndNames) {
  const OpPrecision precision{{{"SoftmaxV2", "high_precision"}},
                              {{"layer3/conv1/Conv", "high_precision"}}};
  const std::string text =
      "[ByOpType]\nSoftmaxV2=high_precision\n[ByNodeName]\nlayer3/conv1/Conv=high_precision\n";
  EXPECT_EQ(write_op_precision(precision), text);
  const auto read = parse_op_precision(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(write_op_precision(*read), text);
}

TEST(OpPrecision, RefusesWhatIsNoEntry) {
  EXPECT_FALSE(parse_op_precision("A=high_precision\n").has_value());
  EXPECT_FALSE(parse_op_precision("[ByOpType]\nA=best\n").has_value());
  EXPECT_FALSE(parse_op_precision("[ByOpType]\nA\n").has_value());
  EXPECT_FALSE(parse_op_precision("[ByOpType]\n=high_precision\n").has_value());
}

TEST(DumpSwitch, NamesModelsAndPath) {
  EXPECT_EQ(write_dump_switch({{"m"}, "/p"}),
            "{\n  \"dump\": {\n    \"dump_list\": [\n      {\n        \"model_name\": \"m\"\n"
            "      }\n    ],\n    \"dump_path\": \"/p\",\n    \"dump_mode\": \"all\",\n"
            "    \"dump_op_switch\": \"off\"\n  }\n}\n");
  EXPECT_EQ(write_overflow_switch("/p"),
            "{\n  \"dump\": {\n    \"dump_path\": \"/p\",\n    \"dump_debug\": \"on\"\n  }\n}\n");
}

TEST(PrecisionModes, TheSecondVersionWins) {
  const auto mode = [](const std::string& command) {
    const PrecisionMode* const found = chosen_precision(graph::parse_atc_command(command));
    return found == nullptr ? "" : std::string(found->name);
  };
  EXPECT_EQ(mode("atc --precision_mode=force_fp16 --precision_mode_v2=origin"), "origin");
  EXPECT_EQ(mode("atc --precision_mode=force_fp32"), "force_fp32");
  EXPECT_EQ(mode("atc"), "");
  EXPECT_EQ(mode("atc --precision_mode=origin"), "");
}

}  // namespace
}  // namespace opdrift::diagnose::fixes
