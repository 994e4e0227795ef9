#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// Tables inside a page (docs/report.md), as short as JSON allows:
///
///   column = [cell, ...] | {"all": cell}       the latter where every row has the same
///   cell   = number of at most 5 digits | integer | null for NaN | "inf" | "-inf"
///
/// A text is a number too, its place in a list that holds every text once.
namespace opdrift::report {

/// Texts by number; number 0 is "".
class PageTexts {
 public:
  PageTexts() { number_of(""); }
  PageTexts(const PageTexts&) = delete;
  PageTexts& operator=(const PageTexts&) = delete;

  std::size_t number_of(std::string_view text);
  /// The texts that no earlier call gave, as JSON. Malformed UTF-8 is replaced.
  std::string take_json();

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> texts_;
  std::size_t taken_ = 0;
};

/// `text` as a JSON string. Malformed UTF-8 is replaced.
std::string json_text(std::string_view text);

void append_cell(double value, std::string& out);
void append_cell(std::uint64_t value, std::string& out);

/// Columns of one table, in JSON.
class PageColumns {
 public:
  explicit PageColumns(std::size_t rows) : rows_(rows) {}

  /// `cell(row, out)` appends the cell of a row to `out`.
  template <typename Cell>
  void add(std::string_view name, Cell&& cell) {
    begin(name);
    for (std::size_t row = 0; row < rows_; ++row) {
      cell(row, cells_);
      end_cell();
    }
    end();
  }

  /// {"name": column, ...} of the columns that no earlier call gave.
  std::string take_json() { return "{" + std::exchange(text_, {}) + "}"; }

 private:
  void begin(std::string_view name);
  void end_cell();
  void end();

  std::size_t rows_;
  std::string text_;
  std::string cells_;  ///< of the column being made, commas between them
  std::string first_;
  std::size_t cell_begin_ = 0;
  bool same_ = true;
};

}  // namespace opdrift::report
