#pragma once

#include <string>
#include <string_view>

/// Texts as Python prints them.
///
///   float  = shortest digits that read back to the same double, "1e-05" below 1e-4 and "1e+16"
///            from 1e16 on, always with ".0" when whole; "nan", "inf", "-inf"
///   string = in single quotes, or in double ones when it holds single but no double quotes;
///            \\ \n \r \t and \xNN for other control characters
namespace opdrift::io {

std::string python_float(double value);

/// Appends python_float(value); no allocation when `out` has room.
void append_python_float(double value, std::string& out);

/// repr() of a text. Printable UTF-8 stays as it is.
std::string python_repr(std::string_view text);

}  // namespace opdrift::io
