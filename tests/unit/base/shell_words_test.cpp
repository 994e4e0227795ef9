#include "opdrift/base/shell_words.hpp"

#include <gtest/gtest.h>

namespace opdrift {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitsAtBlanksOutsideQuotes) {
  EXPECT_EQ(shell_words("  a  'b c' \"d 'e\" f\\ g x'y'z \"\" "),
            (Words{"a", "b c", "d 'e", "f g", "xyz", ""}));
  EXPECT_EQ(shell_words("--shape=x:1;y:2 | &"), (Words{"--shape=x:1;y:2", "|", "&"}));
  EXPECT_EQ(shell_words("'open to the end"), Words{"open to the end"});
  EXPECT_EQ(shell_words(""), Words{});
}

TEST(ShellWords, QuotingRoundTrips) {
  const Words words = {"plain", "", "two words", "it's", "$HOME `x` \"q\" \\", "~", "模型", "a;b"};
  EXPECT_EQ(shell_words(shell_command(words)), words);
  EXPECT_EQ(shell_quoted("--a=b/c.onnx"), "--a=b/c.onnx");
}

}  // namespace
}  // namespace opdrift
