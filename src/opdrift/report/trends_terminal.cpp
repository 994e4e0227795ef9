#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "opdrift/base/text.hpp"
#include "opdrift/report/text_table.hpp"
#include "opdrift/report/trends_report.hpp"

namespace opdrift::report {

namespace {

using verdict::TrendCell;
using verdict::TrendLine;
using verdict::Trends;

constexpr std::size_t kMostBars = 40;

std::string short_number(double value) {
  if (std::isnan(value)) {
    return "-";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2e", value);
  return text.data();
}

/// Height of a bar: powers of ten from 1e-6 to 10 onto eight steps.
std::string bar(const std::optional<TrendCell>& cell) {
  static constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (!cell || std::isnan(cell->error)) {
    return "·";
  }
  if (!(cell->error > 0.0)) {
    return kBars.front();
  }
  const double height = std::clamp(std::log10(cell->error) + 6.0, 0.0, 7.0);
  return kBars[static_cast<std::size_t>(height)];
}

/// One bar per run; of many runs evenly chosen ones, the last included.
std::string bars(const TrendLine& line) {
  const std::size_t runs = line.cells.size();
  const std::size_t shown = std::min(runs, kMostBars);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += bar(line.cells[shown == 1 ? 0 : i * (runs - 1) / (shown - 1)]);
  }
  return text;
}

std::string headline(const Trends& trends, const std::vector<std::size_t>& order,
                     const TerminalStyle& style) {
  const std::string size = std::to_string(trends.lines.size()) + " outputs, " +
                           std::to_string(trends.runs.size()) + " runs";
  if (order.empty()) {
    return painted("STEADY", Tone::good, style.colour) + "  no operator drifts (" + size + ")\n";
  }
  const TrendLine& first = trends.lines[order.front()];
  return painted("DRIFT", Tone::bad, style.colour) + "  " + std::to_string(order.size()) +
         " outputs drift, first " + printable(first.operator_name) + " in " +
         printable(trends.runs[*first.begins]) + " (" + size + ")\n";
}

std::vector<Cell> cells_of(const Trends& trends, const TrendLine& line) {
  const TrendCell& begin = *line.cells[*line.begins];
  const Tone tone = begin.state == "culprit" || begin.state == "fail" ? Tone::bad : Tone::odd;
  return {{printable(trends.runs[*line.begins])},
          {printable(line.operator_name)},
          {printable(line.operator_type)},
          {std::string(begin.state), tone},
          {short_number(begin.error)},
          {short_number(line.growth)},
          {std::to_string(line.wrong_runs)},
          {bars(line)}};
}

}  // namespace

std::string render_trends_terminal(const Trends& trends, const TerminalStyle& style) {
  const std::vector<std::size_t> order = verdict::by_beginning(trends);
  std::string text = headline(trends, order, style);
  if (order.empty() || style.rows == 0) {
    return text;
  }
  TextTable table;
  table.columns = {
      {"Begins in", false, 10}, {"Operator", false, 12}, {"Type", false, 6}, {"Label"},
      {"Error", true},          {"Growth", true},        {"Runs", true},     {"Error by run"}};
  for (std::size_t i = 0; i < std::min(order.size(), style.rows); ++i) {
    table.rows.push_back(cells_of(trends, trends.lines[order[i]]));
  }
  text += "\n" + table.render(style.columns, style.colour);
  if (order.size() > style.rows) {
    text += "... " + std::to_string(order.size() - style.rows) + " more (--rows)\n";
  }
  return text;
}

}  // namespace opdrift::report
