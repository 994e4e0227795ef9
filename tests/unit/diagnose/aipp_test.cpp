#include "opdrift/diagnose/fixes/aipp.hpp"

#include <gtest/gtest.h>

#include <string>

namespace opdrift::diagnose::fixes {
namespace {

const std::string kFile =
    "aipp_op {\n"
    "    aipp_mode: static\n"
    "    input_format: RGB888_U8\n"
    "    src_image_size_w: 256\n"
    "    src_image_size_h: 256\n"
    "    crop: true\n"
    "    load_start_pos_w: 16\n"
    "    load_start_pos_h: 16\n"
    "    crop_size_w: 224\n"
    "    crop_size_h: 224\n"
    "    csc_switch: false\n"
    "    rbuv_swap_switch: false\n"
    "    min_chn_0: 123.675\n"
    "    var_reci_chn_0: 0.0171247538316637\n"
    "}\n";

AippOp parsed(const std::string& text) {
  auto operators = parse_aipp(text);
  EXPECT_TRUE(operators) << (operators ? "" : operators.error().message);
  return operators && !operators->empty() ? operators->front() : AippOp{};
}

std::string problems(const std::string& keys, const AippTarget& target = {}) {
  std::string text;
  for (const std::string& problem : check_aipp(parsed("aipp_op {" + keys + "}"), target)) {
    text += problem + "\n";
  }
  return text;
}

TEST(Aipp, ComesBackAsItWas) {
  const auto operators = parse_aipp(kFile);
  ASSERT_TRUE(operators);
  EXPECT_EQ(write_aipp(*operators), kFile);
  EXPECT_TRUE(check_aipp(operators->front(), {3, 224, 224}).empty());
}

TEST(Aipp, TakesCommentsAndOneLine) {
  const AippOp op = parsed("# made by hand\naipp_op: { mean_chn_0 : 1 # one\n, crop:true }");
  EXPECT_EQ(op.number("mean_chn_0"), 1.0);
  EXPECT_TRUE(op.flag("crop"));
  EXPECT_FALSE(op.number("absent").has_value());
}

TEST(Aipp, NamesTheLineThatIsWrong) {
  const auto read = parse_aipp("aipp_op {\n  crop true\n}");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("line 2"), std::string::npos);
  EXPECT_FALSE(parse_aipp("aipp_op {"));
  EXPECT_FALSE(parse_aipp("aipp_op { a: }"));
  EXPECT_FALSE(parse_aipp("other {}"));
  EXPECT_FALSE(parse_aipp("aipp_op"));
}

TEST(Aipp, ChecksFormatAndChannels) {
  EXPECT_NE(problems("input_format: BGR"), "");
  EXPECT_EQ(problems("input_format: YUV400_U8", {1, 0, 0}), "");
  EXPECT_NE(problems("input_format: YUV400_U8", {3, 0, 0}), "");
  EXPECT_EQ(problems("aipp_mode: dynamic"), "");
}

TEST(Aipp, ChecksSizes) {
  const std::string format = "input_format: YUV420SP_U8 ";
  EXPECT_NE(problems(format + "crop: true crop_size_w: 2 crop_size_h: 2").find("left out"),
            std::string::npos);
  EXPECT_NE(problems(format + "crop: true src_image_size_w: 8 src_image_size_h: 8 "
                              "load_start_pos_w: 6 crop_size_w: 4 crop_size_h: 4")
                .find("beyond"),
            std::string::npos);
  EXPECT_NE(problems(format + "crop: true src_image_size_w: 8 src_image_size_h: 8 "
                              "load_start_pos_w: 3 crop_size_w: 4 crop_size_h: 4")
                .find("even"),
            std::string::npos);
  EXPECT_NE(
      problems(format + "src_image_size_w: 8 src_image_size_h: 8", {3, 8, 9}).find("width of 8"),
      std::string::npos);
  EXPECT_EQ(problems(format + "src_image_size_w: 8 src_image_size_h: 8 padding: true "
                              "left_padding_size: 1 right_padding_size: 1",
                     {3, 8, 10}),
            "");
}

TEST(Aipp, ChecksMeansAndVariances) {
  const std::string format = "input_format: RGB888_U8 ";
  EXPECT_NE(problems(format + "min_chn_1: -3").find("mean of channel 1"), std::string::npos);
  EXPECT_NE(problems(format + "var_reci_chn_0: 4.36").find("std * 255"), std::string::npos);
  EXPECT_NE(problems(format + "var_reci_chn_2: 0").find("lost"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::diagnose::fixes
