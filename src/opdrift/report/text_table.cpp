#include "opdrift/report/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "opdrift/base/text.hpp"

namespace opdrift::report {

namespace {

using Widths = std::vector<std::size_t>;

constexpr std::size_t kGap = 2;  ///< blanks between columns

/// Widths at which nothing is shortened.
Widths natural_widths(const TextTable& table) {
  Widths widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = display_width(table.columns[c].title);
    for (const std::vector<Cell>& row : table.rows) {
      width = std::max(width, display_width(row[c].text));
    }
    widths.push_back(width);
  }
  return widths;
}

std::size_t total_width(const Widths& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         (widths.empty() ? 0 : kGap * (widths.size() - 1));
}

/// The widest column that may still be shortened; nothing left: the number of columns.
std::size_t widest_shrinkable(const TextTable& table, const Widths& widths) {
  std::size_t widest = widths.size();
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const std::size_t smallest = table.columns[c].smallest;
    if (smallest > 0 && widths[c] > smallest &&
        (widest == widths.size() || widths[c] > widths[widest])) {
      widest = c;
    }
  }
  return widest;
}

/// The widest column gives way, again and again, until the line fits.
Widths fitted_widths(const TextTable& table, std::size_t width) {
  Widths widths = natural_widths(table);
  for (std::size_t total = total_width(widths); total > width; --total) {
    const std::size_t widest = widest_shrinkable(table, widths);
    if (widest == widths.size()) {
      break;
    }
    --widths[widest];
  }
  return widths;
}

std::string padded(const Cell& cell, bool right, std::size_t width, bool colour) {
  const std::string text = ellipsize_middle(cell.text, width);
  const std::size_t used = display_width(text);
  const std::string gap(width > used ? width - used : 0, ' ');
  const std::string shown = painted(text, cell.tone, colour);
  return right ? gap + shown : shown + gap;
}

std::string line_of(const TextTable& table, const std::vector<Cell>& cells, const Widths& widths,
                    bool colour) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += c == 0 ? "" : std::string(kGap, ' ');
    line += padded(cells[c], table.columns[c].right, widths[c], colour);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string rule_line(const Widths& widths, bool colour) {
  std::string line;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    line += c == 0 ? "" : std::string(kGap, ' ');
    for (std::size_t i = 0; i < widths[c]; ++i) {
      line += "─";
    }
  }
  return painted(line, Tone::faint, colour) + "\n";
}

}  // namespace

std::string painted(std::string_view text, Tone tone, bool colour) {
  if (!colour || tone == Tone::plain) {
    return std::string(text);
  }
  const char* code = "";
  switch (tone) {
    case Tone::good: code = "\x1b[32m"; break;
    case Tone::bad: code = "\x1b[31m"; break;
    case Tone::odd: code = "\x1b[33m"; break;
    case Tone::faint: code = "\x1b[2m"; break;
    case Tone::strong: code = "\x1b[1m"; break;
    case Tone::plain: break;
  }
  return code + std::string(text) + "\x1b[0m";
}

std::size_t TextTable::least_width() const {
  Widths widths = natural_widths(*this);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (columns[c].smallest > 0) {
      widths[c] = std::min(widths[c], columns[c].smallest);
    }
  }
  return total_width(widths);
}

std::string TextTable::render(std::size_t width, bool colour) const {
  const Widths widths = fitted_widths(*this, width);
  std::vector<Cell> titles;
  titles.reserve(columns.size());
  for (const Column& column : columns) {
    titles.push_back({column.title, Tone::strong});
  }
  std::string text = line_of(*this, titles, widths, colour) + rule_line(widths, colour);
  for (const std::vector<Cell>& row : rows) {
    text += line_of(*this, row, widths, colour);
  }
  return text;
}

}  // namespace opdrift::report
