#include "opdrift/report/xlsx_sheet.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "opdrift/report/xlsx_parts.hpp"

namespace opdrift::report {

namespace {

struct Style {
  Look look;
  int format = 0;         ///< built-in number format: 1 "0", 2 "0.00", 11 "0.00E+00"
  int font = 0;           ///< 0 plain, 1 bold, 2 large and bold
  const char* fill = "";  ///< colour of the background
};

/// In the order of Look.
constexpr std::array<Style, 12> kStyles = {{
    {Look::plain},
    {Look::header, 0, 1, "FFE7EAF0"},
    {Look::title, 0, 2},
    {Look::scientific, 11},
    {Look::ratio, 2},
    {Look::whole, 1},
    {Look::bad, 0, 1, "FFF6B8B5"},
    {Look::odd, 0, 0, "FFFAD7B0"},
    {Look::drift, 0, 0, "FFE0CFFF"},
    {Look::watch, 0, 0, "FFFFF0B3"},
    {Look::good, 0, 0, "FFC9EBD5"},
    {Look::faint, 0, 0, "FFEDEFF2"},
}};

constexpr std::size_t kOwnFills = 2;  // every workbook begins with "none" and "gray125"

std::string fills() {
  std::string xml =
      "<fill><patternFill patternType=\"none\"/></fill>"
      "<fill><patternFill patternType=\"gray125\"/></fill>";
  std::size_t count = kOwnFills;
  for (const Style& style : kStyles) {
    if (*style.fill != '\0') {
      xml += "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"" + std::string(style.fill) +
             "\"/></patternFill></fill>";
      ++count;
    }
  }
  return "<fills count=\"" + std::to_string(count) + "\">" + xml + "</fills>";
}

std::string cell_formats() {
  std::string xml;
  std::size_t next_fill = kOwnFills;
  for (const Style& style : kStyles) {
    const std::size_t fill = *style.fill == '\0' ? 0 : next_fill++;
    xml += "<xf numFmtId=\"" + std::to_string(style.format) + "\" fontId=\"" +
           std::to_string(style.font) + "\" fillId=\"" + std::to_string(fill) +
           "\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\" applyFont=\"1\" "
           "applyFill=\"1\"/>";
  }
  return "<cellXfs count=\"" + std::to_string(kStyles.size()) + "\">" + xml + "</cellXfs>";
}

}  // namespace

std::string sheet_styles() {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
         "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
         "<fonts count=\"3\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
         "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font>"
         "<font><b/><sz val=\"14\"/><name val=\"Calibri\"/></font></fonts>" +
         fills() +
         "<borders count=\"1\"><border/></borders><cellStyleXfs count=\"1\">"
         "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>" +
         cell_formats() +
         "<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" "
         "builtinId=\"0\"/></cellStyles>"
         "</styleSheet>";
}

SheetWriter::SheetWriter(const std::vector<double>& widths, bool table)
    : columns_(widths.size()), table_(table) {
  out_ =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
      "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
      "<sheetViews><sheetView workbookViewId=\"0\">";
  out_ += table ? "<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" "
                  "state=\"frozen\"/>"
                : "";
  out_ += "</sheetView></sheetViews><cols>";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    out_ += "<col min=\"" + number + "\" max=\"" + number + "\" width=\"" +
            std::to_string(widths[i]) + "\" customWidth=\"1\"/>";
  }
  out_ += "</cols><sheetData>";
}

void SheetWriter::begin_row() {
  ++row_;
  column_ = 0;
  out_ += "<row r=\"" + std::to_string(row_) + "\">";
}

void SheetWriter::end_row() {
  out_ += "</row>";
}

void SheetWriter::begin_cell(Look look) {
  out_ += "<c r=\"" + sheet_column(column_++) + std::to_string(row_) + "\"";
  if (look != Look::plain) {
    out_ += " s=\"" + std::to_string(static_cast<int>(look)) + "\"";
  }
}

void SheetWriter::text(std::string_view text, Look look) {
  if (text.empty() && look == Look::plain) {
    blank();
    return;
  }
  begin_cell(look);
  append_sheet_text(text, out_);
}

void SheetWriter::number(double value, Look look) {
  if (std::isnan(value)) {
    blank();
    return;
  }
  if (std::isinf(value)) {
    text(value > 0 ? "inf" : "-inf");
    return;
  }
  begin_cell(look);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_ += "><v>";
  out_.append(digits.data(), end);
  out_ += "</v></c>";
}

std::string SheetWriter::take() {
  std::string text = std::move(out_);
  out_.clear();
  return text;
}

std::string SheetWriter::finish() {
  out_ += "</sheetData>";
  if (table_ && row_ > 0 && columns_ > 0) {
    out_ += "<autoFilter ref=\"A1:" + sheet_column(columns_ - 1) + std::to_string(row_) + "\"/>";
  }
  out_ += "</worksheet>";
  return take();
}

}  // namespace opdrift::report
