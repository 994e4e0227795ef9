#include "opdrift/shell/screen/blocks.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::shell {

namespace {

constexpr std::size_t kTab = 8;
constexpr std::size_t kLeastColumns = 12;  ///< narrower terminals are drawn this wide
constexpr std::size_t kLeastCell = 4;

/// One character of a line.
struct Glyph {
  std::string_view bytes;
  std::size_t width = 0;
  Tone tone = Tone::plain;
};

std::size_t bytes_of_character(std::string_view text) {
  std::size_t count = 1;
  while (count < text.size() && (static_cast<unsigned char>(text[count]) & 0xC0U) == 0x80U) {
    ++count;
  }
  return count;
}

std::vector<Glyph> glyphs_of(const Line& line) {
  std::vector<Glyph> glyphs;
  for (const Span& span : line) {
    std::string_view rest = span.text;
    while (!rest.empty()) {
      const std::size_t bytes = bytes_of_character(rest);
      const std::string_view character = rest.substr(0, bytes);
      glyphs.push_back({character, bytes == 1 ? 1 : display_width(character), span.tone});
      rest.remove_prefix(bytes);
    }
  }
  return glyphs;
}

Line line_of(const std::vector<Glyph>& glyphs, std::size_t first, std::size_t last) {
  Line line;
  for (std::size_t i = first; i < last; ++i) {
    if (line.empty() || line.back().tone != glyphs[i].tone) {
      line.push_back({"", glyphs[i].tone});
    }
    line.back().text += glyphs[i].bytes;
  }
  return line;
}

/// Where a line that begins at `first` ends: behind the last blank that leaves at least half of the
/// width used, else where the width does.
std::size_t line_end(const std::vector<Glyph>& glyphs, std::size_t first, std::size_t columns) {
  std::size_t used = 0;
  std::size_t end = first;
  while (end < glyphs.size() && used + glyphs[end].width <= columns) {
    used += glyphs[end++].width;
  }
  end = std::max(end, first + 1);
  if (end >= glyphs.size()) {
    return glyphs.size();
  }
  for (std::size_t i = end; i > first + (end - first) / 2; --i) {
    if (glyphs[i - 1].bytes == " ") {
      return i;
    }
  }
  return end;
}

/// Characters boxes are made of.
struct Strokes {
  std::string_view horizontal, vertical;
  std::string_view top_left, top_right, bottom_left, bottom_right;
  std::string_view left, right, top, bottom, cross;
};

constexpr Strokes kRounded = {"─", "│", "╭", "╮", "╰", "╯", "├", "┤", "┬", "┴", "┼"};
constexpr Strokes kSquare = {"─", "│", "┌", "┐", "└", "┘", "├", "┤", "┬", "┴", "┼"};
constexpr Strokes kAscii = {"-", "|", "+", "+", "+", "+", "+", "+", "+", "+", "+"};

const Strokes& panel_strokes(const Paper& paper) {
  return paper.unicode ? kRounded : kAscii;
}

const Strokes& table_strokes(const Paper& paper) {
  return paper.unicode ? kSquare : kAscii;
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += piece;
  }
  return text;
}

void append(Line& line, const Line& more) {
  line.insert(line.end(), more.begin(), more.end());
}

void pad(Line& line, std::size_t columns) {
  const std::size_t used = width_of(line);
  if (used < columns) {
    line.push_back({std::string(columns - used, ' ')});
  }
}

Line fitted_title(const Line& title, std::size_t columns, const Paper& paper) {
  const Line clean = cleaned(title);
  if (width_of(clean) <= columns) {
    return clean;
  }
  std::string text;
  for (const Span& span : clean) {
    text += span.text;
  }
  text = ellipsize_middle(text, columns);
  return text_line(paper.unicode ? text : replace_all(text, "…", "~"));
}

Line top_border(const Line& title, std::size_t inner, const Strokes& strokes) {
  const std::size_t used = width_of(title);
  if (used == 0) {
    return text_line(std::string(strokes.top_left) + repeated(strokes.horizontal, inner + 2) +
                     std::string(strokes.top_right));
  }
  const std::size_t free = inner - used;
  Line border =
      text_line(std::string(strokes.top_left) + repeated(strokes.horizontal, free / 2) + " ");
  append(border, title);
  border.push_back(
      {" " + repeated(strokes.horizontal, free - free / 2) + std::string(strokes.top_right)});
  return border;
}

using Widths = std::vector<std::size_t>;

Widths cell_widths(const Table& table, std::size_t columns) {
  Widths widths;
  for (std::size_t c = 0; c < table.heads.size(); ++c) {
    std::size_t width = display_width(table.heads[c]);
    for (const std::vector<Span>& row : table.rows) {
      width = std::max(width, width_of(cleaned({row[c]})));
    }
    widths.push_back(width);
  }
  std::size_t total = 3 * widths.size() + 1;
  for (const std::size_t width : widths) {
    total += width;
  }
  for (; total > columns; --total) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (widest == widths.end() || *widest <= kLeastCell) {
      break;
    }
    --*widest;
  }
  return widths;
}

Line rule(const Widths& widths, const Strokes& strokes, std::string_view left,
          std::string_view middle, std::string_view right) {
  std::string text(left);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    text += c == 0 ? "" : std::string(middle);
    text += repeated(strokes.horizontal, widths[c] + 2);
  }
  return text_line(text + std::string(right));
}

void add_row(Lines& lines, const std::vector<Span>& cells, const Widths& widths,
             const Strokes& strokes) {
  std::vector<Lines> wrapped_cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    wrapped_cells.push_back(wrapped({cells[c]}, widths[c]));
    height = std::max(height, wrapped_cells.back().size());
  }
  for (std::size_t k = 0; k < height; ++k) {
    Line row = text_line(std::string(strokes.vertical));
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Line cell = text_line(" ");
      if (k < wrapped_cells[c].size()) {
        append(cell, wrapped_cells[c][k]);
      }
      pad(cell, widths[c] + 1);
      append(row, cell);
      row.push_back({" " + std::string(strokes.vertical)});
    }
    lines.push_back(std::move(row));
  }
}

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::green: return "\x1b[32m";
    case Tone::yellow: return "\x1b[33m";
    case Tone::red: return "\x1b[31m";
    case Tone::blue: return "\x1b[34m";
    case Tone::bold: return "\x1b[1m";
    case Tone::faint: return "\x1b[2m";
    case Tone::plain: break;
  }
  return "";
}

}  // namespace

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line) {
    width += display_width(span.text);
  }
  return width;
}

std::size_t width_of(const Lines& lines) {
  std::size_t width = 0;
  for (const Line& line : lines) {
    width = std::max(width, width_of(line));
  }
  return width;
}

Line cleaned(const Line& line) {
  Line clean;
  std::size_t used = 0;
  for (const Span& span : line) {
    std::string text;
    bool first = true;
    for (const std::string_view part : split(span.text, '\t')) {
      if (!first) {
        const std::size_t gap = kTab - used % kTab;
        text.append(gap, ' ');
        used += gap;
      }
      const std::string shown = printable(part);
      used += display_width(shown);
      text += shown;
      first = false;
    }
    clean.push_back({std::move(text), span.tone});
  }
  return clean;
}

Lines wrapped(const Line& line, std::size_t columns) {
  const Line clean = cleaned(line);
  if (width_of(clean) <= columns) {
    return {clean};
  }
  const std::vector<Glyph> glyphs = glyphs_of(clean);
  Lines lines;
  for (std::size_t first = 0; first < glyphs.size();) {
    const std::size_t end = line_end(glyphs, first, std::max<std::size_t>(1, columns));
    std::size_t last = end;
    while (end < glyphs.size() && last > first + 1 && glyphs[last - 1].bytes == " ") {
      --last;
    }
    lines.push_back(line_of(glyphs, first, last));
    first = end;
  }
  return lines;
}

Lines panel(const Line& title, const Lines& body, const Paper& paper) {
  const std::size_t most = std::max(paper.columns, kLeastColumns) - 4;
  Lines inside;
  for (const Line& line : body) {
    const Lines parts = wrapped(line, most);
    inside.insert(inside.end(), parts.begin(), parts.end());
  }
  const Line shown_title = fitted_title(title, most - 2, paper);
  const std::size_t title_width = width_of(shown_title);
  const std::size_t inner =
      std::max(width_of(inside), title_width == 0 ? std::size_t{0} : title_width + 2);
  const Strokes& strokes = panel_strokes(paper);
  Lines lines = {top_border(shown_title, inner, strokes)};
  for (const Line& text : inside) {
    Line row = text_line(std::string(strokes.vertical) + " ");
    append(row, text);
    pad(row, inner + 2);
    row.push_back({" " + std::string(strokes.vertical)});
    lines.push_back(std::move(row));
  }
  lines.push_back(text_line(std::string(strokes.bottom_left) +
                            repeated(strokes.horizontal, inner + 2) +
                            std::string(strokes.bottom_right)));
  return lines;
}

Lines render(const Table& table, const Paper& paper) {
  const Strokes& strokes = table_strokes(paper);
  const Widths widths = cell_widths(table, std::max(paper.columns, kLeastColumns));
  Lines lines = {rule(widths, strokes, strokes.top_left, strokes.top, strokes.top_right)};
  const std::size_t total = width_of(lines.front());
  if (!table.title.empty()) {
    Lines titles = wrapped(text_line(table.title), total);
    const std::size_t used = width_of(titles.front());
    titles.front().insert(titles.front().begin(), Span{std::string((total - used) / 2, ' ')});
    lines.insert(lines.begin(), titles.begin(), titles.end());
  }
  std::vector<Span> heads;
  for (const std::string& head : table.heads) {
    heads.push_back({head, Tone::bold});
  }
  add_row(lines, heads, widths, strokes);
  lines.push_back(rule(widths, strokes, strokes.left, strokes.cross, strokes.right));
  for (const std::vector<Span>& row : table.rows) {
    add_row(lines, row, widths, strokes);
  }
  lines.push_back(rule(widths, strokes, strokes.bottom_left, strokes.bottom, strokes.bottom_right));
  return lines;
}

Lines side_by_side(const std::vector<Lines>& blocks, const Paper& paper) {
  std::size_t total = 0;
  std::size_t height = 0;
  for (const Lines& block : blocks) {
    total += width_of(block) + 1;
    height = std::max(height, block.size());
  }
  Lines lines;
  if (total > paper.columns + 1) {
    for (const Lines& block : blocks) {
      lines.insert(lines.end(), block.begin(), block.end());
    }
    return lines;
  }
  lines.resize(height);
  std::size_t left = 0;
  for (const Lines& block : blocks) {
    for (std::size_t k = 0; k < block.size(); ++k) {
      pad(lines[k], left);
      append(lines[k], block[k]);
    }
    left += width_of(block) + 1;
  }
  return lines;
}

std::string to_text(const Line& line, bool colour) {
  std::string text;
  for (const Span& span : line) {
    const std::string_view escape = colour ? escape_of(span.tone) : std::string_view();
    text += escape;
    text += span.text;
    text += escape.empty() ? "" : "\x1b[0m";
  }
  return text;
}

}  // namespace opdrift::shell
