#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Text in colours, laid out in boxes:
///
///   panel    a rounded box around lines, as wide as they are, the title in its top border
///   table    ruled cells with a bold head; wide cells are wrapped
///   columns  blocks side by side when they fit, else one under the other
///
/// Widths count terminal columns (Chinese characters take two). Nothing is lost to a narrow
/// terminal: what does not fit is wrapped. Control characters of names come out as `\xNN`.
namespace opdrift::shell {

enum class Tone : std::uint8_t { plain, green, yellow, red, blue, bold, faint };

struct Span {
  std::string text;
  Tone tone = Tone::plain;
};

using Line = std::vector<Span>;
using Lines = std::vector<Line>;

/// The paper that is drawn on.
struct Paper {
  std::size_t columns = 100;
  bool unicode = true;  ///< box-drawing characters; else + - |

  /// What a child hangs on in a tree: " ├─ " and " └─ ".
  std::string_view branch() const { return unicode ? " ├─ " : " |- "; }
  std::string_view last_branch() const { return unicode ? " └─ " : " `- "; }
};

/// A line of one colour.
inline Line text_line(std::string text, Tone tone = Tone::plain) {
  return {Span{std::move(text), tone}};
}

std::size_t width_of(const Line& line);
std::size_t width_of(const Lines& lines);

/// Without tabs (set to multiples of eight) and control characters.
Line cleaned(const Line& line);

/// Lines of at most `columns`, broken at blanks where there are any.
Lines wrapped(const Line& line, std::size_t columns);

Lines panel(const Line& title, const Lines& body, const Paper& paper);

struct Table {
  std::string title;  ///< "" for none
  std::vector<std::string> heads;
  std::vector<std::vector<Span>> rows;  ///< one cell per head
};

Lines render(const Table& table, const Paper& paper);

Lines side_by_side(const std::vector<Lines>& blocks, const Paper& paper);

/// With escape codes when `colour`.
std::string to_text(const Line& line, bool colour);

}  // namespace opdrift::shell
