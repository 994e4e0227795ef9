#include "unit/compat/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/msprobe/xlsx_reader.hpp"

namespace opdrift::testing {

namespace {

struct Number {
  double value = 0.0;
  bool percent = false;
};

std::optional<Number> number_of(std::string text) {
  Number number;
  if (!text.empty() && text.back() == '%') {
    number.percent = true;
    text.pop_back();
  }
  const auto value = graph::python_number(text);
  if (!value) {
    return std::nullopt;
  }
  number.value = *value;
  return number;
}

using Row = std::map<std::string, std::string>;

double magnitude(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  const auto number = found == row.end() ? std::nullopt : number_of(found->second);
  return number && std::isfinite(number->value) ? std::abs(number->value) : 0.0;
}

/// "Max diff" is measured against the larger of "NPU max" and "Bench max".
double scale_of_difference(const std::string& column, const Row& row) {
  static const std::map<std::string, std::string> kStatistic = {
      {"Max diff", "max"}, {"Min diff", "min"}, {"Mean diff", "mean"}, {"L2norm diff", "l2norm"}};
  const auto found = kStatistic.find(column);
  return found == kStatistic.end() ? 0.0
                                   : std::max(magnitude(row, "NPU " + found->second),
                                              magnitude(row, "Bench " + found->second));
}

double allowed(const std::string& column, const Number& expected, Tolerance tolerance,
               const Row& row) {
  const double size = std::abs(expected.value);
  if (tolerance == Tolerance::torchair) {
    if (column == "cosine_similarity") {
      return 2e-9;
    }
    return column == "kl_divergence" ? 2e-6 + 1e-4 * size : 2e-6 * size;
  }
  if (expected.percent) {
    return 1e-9 * std::max(1.0, 1e-3 * size);
  }
  if (column.ends_with(" diff")) {
    return std::max(1e-12 * scale_of_difference(column, row), 1e-9 * size);
  }
  return column == "MaxRelativeErr" ? 1e-6 * size : 1e-9 * size;
}

/// Lists are compared without their blanks.
std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

bool same_truth(const std::string& a, const std::string& b) {
  return (a == "True" && b == "1") || (a == "1" && b == "True") || (a == "False" && b == "0") ||
         (a == "0" && b == "False");
}

bool cells_agree(const std::string& column, const std::string& found, const std::string& expected,
                 Tolerance tolerance, const Row& row) {
  if (found == expected || same_truth(found, expected)) {
    return true;
  }
  if (found.starts_with('[') && expected.starts_with('[')) {
    return without_blanks(found) == without_blanks(expected);
  }
  const auto x = number_of(found);
  const auto y = number_of(expected);
  if (!x || !y) {
    return false;
  }
  if (x->value == y->value || (std::isnan(x->value) && std::isnan(y->value))) {
    return true;
  }
  return x->percent == y->percent &&
         std::abs(x->value - y->value) <= allowed(column, *y, tolerance, row);
}

}  // namespace

TextTable parse_csv(const std::string& text) {
  TextTable table;
  std::vector<std::string> row;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      row.push_back(std::move(cell));
      cell.clear();
      if (c == '\n') {
        table.push_back(std::move(row));
        row.clear();
      }
    } else if (c != '\r') {
      cell += c;
    }
  }
  return table;
}

TextTable read_sheet(const std::string& path) {
  TextTable table;
  const Status status = io::read_xlsx(path, [&](const io::XlsxRow& row) -> Status {
    std::vector<std::string> texts;
    for (const io::XlsxCell& cell : row) {
      texts.push_back(cell.text);
    }
    table.push_back(std::move(texts));
    return Unit{};
  });
  return status ? table : TextTable{};
}

std::vector<std::string> table_differences(const TextTable& found, const TextTable& expected,
                                           Tolerance tolerance,
                                           const std::vector<std::string>& skip) {
  if (found.empty() || expected.empty()) {
    return found.size() == expected.size() ? std::vector<std::string>{}
                                           : std::vector<std::string>{"one table is empty"};
  }
  std::vector<std::string> differences;
  const std::vector<std::string>& columns = expected.front();
  if (!std::equal(columns.begin(), columns.end(), found.front().begin(),
                  found.front().begin() + static_cast<std::ptrdiff_t>(
                                              std::min(columns.size(), found.front().size())))) {
    differences.emplace_back("the columns differ");
    return differences;
  }
  if (found.size() != expected.size()) {
    differences.push_back("expected " + std::to_string(expected.size()) + " rows, found " +
                          std::to_string(found.size()));
  }
  for (std::size_t i = 1; i < std::min(found.size(), expected.size()); ++i) {
    Row row;
    for (std::size_t k = 0; k < std::min(columns.size(), expected[i].size()); ++k) {
      row[columns[k]] = expected[i][k];
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (std::find(skip.begin(), skip.end(), columns[k]) != skip.end()) {
        continue;
      }
      const std::string want = k < expected[i].size() ? expected[i][k] : "";
      const std::string have = k < found[i].size() ? found[i][k] : "";
      if (!cells_agree(columns[k], have, want, tolerance, row)) {
        differences.push_back("row " + std::to_string(i) + " (" + expected[i].front() + "), " +
                              columns[k] + ": expected '" + want + "', found '" + have + "'");
      }
    }
  }
  return differences;
}

}  // namespace opdrift::testing
