#include "opdrift/shell/screen/blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift::shell {
namespace {

std::string text_of(const Lines& lines) {
  std::string text;
  for (const Line& line : lines) {
    text += to_text(line, false) + "\n";
  }
  return text;
}

const Paper kWide{100, true};
const Paper kAscii{100, false};

TEST(Panel, IsAsWideAsItsText) {
  EXPECT_EQ(text_of(panel(text_line("T"), {text_line("abcdef"), text_line("x")}, kWide)),
            "╭── T ───╮\n"
            "│ abcdef │\n"
            "│ x      │\n"
            "╰────────╯\n");
}

TEST(Panel, IsDrawnWithAsciiWithoutUnicode) {
  EXPECT_EQ(text_of(panel(text_line(""), {text_line("ab")}, kAscii)),
            "+----+\n"
            "| ab |\n"
            "+----+\n");
}

TEST(Panel, CountsChineseCharactersTwice) {
  const Lines lines = panel(text_line("加法"), {text_line("中文"), text_line("abcdefgh")}, kWide);
  for (const Line& line : lines) {
    EXPECT_EQ(width_of(line), width_of(lines.front()));
  }
}

TEST(Panel, WrapsWhatANarrowTerminalCannotHold) {
  const Paper narrow{40, true};
  const Lines lines =
      panel(text_line(std::string(80, 't')), {text_line(std::string(90, 'p'))}, narrow);
  std::size_t letters = 0;
  for (const Line& line : lines) {
    EXPECT_LE(width_of(line), 40U);
    const std::string text = to_text(line, false);
    letters += static_cast<std::size_t>(std::count(text.begin(), text.end(), 'p'));
  }
  EXPECT_EQ(letters, 90U);
}

TEST(Panel, KeepsEveryLineWithinTheNarrowestTerminals) {
  for (std::size_t columns = 12; columns < 60; ++columns) {
    const Lines lines = panel(text_line("(debug_0) 计算图名称"),
                              {{{"Op: "}, {"[类型]", Tone::green}, {" 很长的中文算子名称/abc"}}},
                              Paper{columns, true});
    for (const Line& line : lines) {
      EXPECT_LE(width_of(line), columns) << columns;
    }
  }
}

TEST(Wrapping, BreaksAtBlanksAndKeepsColours) {
  const Lines lines = wrapped({{"one two "}, {"three four", Tone::red}}, 14);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(to_text(lines[0], false), "one two three");
  EXPECT_EQ(to_text(lines[1], true), "\x1b[31mfour\x1b[0m");
}

TEST(Cleaning, ShowsControlCharactersAndSetsTabs) {
  EXPECT_EQ(to_text(cleaned(text_line("ab\tc\x1b[31m")), false), "ab      c\\x1b[31m");
}

TEST(Tables, FitIntoTheWidthByWrappingCells) {
  const Table table{"Title", {"Index", "Data"}, {{Span{"0"}, Span{std::string(50, 'd')}}}};
  const Lines lines = render(table, Paper{40, true});
  for (const Line& line : lines) {
    EXPECT_LE(width_of(line), 40U);
  }
  EXPECT_EQ(text_of(render(Table{"", {"A"}, {{Span{"1"}}}}, kAscii)),
            "+---+\n| A |\n+---+\n| 1 |\n+---+\n");
}

TEST(Tables, HaveBoldHeads) {
  EXPECT_NE(to_text(render(Table{"", {"A"}, {}}, kWide)[1], true).find("\x1b[1mA"),
            std::string::npos);
}

TEST(Columns, StandSideBySideOnlyWhereTheyFit) {
  const Lines one = {text_line("aa"), text_line("a")};
  const Lines two = {text_line("bbb")};
  EXPECT_EQ(text_of(side_by_side({one, two}, kWide)), "aa bbb\na\n");
  EXPECT_EQ(text_of(side_by_side({one, two}, Paper{5, true})), "aa\na\nbbb\n");
}

}  // namespace
}  // namespace opdrift::shell
