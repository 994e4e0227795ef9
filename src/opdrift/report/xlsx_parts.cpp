#include "opdrift/report/xlsx_parts.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "opdrift/base/text.hpp"

namespace opdrift::report {

namespace {

constexpr std::string_view kXml = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
constexpr std::size_t kMaxCellCharacters = 32767;
constexpr int kHeaderStyle = 1;

/// 0 plain, 1 bold header, 2 red, 3 yellow, 4 green; solid fills.
constexpr std::string_view kStyles =
    "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
    "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
    "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
    "<fills count=\"5\"><fill><patternFill patternType=\"none\"/></fill>"
    "<fill><patternFill patternType=\"gray125\"/></fill>"
    "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFFF0000\"/></patternFill></fill>"
    "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFFFFF00\"/></patternFill></fill>"
    "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFC6EFCE\"/></patternFill></fill>"
    "</fills><borders count=\"1\"><border/></borders>"
    "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/>"
    "</cellStyleXfs><cellXfs count=\"5\">"
    "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>"
    "<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/>"
    "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"2\" borderId=\"0\" xfId=\"0\" applyFill=\"1\"/>"
    "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"3\" borderId=\"0\" xfId=\"0\" applyFill=\"1\"/>"
    "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"4\" borderId=\"0\" xfId=\"0\" applyFill=\"1\"/>"
    "</cellXfs></styleSheet>";

void append_number(std::uint64_t value, std::string& out) {
  std::array<char, 24> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), result.ptr);
}

std::vector<std::string> all_letters(std::size_t columns) {
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < columns; ++i) {
    letters.push_back(sheet_column(i));
  }
  return letters;
}

void append_markup_safe(char c, std::string& out) {
  switch (c) {
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '&': out += "&amp;"; break;
    case '"': out += "&quot;"; break;
    default: out += c;
  }
}

bool is_plain(std::string_view text) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code >= 0x80 || c == '<' || c == '>' || c == '&' || c == '"') {
      return false;
    }
  }
  return text.find("_x") == std::string_view::npos;
}

/// Whether `text` begins as a workbook writes a character that XML cannot hold: _xHHHH_
bool begins_as_escape(std::string_view text) {
  constexpr std::size_t kLength = 7;
  return text.size() >= kLength && text.substr(0, 2) == "_x" && text[kLength - 1] == '_' &&
         text.substr(2, 4).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

/// U+FFFE and U+FFFF, which are no characters of XML either.
bool begins_as_noncharacter(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBF\xBE" || text.substr(0, 3) == "\xEF\xBF\xBF";
}

void append_code(unsigned code, std::string& out) {
  std::array<char, 12> escaped{};
  std::snprintf(escaped.data(), escaped.size(), "_x%04X_", code);
  out += escaped.data();
}

/// XML cannot hold control characters; workbooks write them as _xHHHH_, and so the "_" of a text
/// that looks like that.
void append_escaped(std::string_view text, std::string& out) {
  if (is_plain(text)) {
    out += text;
    return;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto code = static_cast<unsigned char>(c);
    if (c == '_' && begins_as_escape(text.substr(at))) {
      append_code('_', out);
    } else if (code == 0xEF && begins_as_noncharacter(text.substr(at))) {
      out += "\xEF\xBF\xBD";
      at += 2;
    } else if (code < 0x20 && c != '\n' && c != '\t') {
      append_code(code, out);
    } else {
      append_markup_safe(c, out);
    }
  }
}

/// Cut to what a cell may hold, never inside a UTF-8 character.
std::string_view fit_cell(std::string_view text) {
  if (text.size() <= kMaxCellCharacters) {
    return text;
  }
  std::size_t end = kMaxCellCharacters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end);
}

void append_cell(const CellBlock& block, const CellBlock::Cell& cell, std::string& out) {
  switch (cell.kind) {
    case CellBlock::Kind::blank: out += "/>"; return;
    case CellBlock::Kind::boolean:
      out += cell.number != 0.0 ? " t=\"b\"><v>1</v></c>" : " t=\"b\"><v>0</v></c>";
      return;
    case CellBlock::Kind::number:
      if (std::isfinite(cell.number)) {
        out += "><v>";
        out += block.text_of(cell);
        out += "</v></c>";
        return;
      }
      break;
    case CellBlock::Kind::text: break;
  }
  append_sheet_text(block.text_of(cell), out);
}

int style_of(RowColour colour) {
  switch (colour) {
    case RowColour::none: return 0;
    case RowColour::red: return 2;
    case RowColour::yellow: return 3;
    case RowColour::green: return 4;
  }
  return 0;
}

void append_cell_start(const std::string& letters, std::string_view row, int style,
                       std::string& out) {
  out += "<c r=\"";
  out += letters;
  out += row;
  out += '"';
  if (style != 0) {
    out += " s=\"";
    out += static_cast<char>('0' + style);
    out += '"';
  }
}

std::string content_types(std::size_t sheets) {
  std::string xml(kXml);
  xml +=
      "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
      "<Default Extension=\"rels\" "
      "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
      "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
      "<Override PartName=\"/xl/workbook.xml\" ContentType=\"application/"
      "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>"
      "<Override PartName=\"/xl/styles.xml\" ContentType=\"application/"
      "vnd.openxmlformats-officedocument.spreadsheetml.styles+xml\"/>";
  for (std::size_t i = 0; i < sheets; ++i) {
    xml += "<Override PartName=\"/" + sheet_part_name(i) +
           "\" ContentType=\"application/"
           "vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>";
  }
  return xml + "</Types>";
}

std::string workbook(std::span<const std::string> names) {
  std::string xml(kXml);
  xml +=
      "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" "
      "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>";
  for (std::size_t i = 0; i < names.size(); ++i) {
    xml += "<sheet name=\"";
    append_escaped(names[i], xml);
    const std::string number = std::to_string(i + 1);
    xml += "\" sheetId=\"" + number + "\" r:id=\"rId" + number + "\"/>";
  }
  return xml + "</sheets></workbook>";
}

std::string relationships(std::size_t sheets) {
  const std::string type = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
  std::string xml(kXml);
  xml += "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";
  for (std::size_t i = 0; i < sheets; ++i) {
    const std::string number = std::to_string(i + 1);
    xml += "<Relationship Id=\"rId" + number + "\" Type=\"" + type +
           "worksheet\" Target=\"worksheets/sheet" + number + ".xml\"/>";
  }
  xml += "<Relationship Id=\"rId" + std::to_string(sheets + 1) + "\" Type=\"" + type +
         "styles\" Target=\"styles.xml\"/>";
  return xml + "</Relationships>";
}

}  // namespace

std::string sheet_column(std::size_t column) {
  std::string letters;
  for (std::size_t rest = column + 1; rest > 0; rest = (rest - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
  }
  return letters;
}

void append_sheet_text(std::string_view text, std::string& out) {
  if (!is_utf8(text)) {
    append_sheet_text(without_bad_utf8(text), out);
    return;
  }
  text = fit_cell(text);
  const bool keep_blanks = !text.empty() && (text.front() == ' ' || text.back() == ' ' ||
                                             text.find('\n') != std::string_view::npos);
  out +=
      keep_blanks ? " t=\"inlineStr\"><is><t xml:space=\"preserve\">" : " t=\"inlineStr\"><is><t>";
  append_escaped(text, out);
  out += "</t></is></c>";
}

std::vector<std::pair<std::string, std::string>> workbook_parts(
    std::span<const std::string> sheet_names) {
  const std::string root =
      std::string(kXml) +
      "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
      "<Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/"
      "relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>";
  return {{"[Content_Types].xml", content_types(sheet_names.size())},
          {"_rels/.rels", root},
          {"xl/workbook.xml", workbook(sheet_names)},
          {"xl/_rels/workbook.xml.rels", relationships(sheet_names.size())},
          {"xl/styles.xml", std::string(kXml) + std::string(kStyles)}};
}

std::string sheet_part_name(std::size_t index) {
  return "xl/worksheets/sheet" + std::to_string(index + 1) + ".xml";
}

std::string_view sheet_head() {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
         "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
         "<sheetData>";
}

std::string_view sheet_tail() {
  return "</sheetData></worksheet>";
}

void append_sheet_header(std::span<const std::string> columns, std::string& out) {
  const std::vector<std::string> letters = all_letters(columns.size());
  out += "<row r=\"1\">";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    append_cell_start(letters[i], "1", kHeaderStyle, out);
    append_sheet_text(columns[i], out);
  }
  out += "</row>";
}

void append_sheet_rows(const CellBlock& block, std::uint64_t first_row, std::string& out) {
  const std::vector<std::string> letters = all_letters(block.columns());
  std::string number;
  for (std::size_t i = 0; i < block.rows(); ++i) {
    number.clear();
    append_number(first_row + i, number);
    out += "<row r=\"";
    out += number;
    out += "\">";
    const int style = style_of(block.colour_of(i));
    const auto cells = block.row(i);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (cells[k].kind == CellBlock::Kind::blank && style == 0) {
        continue;
      }
      append_cell_start(letters[k], number, style, out);
      append_cell(block, cells[k], out);
    }
    out += "</row>";
  }
}

}  // namespace opdrift::report
