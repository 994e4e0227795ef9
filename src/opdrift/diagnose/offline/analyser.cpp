#include "opdrift/diagnose/offline/analyser.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

constexpr std::size_t kMaxWidth = 30;
constexpr std::size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

bool fires(const Monitor& monitor, double value) {
  if (!std::isfinite(value)) {
    return false;
  }
  return monitor.small_is_bad ? 1 - value > 0.01 : value > monitor.limit;
}

bool passed_over(const ResultRows& rows, std::size_t row) {
  return rows.cell(row, "OpType") == "TransData" || trim(rows.cell(row, "GroundTruth")) == "*" ||
         rows.cell(row, "DataType") == "NaN";
}

Alarm alarm_of(const ResultRows& rows, std::size_t row, const Monitor& monitor) {
  return {std::string(monitor.column),  rows.number(row, monitor.column), row,
          rows.cell(row, "Index"),      rows.cell(row, "OpType"),         rows.cell(row, "NPUDump"),
          rows.cell(row, "GroundTruth")};
}

std::string shown(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

/// The longest start of UTF-8 text that needs at most `columns`.
std::string cut_to(const std::string& text, std::size_t columns) {
  std::string cut = text;
  while (display_width(cut) > columns) {
    do {
      cut.pop_back();
    } while (!cut.empty() && !is_utf8(cut) && is_utf8(text));
  }
  return cut;
}

std::string line_of(const Cells& cells, const std::array<std::size_t, kColumns>& widths) {
  std::string line = "|";
  for (std::size_t i = 0; i < kColumns; ++i) {
    std::string cell = printable(cells[i]);
    if (display_width(cell) >= widths[i]) {
      cell = cut_to(cell, widths[i] - 4) + "...";
    }
    line += std::string(widths[i] - display_width(cell), ' ') + cell + " |";
  }
  return line + "\n";
}

std::string rule_of(const std::array<std::size_t, kColumns>& widths) {
  std::string line = "|";
  for (const std::size_t width : widths) {
    line += " " + std::string(width - 1, '-') + ":|";
  }
  return line + "\n";
}

}  // namespace

std::optional<Strategy> strategy_by_name(std::string_view name) {
  if (name == "first") {
    return Strategy::first_overall;
  }
  if (name == "each") {
    return Strategy::first_each;
  }
  return name == "all" ? std::optional(Strategy::all) : std::nullopt;
}

std::vector<Alarm> analyse(const ResultTable& table, Strategy strategy) {
  const ResultRows rows(table);
  std::vector<Alarm> alarms;
  std::array<std::optional<Alarm>, kMonitors.size()> first;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < kMonitors.size() && !passed_over(rows, row); ++i) {
      if (!fires(kMonitors[i], rows.number(row, kMonitors[i].column))) {
        continue;
      }
      const Alarm alarm = alarm_of(rows, row, kMonitors[i]);
      if (strategy == Strategy::first_each) {
        first[i] = first[i].value_or(alarm);
      } else {
        alarms.push_back(alarm);
      }
    }
    if (strategy == Strategy::first_overall && !alarms.empty()) {
      break;
    }
  }
  for (const std::optional<Alarm>& alarm : first) {
    if (alarm) {
      alarms.push_back(*alarm);
    }
  }
  return alarms;
}

std::string alarm_text(const std::vector<Alarm>& alarms) {
  if (alarms.empty()) {
    return "None operator with accuracy issue reported\n";
  }
  std::vector<Cells> lines = {{"Monitor", "Value", "Index", "OpType", "NPUDump", "GroundTruth"}};
  for (const Alarm& alarm : alarms) {
    lines.push_back({alarm.monitor, shown(alarm.value), alarm.index, alarm.op_type, alarm.target,
                     alarm.golden});
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::min(kMaxWidth, std::max(widths[i], display_width(printable(cells[i])) + 1));
    }
  }
  std::string text =
      "Operators may lead to inaccuracy:\n" + line_of(lines.front(), widths) + rule_of(widths);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += line_of(lines[i], widths);
  }
  return text;
}

}  // namespace opdrift::diagnose
