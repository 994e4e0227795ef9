#include "opdrift/diagnose/next_command.hpp"

#include <gtest/gtest.h>

#include "opdrift/base/shell_words.hpp"

namespace opdrift::diagnose {
namespace {

TEST(NextCommand, KeepsTheOrderReplacesAndQuotes) {
  const auto present = graph::parse_atc_command(
      "/opt/atc.bin --model=a.onnx --input_shape=x:1,3;y:2 --precision_mode force_fp16 --output=a");
  EXPECT_EQ(next_atc_command(present, "high", {{"precision_mode", "allow_fp32_to_fp16"}}),
            "atc --model=a.onnx '--input_shape=x:1,3;y:2' --precision_mode=allow_fp32_to_fp16 "
            "--output=a_high");
}

TEST(NextCommand, DropsOptionsAndTheEndingOfTheOutput) {
  const auto present = graph::parse_atc_command("atc --insert_op_conf=a.cfg --output out/m.om");
  EXPECT_EQ(next_atc_command(present, "noaipp", {}, {"insert_op_conf"}),
            "atc --output=out/m_noaipp");
}

TEST(NextCommand, ComesBackFromTheShellAsItWas) {
  const auto present =
      graph::parse_atc_command("atc '--model=it'\\''s $HOME/模型.onnx' --output=o");
  const auto words = shell_words(next_atc_command(present, "nobuf", {}));
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[1], "--model=it's $HOME/模型.onnx");
}

}  // namespace
}  // namespace opdrift::diagnose
