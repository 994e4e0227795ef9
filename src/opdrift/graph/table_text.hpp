#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Texts as they stand in result tables: numbers and texts as Python prints them.
///
///   float  = shortest digits that read back to the same double, "1e-05" below 1e-4 and "1e+16"
///            from 1e16 on, always with ".0" when whole; "nan", "inf", "-inf"
///   string = in single quotes, or in double ones when it holds single but no double quotes;
///            \\ \n \r \t and \xNN for other control characters
namespace opdrift::graph {

std::string python_float(double value);

/// Appends python_float(value); no allocation when `out` has room.
void append_python_float(double value, std::string& out);

/// repr() of a text. Printable UTF-8 stays as it is.
std::string python_repr(std::string_view text);

/// True for text that must not reach a spreadsheet: it begins with + - = % @ (or a full-width form
/// of them), or one of those stands behind a semicolon.
bool is_unsafe_text(std::string_view text);

/// True for unsafe text that is not a list of numbers: of the parts between semicolons, the first
/// unsafe one or one before it is not a number. Such a cell must not be written.
bool is_malicious_cell(std::string_view text);

/// The number Python's float() makes of a text: blanks around it, "inf", "nan" and "infinity" in
/// any case are fine.
std::optional<double> python_number(std::string_view text);

/// Appends a JSON string with its quotes. Control characters become \\uXXXX, the rest stays UTF-8.
void append_json_text(std::string_view text, std::string& out);

}  // namespace opdrift::graph
