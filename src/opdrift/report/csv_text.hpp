#pragma once

#include <string>
#include <string_view>

namespace opdrift::report {

/// A CSV cell: quoted when it holds a comma, a quote or a line end (RFC 4180).
std::string csv_quoted(std::string_view text);

/// True for text that a spreadsheet would run: it begins with = + - @ (or their full-width forms),
/// a tab or a carriage return, and is not a number.
bool is_formula(std::string_view text);

/// Quoted, and with a leading apostrophe where `is_formula`.
std::string csv_text(std::string_view text);

}  // namespace opdrift::report
