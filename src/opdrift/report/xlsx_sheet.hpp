#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Sheets for people: a frozen header, filters, widths, number formats and colours.
///
///   sheet = head (pane, widths) row* tail (filter)     the first row is the header
///
/// Cells name their look; all looks are in `sheet_styles`, which takes the place of the styles of
/// report/xlsx_parts.hpp. Numbers that are not finite are texts.
namespace opdrift::report {

enum class Look : std::uint8_t {
  plain,
  header,
  title,
  scientific,  ///< 1.23E-04
  ratio,       ///< 0.00
  whole,
  bad,
  odd,
  drift,
  watch,
  good,
  faint,
};

/// xl/styles.xml
std::string sheet_styles();

class SheetWriter {
 public:
  /// `widths` in characters, one per column. `table`: the first row is frozen and filters.
  SheetWriter(const std::vector<double>& widths, bool table);

  void begin_row();
  void text(std::string_view text, Look look = Look::plain);
  void number(double value, Look look);
  void blank() { ++column_; }
  void end_row();

  std::uint64_t rows() const { return row_; }
  /// What was written so far, to be compressed; the sheet goes on behind it.
  std::string take();
  /// The end of the sheet.
  std::string finish();

 private:
  void begin_cell(Look look);

  std::string out_;
  std::uint64_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t columns_;
  bool table_;
};

}  // namespace opdrift::report
