#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Tables for a terminal: titles, a rule, one line per row, fitted into a width.
namespace opdrift::report {

enum class Tone : std::uint8_t { plain, good, bad, odd, faint, strong };

/// The text in the colour of its tone; unchanged when `colour` is false.
std::string painted(std::string_view text, Tone tone, bool colour);

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string title;
  bool right = false;
  std::size_t smallest = 0;  ///< may be shortened in the middle down to this width; 0: never
};

/// Rows have as many cells as there are columns.
struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  /// Width of the table when every column is as narrow as it may be.
  std::size_t least_width() const;

  /// The table in lines of at most `width`, or of least_width() when that is more.
  std::string render(std::size_t width, bool colour) const;
};

}  // namespace opdrift::report
