#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opdrift::report {

/// How a row is filled in a workbook.
enum class RowColour : std::uint8_t { none, red, yellow, green };

/// Rows of a table with typed cells, filled from left to right. All texts share one buffer, so that
/// a block of thousands of rows costs a handful of allocations. One thread at a time.
class CellBlock {
 public:
  enum class Kind : std::uint8_t { blank, text, number, boolean };
  struct Cell {
    double number = 0.0;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    Kind kind = Kind::blank;
  };

  explicit CellBlock(std::size_t columns) : columns_(columns) {}

  void blank() { cells_.emplace_back(); }
  void text(std::string_view text) { add(Kind::text, 0.0, text); }
  /// `shown` is the number as a csv file shows it.
  void number(double value, std::string_view shown) { add(Kind::number, value, shown); }
  /// Shown as Python shows a float.
  void number(double value);
  void boolean(bool value) { add(Kind::boolean, value ? 1.0 : 0.0, value ? "True" : "False"); }
  /// The colour of the row that the next cell begins.
  void colour(RowColour colour);

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return cells_.size() / columns_; }
  std::span<const Cell> row(std::size_t index) const {
    return std::span<const Cell>(cells_).subspan(index * columns_, columns_);
  }
  RowColour colour_of(std::size_t row) const {
    return row < colours_.size() ? colours_[row] : RowColour::none;
  }
  std::string_view text_of(const Cell& cell) const {
    return std::string_view(texts_).substr(cell.offset, cell.size);
  }

  /// The first text a spreadsheet could run (graph/table_text.hpp), if there is one.
  std::optional<std::string> malicious_text() const;

 private:
  void add(Kind kind, double number, std::string_view text);

  std::size_t columns_;
  std::vector<Cell> cells_;
  std::vector<RowColour> colours_;
  std::string texts_;
};

/// Appends the rows as csv: comma, LF, quotes where needed. An infinite number is written with a
/// blank in front, as the reference does, so that no spreadsheet takes "-inf" for a formula.
void append_csv(const CellBlock& block, std::string& out);

/// A header line.
void append_csv_header(std::span<const std::string> columns, std::string& out);

}  // namespace opdrift::report
