#pragma once

#include <string>
#include <vector>

namespace opdrift::testing {

/// A table of texts, header first.
using TextTable = std::vector<std::vector<std::string>>;

/// Reads RFC 4180 text.
TextTable parse_csv(const std::string& text);

/// The first sheet of a workbook as texts; booleans as "1" and "0".
TextTable read_sheet(const std::string& path);

/// Within which distance numbers count as equal, by the rules of the recorded results.
enum class Tolerance { torchair, recorded_run };

/// Compares two tables cell by cell: words exactly, numbers within the tolerance of their column,
/// texts in brackets as lists. Columns of `skip` are not looked at. Returns what differs, one line
/// per cell.
std::vector<std::string> table_differences(const TextTable& found, const TextTable& expected,
                                           Tolerance tolerance,
                                           const std::vector<std::string>& skip = {});

}  // namespace opdrift::testing
