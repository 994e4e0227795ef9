#include "opdrift/report/cell_block.hpp"

#include <cmath>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/report/csv_text.hpp"

namespace opdrift::report {

void CellBlock::add(Kind kind, double number, std::string_view text) {
  Cell& cell = cells_.emplace_back();
  cell.kind = kind;
  cell.number = number;
  cell.offset = static_cast<std::uint32_t>(texts_.size());
  cell.size = static_cast<std::uint32_t>(text.size());
  texts_ += text;
}

void CellBlock::number(double value) {
  const std::size_t start = texts_.size();
  graph::append_python_float(value, texts_);
  Cell& cell = cells_.emplace_back();
  cell.kind = Kind::number;
  cell.number = value;
  cell.offset = static_cast<std::uint32_t>(start);
  cell.size = static_cast<std::uint32_t>(texts_.size() - start);
}

void CellBlock::colour(RowColour colour) {
  colours_.resize(cells_.size() / columns_ + 1, RowColour::none);
  colours_.back() = colour;
}

std::optional<std::string> CellBlock::malicious_text() const {
  for (const Cell& cell : cells_) {
    if (cell.kind == Kind::text && graph::is_malicious_cell(text_of(cell))) {
      return std::string(text_of(cell));
    }
  }
  return std::nullopt;
}

void append_csv(const CellBlock& block, std::string& out) {
  for (std::size_t i = 0; i < block.rows(); ++i) {
    bool first = true;
    for (const CellBlock::Cell& cell : block.row(i)) {
      if (!first) {
        out += ',';
      }
      first = false;
      const std::string_view text = block.text_of(cell);
      if (cell.kind == CellBlock::Kind::number && std::isinf(cell.number)) {
        out += ' ';
      }
      if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
      } else {
        out += csv_quoted(text);
      }
    }
    out += '\n';
  }
}

void append_csv_header(std::span<const std::string> columns, std::string& out) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out += i > 0 ? "," : "";
    out += csv_quoted(columns[i]);
  }
  out += '\n';
}

}  // namespace opdrift::report
