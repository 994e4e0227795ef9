#include "opdrift/report/csv_text.hpp"

#include <algorithm>
#include <array>

#include "opdrift/base/text.hpp"

namespace opdrift::report {

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

bool is_formula(std::string_view text) {
  constexpr std::array<std::string_view, 10> kStarts = {"=",  "+",  "-",  "@",  "\t",
                                                        "\r", "＝", "＋", "－", "＠"};
  const bool starts = std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) {
    return text.substr(0, start.size()) == start;
  });
  return starts && text != "-" && !parse_double(text);
}

std::string csv_text(std::string_view text) {
  return csv_quoted(is_formula(text) ? "'" + std::string(text) : std::string(text));
}

}  // namespace opdrift::report
