#include "opdrift/diagnose/check_op/check_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"
#include "opdrift/diagnose/check_op/check_row.hpp"
#include "opdrift/report/text_table.hpp"

namespace opdrift::diagnose {

namespace {

using report::Tone;
using verdict::TensorResult;

constexpr std::size_t kMargin = 8;  // columns before the text of lines below the table
constexpr std::size_t kNamesInLine = 4;

std::string number(double value, const char* format) {
  if (std::isnan(value)) {
    return "-";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Tone tone_of(Blame blame) {
  switch (blame) {
    case Blame::own: return Tone::bad;
    case Blame::inherited: return Tone::odd;
    case Blame::none: return Tone::good;
    case Blame::unknown: return Tone::faint;
  }
  return Tone::plain;
}

/// Operators and outputs, those to blame first, in the model's order within.
std::vector<std::pair<const CheckedOperator*, const CheckedOutput*>> worst_first(
    const CheckOpResult& result) {
  std::vector<std::pair<const CheckedOperator*, const CheckedOutput*>> rows;
  for (const Blame blame : {Blame::own, Blame::inherited, Blame::none}) {
    for (const CheckedOperator& op : result.operators) {
      for (const CheckedOutput& output : op.outputs) {
        if (output.blame == blame) {
          rows.emplace_back(&op, &output);
        }
      }
    }
  }
  return rows;
}

report::Cell cell(std::string text) {
  return {text.empty() ? "-" : std::move(text), Tone::plain};
}

std::string table_of(const CheckOpResult& result, const CheckStyle& style) {
  const auto rows = worst_first(result);
  const bool entire = !result.golden.empty();
  report::TextTable table;
  table.columns = {
      {"Order", true, 0}, {"Operator", false, 12}, {"Type", false, 8}, {"Out", true, 0}};
  if (entire) {
    table.columns.insert(table.columns.end(),
                         {{"entire: cos", true, 0}, {"rel. L2", true, 0}, {"verdict", false, 0}});
  }
  table.columns.insert(
      table.columns.end(),
      {{"single: cos", true, 0}, {"rel. L2", true, 0}, {"verdict", false, 0}, {"Blame", false, 0}});
  for (const auto& [op, output] : rows) {
    if (table.rows.size() == style.rows) {
      break;
    }
    std::vector<report::Cell> cells = {cell(std::to_string(op->order)), cell(printable(op->name)),
                                       cell(printable(op->type)),
                                       cell(std::to_string(output->index))};
    for (const Row* row : {&output->entire, &output->single}) {
      if (row == &output->single || entire) {
        cells.push_back(cell(number(cosine_of(*row), "%.6f")));
        cells.push_back(cell(number(relative_l2_of(*row), "%.2e")));
        cells.push_back(cell(verdict_of(*row)));
      }
    }
    cells.push_back({std::string(to_string(output->blame)), tone_of(output->blame)});
    table.rows.push_back(std::move(cells));
  }
  if (table.rows.empty()) {
    return "";
  }
  std::string text = "\n" + table.render(style.columns, style.colour);
  if (rows.size() > table.rows.size()) {
    text += "… and " + std::to_string(rows.size() - table.rows.size()) + " more, better ones\n";
  }
  return text;
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string headline(const CheckOpResult& result, const CheckStyle& style) {
  const std::size_t own = result.count(Blame::own);
  const std::size_t checked = result.checked();
  std::string text;
  if (result.interrupted) {
    text += report::painted("INTERRUPTED", Tone::odd, style.colour) + "  partial result\n";
  }
  if (checked == 0) {
    return text + report::painted("NOTHING CHECKED", Tone::bad, style.colour) +
           "  no operator could be run alone\n";
  }
  if (own == 0) {
    text += report::painted("PASS", Tone::good, style.colour) + "  " +
            (checked == 1 ? "the operator that was run is"
                          : "all " + std::to_string(checked) + " operators that were run are") +
            " good alone\n";
  } else {
    text += report::painted("FAIL", Tone::bad, style.colour) + "  " +
            counted(own, "operator", "operators") + " of " + std::to_string(checked) +
            (own == 1 ? " is" : " are") + " bad alone, on the target's own inputs\n";
  }
  if (const std::size_t inherited = result.count(Blame::inherited); inherited > 0) {
    text += counted(inherited, "operator is", "operators are") +
            " bad only because of what they were given\n";
  }
  return text;
}

/// Why each operator is to blame, at most as many as the table has rows.
std::string reasons_of(const CheckOpResult& result, const CheckStyle& style) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [op, output] : worst_first(result)) {
    if (output->blame != Blame::own || shown++ == style.rows) {
      break;
    }
    const TensorResult& row = *output->single;
    text += "Culprit: " + report::painted(printable(op->name), Tone::strong, style.colour) + " (" +
            printable(op->type) + "), output " + std::to_string(output->index) + "\n";
    const auto line = [&](const std::string& sentence) {
      if (!sentence.empty()) {
        text += std::string(kMargin + 1, ' ') +
                wrapped(printable(sentence), style.columns, kMargin + 1) + "\n";
      }
    };
    line(row.reason);
    line(row.explanations.empty() ? "" : row.explanations.front().sentence);
    line(row.place ? row.place->sentence : "");
    if (!op->merged.empty()) {
      line("run together with what the target merged into it: " + join(op->merged, ", "));
    }
  }
  return text;
}

std::string line_of(const std::string& word, const std::string& text, const CheckStyle& style) {
  std::string start = word;
  start.resize(kMargin, ' ');
  return start + wrapped(printable(text), style.columns, kMargin) + "\n";
}

/// Operators that were not run, by reason.
std::string unchecked_of(const CheckOpResult& result, const CheckStyle& style) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const CheckedOperator& op : result.operators) {
    if (!op.reason.empty()) {
      by_reason[op.reason].push_back(op.name);
    }
  }
  std::string text;
  std::size_t lines = 0;
  for (const auto& [reason, names] : by_reason) {
    if (lines++ == style.rows) {
      text += line_of("not run",
                      "… and for " + std::to_string(by_reason.size() - style.rows) +
                          " other reasons (check_op.json has all)",
                      style);
      break;
    }
    std::vector<std::string> some(
        names.begin(),
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamesInLine)));
    if (names.size() > kNamesInLine) {
      some.push_back("…");
    }
    text += line_of("not run",
                    std::to_string(names.size()) + " (" + join(some, ", ") + "): " + reason, style);
  }
  return text;
}

}  // namespace

std::string render_check_terminal(const CheckOpResult& result, const CheckStyle& style) {
  std::string text = headline(result, style);
  for (const verdict::Finding& finding : result.findings) {
    text += line_of("finding", finding.sentence, style);
  }
  text += reasons_of(result, style) + table_of(result, style) + "\n" + unchecked_of(result, style);
  if (!result.rule.empty()) {
    text += line_of("rule", result.rule, style);
  }
  text += line_of("run",
                  std::to_string(result.checked()) + " operators in " +
                      counted(result.sessions, "session", "sessions") + " of ONNX Runtime " +
                      result.library_version,
                  style);
  for (const std::string& note : result.notes) {
    text += line_of("note", note, style);
  }
  return text;
}

}  // namespace opdrift::diagnose
