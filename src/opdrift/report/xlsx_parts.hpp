#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/report/cell_block.hpp"

/// The XML of a workbook (ECMA-376 part 1), the least that spreadsheets and libraries accept:
///
///   [Content_Types].xml  _rels/.rels  xl/workbook.xml  xl/_rels/workbook.xml.rels  xl/styles.xml
///   xl/worksheets/sheet<N>.xml = head, rows, tail       N from 1, in the order of the names
///
/// Texts stand inside their cells, so a sheet can be written from front to back, and its rows by
/// several threads. Numbers that are not finite are texts ("inf", "nan").
namespace opdrift::report {

/// Most rows a sheet can hold.
inline constexpr std::uint64_t kMaxSheetRows = 1'048'576;

/// All parts but the sheets: name and content.
std::vector<std::pair<std::string, std::string>> workbook_parts(
    std::span<const std::string> sheet_names);

std::string sheet_part_name(std::size_t index);
std::string_view sheet_head();
std::string_view sheet_tail();

/// "A", "B" ... "Z", "AA" ...
std::string sheet_column(std::size_t column);

/// Appends the rest of a cell that holds a text, behind its place and style.
void append_sheet_text(std::string_view text, std::string& out);

/// Appends rows of a sheet; `first_row` is the number of the first one, counted from 1.
void append_sheet_header(std::span<const std::string> columns, std::string& out);
void append_sheet_rows(const CellBlock& block, std::uint64_t first_row, std::string& out);

}  // namespace opdrift::report
