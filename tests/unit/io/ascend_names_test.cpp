#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <string>

#include "opdrift/io/ascend/names.hpp"

namespace opdrift::io {
namespace {

using Pattern = NamePattern;

std::string groups_text(const std::optional<NameGroups>& groups) {
  if (!groups) {
    return "no match";
  }
  std::string text;
  for (const std::optional<std::string_view>& group : *groups) {
    text += "<" + std::string(group.value_or("-")) + ">";
  }
  return text;
}

std::string regex_groups(const std::string& name, const std::regex& pattern) {
  std::smatch match;
  if (!std::regex_search(name, match, pattern, std::regex_constants::match_continuous)) {
    return "no match";
  }
  std::string text;
  for (std::size_t i = 1; i < match.size(); ++i) {
    text += "<" + (match[i].matched ? match[i].str() : "-") + ">";
  }
  return text;
}

// The patterns of the header as ECMAScript expressions: the hand-written matchers must agree with a
// backtracking engine on every name made of the characters that matter.
TEST(NamePattern, AgreesWithABacktrackingEngine) {
  const std::string name = "[A-Za-z0-9_-]+";
  const std::regex offline(name + R"(\.()" + name +
                           R"()\.[0-9]+(\.[0-9]+)?\.[0-9]{1,255})"
                           R"((\.[0-9]+\.[0-9]+\.[0-9]+)?(\.[0-9]+)?)");
  const std::regex dump("(" + name + R"()\.()" + name +
                        R"()\.([0-9]+)\.?([0-9]+)?\.([0-9]{1,255}))"
                        R"(\.?([0-9]+)?\.?([0-9]+)?\.?([0-9]+)?\.?([0-9]+)?)");
  const std::regex numpy(R"(([A-Za-z0-9_.-]+\.[0-9]+)\.[0-9]{1,255}\.npy$)");
  const std::vector<std::string> parts = {"a", "", "1", "23", "npy", "x y"};
  std::size_t compared = 0;
  for (std::size_t code = 0; code < 6 * 6 * 6 * 6 * 6 * 6; code += 5) {
    std::string text = "T";
    for (std::size_t rest = code, i = 0; i < 6; rest /= 6, ++i) {
      text += "." + parts[rest % 6];
    }
    EXPECT_EQ(groups_text(match_name(Pattern::offline, text)), regex_groups(text, offline)) << text;
    EXPECT_EQ(groups_text(match_name(Pattern::dump, text)), regex_groups(text, dump)) << text;
    EXPECT_EQ(groups_text(match_name(Pattern::numpy, text)), regex_groups(text, numpy)) << text;
    ++compared;
  }
  EXPECT_GT(compared, 9000U);
}

TEST(NamePattern, ToleratesOneNewlineWhereAnchored) {
  EXPECT_TRUE(match_name(Pattern::standard, "op.0.1.pb\n"));
  EXPECT_FALSE(match_name(Pattern::standard, "op.0.1.pb\n\n"));
  EXPECT_FALSE(match_name(Pattern::standard, "op.0.1.pbx"));
}

TEST(NamePattern, LimitsTimeStampsTo255Digits) {
  EXPECT_TRUE(match_name(Pattern::quant, "op.0." + std::string(255, '1') + ".quant"));
  EXPECT_FALSE(match_name(Pattern::quant, "op.0." + std::string(256, '1') + ".quant"));
  EXPECT_EQ(groups_text(match_name(Pattern::dump, "a.b.1.2." + std::string(256, '7'))),
            "<a><b><1><2><" + std::string(255, '7') + "><7><-><-><->");
}

TEST(NamePattern, TakesMegabytesInNoTime) {
  const auto start = std::chrono::steady_clock::now();
  for (const Pattern pattern : {Pattern::offline, Pattern::numpy, Pattern::dump, Pattern::plugin,
                                Pattern::standard_numpy}) {
    match_name(pattern, "a.b." + std::string(1 << 20, '1'));
    match_name(pattern, "convert_" + std::string(1 << 20, '_') + ".py");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(NamePattern, FindsTheSplitOfPluginNames) {
  EXPECT_TRUE(match_name(Pattern::plugin, "convert_A_to_B_to_C.py"));
  EXPECT_FALSE(match_name(Pattern::plugin, "convert__to_.py"));
  EXPECT_FALSE(match_name(Pattern::plugin, "convert_" + std::string(129, 'A') + "_to_B.py"));
}

TEST(DumpName, IsTakenApart) {
  const auto name = parse_dump_name("Conv2D.conv1.3.2.1614717262233160.4.330.0.1");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->op_type, "Conv2D");
  EXPECT_EQ(name->op_name, "conv1");
  EXPECT_EQ(name->task_id, 3U);
  EXPECT_EQ(name->stream_id, 2U);
  EXPECT_EQ(name->time, "1614717262233160");
  EXPECT_EQ(name->extra[1], 330U);
  EXPECT_EQ(parse_dump_name("Conv2D.conv1.3.1614717262233160")->stream_id, std::nullopt);
}

TEST(SliceMode, ComesFromTheFourthPartFromTheEnd) {
  EXPECT_EQ(slice_mode_of("A.b.1.2.3").value(), SliceMode::normal);
  EXPECT_EQ(slice_mode_of("A.b.1.2.3.0.1.2.3").value(), SliceMode::normal);
  EXPECT_EQ(slice_mode_of("A.b.1.2.3.4.1.2.3").value(), SliceMode::automatic);
  EXPECT_EQ(slice_mode_of("A.b_lxslice0.1.2.3.4.1.2.3").value(), SliceMode::manual);
  EXPECT_EQ(slice_mode_of("a.b.c.d.e.f.9.npy").value(), SliceMode::normal);
  EXPECT_EQ(slice_mode_of("A.b.1.2.3.5.1.2.3").error().code, ErrorCode::bad_task_type);
}

TEST(CleanOpName, CutsSlicesAndSubgraphs) {
  EXPECT_EQ(clean_op_name("net_conv_lxslice12", false), "net_conv");
  EXPECT_EQ(clean_op_name("a_lxslice0_b", false), "a_lxslice0_b");
  EXPECT_EQ(clean_op_name("a_lxslice0_b_lxslice1", true), "a_b");
  EXPECT_EQ(clean_op_name("a_lxslice0_b_lxslice1", false), "a_lxslice0_b_lxslice1");
  EXPECT_EQ(clean_op_name("c_sgt_graph_0_cast9", false), "cast9");
  EXPECT_EQ(clean_op_name("x_sgt_graph_0_y_sgt_graph_12_z", true), "z");
  EXPECT_EQ(clean_op_name("c_sgt_graph_0", false), "c_sgt_graph_0");
  EXPECT_EQ(clean_op_name("c_sgt_graph_0_conv_lxslice3", false), "conv");
  EXPECT_EQ(clean_op_name("c_sgt_graph_0_conv_lxslice3", true), "c_sgt_graph_0_conv");
  EXPECT_EQ(clean_op_name("lxslice", false), "lxslice");
}

TEST(QuantisedOp, IsKnownByItsName) {
  for (const char* key : {"a_quant_layer", "a_anti_quant_layer", "xAscendQuant",
                          "AscendWeightQuant", "AntiQuant1", "a_quant", "a_weight_quant",
                          "a_anti_quant", "a_dequant_layer", "AscendDequant", "b_dequant"}) {
    EXPECT_TRUE(is_quantised_op(key)) << key;
  }
  EXPECT_FALSE(is_quantised_op("quantum_conv"));
}

}  // namespace
}  // namespace opdrift::io
