#include "opdrift/graph/atc_options.hpp"

#include <gtest/gtest.h>

namespace opdrift::graph {
namespace {

TEST(AtcOptions, TakesBothSpellingsAndFlags) {
  const auto options = parse_atc_command(
      "/usr/bin/atc.bin --framework=5 --model a.onnx --flag --shape=x:-1,3;y:2 -output out --level "
      "-1");
  EXPECT_EQ(options.program, "/usr/bin/atc.bin");
  EXPECT_EQ(options.get("framework"), "5");
  EXPECT_EQ(options.get("model"), "a.onnx");
  EXPECT_EQ(options.get("flag"), "");
  EXPECT_EQ(options.get("shape"), "x:-1,3;y:2");
  EXPECT_EQ(options.get("output"), "out");
  EXPECT_EQ(options.get("level"), "-1");
  EXPECT_FALSE(options.get("none").has_value());
}

TEST(AtcOptions, TheLastOneWinsAndNothingIsFine) {
  EXPECT_EQ(parse_atc_command("atc --a=1 --a=2").get("a"), "2");
  EXPECT_TRUE(parse_atc_command("").values.empty());
}

}  // namespace
}  // namespace opdrift::graph
