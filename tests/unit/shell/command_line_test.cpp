#include "opdrift/shell/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opdrift::shell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr OptionSpec kOptions[] = {
    {"-g", "--graph", "GRAPH", "a graph"},
    {"-a", "--all", "", "everything"},
    {"-al", "--absolute", "LIMIT", "a limit"},
};

constexpr CommandSyntax kSyntax = {.options = kOptions,
                                   .names = "LEFT RIGHT",
                                   .least_names = 2,
                                   .most_names = 2,
                                   .name_kind = NameKind::tensors};

Result<CommandLine> parse(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return parse_words(kSyntax, words);
}

TEST(CommandLine, TakesNamesWithAndWithoutTheFlag) {
  EXPECT_THAT(parse("a b")->names(), ElementsAre("a", "b"));
  EXPECT_THAT(parse("-n a b")->names(), ElementsAre("a", "b"));
  EXPECT_THAT(parse("-a a -g x b")->names(), ElementsAre("a", "b"));
}

TEST(CommandLine, TellsFlagsThatBeginAlike) {
  const auto line = parse("a b -al -1.5 -a --graph=net/1");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->number("-al", 0).value(), -1.5);
  EXPECT_TRUE(line->has("-a"));
  EXPECT_EQ(line->text("-g"), "net/1");
}

TEST(CommandLine, RefusesWhatMakesNoSense) {
  EXPECT_THAT(parse("a").error().message, HasSubstr("expected LEFT RIGHT"));
  EXPECT_THAT(parse("a b c").error().message, HasSubstr("unexpected word 'c'"));
  EXPECT_THAT(parse("a b -x").error().message, HasSubstr("unknown option '-x'"));
  EXPECT_THAT(parse("a b -g").error().message, HasSubstr("expected GRAPH"));
  EXPECT_THAT(parse("a b -g -a").error().message, HasSubstr("expected GRAPH"));
  EXPECT_FALSE(parse("a b -al nan")->number("-al", 0).has_value());
  EXPECT_FALSE(parse("a b -al -1")->count("-al", 0).has_value());
}

TEST(CommandLine, SplitsAtBlanksAndNothingElse) {
  EXPECT_THAT(words_of("  ni\t'a b'; ls|x \r\n"), ElementsAre("ni", "'a", "b';", "ls|x"));
}

TEST(CommandLine, ShowsItsUsage) {
  EXPECT_EQ(usage_of("cp", kSyntax), "cp [-n] LEFT RIGHT [-g GRAPH] [-a] [-al LIMIT]");
}

}  // namespace
}  // namespace opdrift::shell
