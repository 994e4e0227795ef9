#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"

/// The first sheet of a workbook (grammar in report/xlsx_parts.hpp), row by row. Texts may stand in
/// the cells or in xl/sharedStrings.xml; formats, formulas and everything else are passed over.
namespace opdrift::io {

struct XlsxCell {
  enum class Kind : std::uint8_t { blank, text, number, boolean };
  Kind kind = Kind::blank;
  std::string text;  ///< content; of numbers and booleans ("1") as stored
};

using XlsxRow = std::vector<XlsxCell>;

/// Receives rows from the top; an error ends the reading. Rows without cells are left out.
using XlsxRowSink = std::function<Status(const XlsxRow& row)>;

/// Fails with malformed (not a workbook, broken XML, more than 16,384 columns), limit, or with what
/// opening an archive or the sink fails with.
Status read_xlsx(const std::string& path, const XlsxRowSink& sink);

}  // namespace opdrift::io
