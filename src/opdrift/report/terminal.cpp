#include "opdrift/report/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "opdrift/base/text.hpp"

namespace opdrift::report {

namespace {

enum class Tone : std::uint8_t { plain, good, bad, odd, faint, strong };

std::string painted(std::string_view text, Tone tone, bool colour) {
  if (!colour || tone == Tone::plain) {
    return std::string(text);
  }
  const char* code = "";
  switch (tone) {
    case Tone::good: code = "\x1b[32m"; break;
    case Tone::bad: code = "\x1b[31m"; break;
    case Tone::odd: code = "\x1b[33m"; break;
    case Tone::faint: code = "\x1b[2m"; break;
    case Tone::strong: code = "\x1b[1m"; break;
    case Tone::plain: break;
  }
  return code + std::string(text) + "\x1b[0m";
}

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string_view title;
  bool right = false;
  std::size_t smallest = 0;  ///< may be shortened down to this many columns; 0: never
};

constexpr std::array<Column, 8> kColumns = {{{"Order", true},
                                             {"Operator", false, 16},
                                             {"Type", false, 8},
                                             {"Tensor", false, 8},
                                             {"Rel. L2", true},
                                             {"1-cosine", true},
                                             {"Max abs", true},
                                             {"Verdict", false}}};

/// Judged runs show the operator's own error here, in budgets.
constexpr std::size_t kBudgetColumn = 5;

using Row = std::array<Cell, kColumns.size()>;

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value == 0.0 ? "%.0f" : "%.2e", value);
  return text.data();
}

Cell label_cell(verdict::Label label) {
  switch (label) {
    case verdict::Label::healthy: return {"healthy", Tone::good};
    case verdict::Label::watch: return {"watch", Tone::odd};
    case verdict::Label::victim: return {"victim", Tone::odd};
    case verdict::Label::drift: return {"drift", Tone::odd};
    case verdict::Label::culprit: return {"CULPRIT", Tone::bad};
    case verdict::Label::unjudged: return {"unjudged", Tone::faint};
  }
  return {};
}

Cell verdict_cell(const verdict::TensorResult& tensor) {
  if (!tensor.measurement) {
    return {"no fit", Tone::odd};
  }
  if (tensor.judgement) {
    return label_cell(tensor.judgement->label);
  }
  if (tensor.measurement->class_mismatches > 0) {
    return {"NaN/Inf", Tone::bad};
  }
  if (tensor.statistics_only) {  // weaker evidence: nothing says that the elements agree
    return tensor.passed ? Cell{"pass (stat)", Tone::plain} : Cell{"FAIL (stat)", Tone::bad};
  }
  return tensor.passed ? Cell{"pass", Tone::good} : Cell{"FAIL", Tone::bad};
}

/// How many times its budget the operator's own error is, by norm or by its worst element.
Cell budget_cell(const verdict::Judgement& judgement) {
  if (judgement.label == verdict::Label::unjudged ||
      (std::isnan(judgement.q_own) && std::isnan(judgement.z))) {
    return {"-", Tone::faint};
  }
  std::array<char, 32> text{};
  const double ratio = std::fmax(judgement.q_own, judgement.z);
  std::snprintf(text.data(), text.size(), ratio < 1000.0 ? "%.2f" : "%.1e", ratio);
  return {text.data()};
}

Cell known_number(double value) {
  return std::isnan(value) ? Cell{"-", Tone::faint} : Cell{short_number(value)};
}

Row row_of(const verdict::TensorResult& tensor) {
  Row row;
  row[0] = {std::to_string(tensor.order)};
  row[1] = {printable(tensor.operator_name)};
  row[2] = {printable(tensor.operator_type)};
  row[3] = {tensor.role + " " + std::to_string(tensor.index)};
  if (tensor.measurement) {
    row[4] = known_number(tensor.measurement->relative_l2());
    row[5] = known_number(tensor.measurement->one_minus_cosine());
    row[6] = known_number(tensor.measurement->max_abs.value);
  } else {
    row[4] = row[5] = row[6] = {"-", Tone::faint};
  }
  if (tensor.judgement) {
    row[5] = budget_cell(*tensor.judgement);
  }
  row[7] = verdict_cell(tensor);
  return row;
}

using Widths = std::array<std::size_t, kColumns.size()>;

/// Natural widths, then the widest shrinkable column gives way until the line fits.
Widths fit(const std::vector<Row>& rows, std::size_t columns) {
  Widths widths{};
  std::size_t total = 2 * (kColumns.size() - 1);
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    widths[c] = display_width(kColumns[c].title);
    for (const Row& row : rows) {
      widths[c] = std::max(widths[c], display_width(row[c].text));
    }
    total += widths[c];
  }
  while (total > columns) {
    std::size_t widest = kColumns.size();
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      if (kColumns[c].smallest > 0 && widths[c] > kColumns[c].smallest &&
          (widest == kColumns.size() || widths[c] > widths[widest])) {
        widest = c;
      }
    }
    if (widest == kColumns.size()) {
      break;
    }
    --widths[widest];
    --total;
  }
  return widths;
}

std::string padded(const Cell& cell, const Column& column, std::size_t width, bool colour) {
  const std::string text = ellipsize_middle(cell.text, width);
  const std::size_t used = display_width(text);
  const std::string gap(width > used ? width - used : 0, ' ');
  const std::string shown = painted(text, cell.tone, colour);
  return column.right ? gap + shown : shown + gap;
}

std::string line_of(const Row& row, const Widths& widths, bool colour) {
  std::string line;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    line += c == 0 ? "" : "  ";
    line += padded(row[c], kColumns[c], widths[c], colour);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string rule_line(const Widths& widths, bool colour) {
  std::string line;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    line += c == 0 ? "" : "  ";
    for (std::size_t i = 0; i < widths[c]; ++i) {
      line += "─";
    }
  }
  return painted(line, Tone::faint, colour) + "\n";
}

std::string table(const verdict::RunResult& result, const TerminalStyle& style) {
  const std::vector<std::size_t> order = verdict::worst_first(result);
  const std::size_t shown = std::min(style.rows, order.size());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(row_of(result.tensors[order[i]]));
  }
  const Widths widths = fit(rows, style.columns);
  Row titles;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const bool budget = result.verdict && c == kBudgetColumn;
    titles[c] = {std::string(budget ? "x budget" : kColumns[c].title), Tone::strong};
  }
  std::string text = line_of(titles, widths, style.colour) + rule_line(widths, style.colour);
  for (const Row& row : rows) {
    text += line_of(row, widths, style.colour);
  }
  if (order.size() > shown) {
    text += painted("… and " + std::to_string(order.size() - shown) + " more, better ones\n",
                    Tone::faint, style.colour);
  }
  return text;
}

std::string judged_headline(const verdict::RunVerdict& verdict, const TerminalStyle& style) {
  const bool pass = verdict.outcome == verdict::Outcome::pass;
  const bool fail = verdict.outcome == verdict::Outcome::fail;
  const std::string word = pass ? "PASS" : fail ? "FAIL" : "INCONCLUSIVE";
  const Tone tone = pass ? Tone::good : fail ? Tone::bad : Tone::odd;
  std::string text = painted(word, tone, style.colour) + "  " + printable(verdict.sentence) + "\n";
  for (const verdict::Finding& finding : verdict.findings) {
    text += painted("finding", Tone::odd, style.colour) + " " + printable(finding.sentence) + "\n";
  }
  return text;
}

std::string headline(const verdict::RunResult& result, const TerminalStyle& style) {
  const std::uint64_t failed = result.failed();
  const std::string count = std::to_string(result.tensors.size());
  std::string text;
  if (result.interrupted) {
    text += painted("INTERRUPTED", Tone::odd, style.colour) + "  partial result\n";
  }
  if (result.tensors.empty()) {
    return text + painted("NOTHING COMPARED", Tone::bad, style.colour) +
           "  no tensor of the target has a counterpart in the golden\n";
  }
  if (result.verdict) {
    return text + judged_headline(*result.verdict, style);
  }
  if (failed == 0) {
    return text + painted("AGREE", Tone::good, style.colour) + "  all " + count +
           " tensors are within the limits\n";
  }
  return text + painted("DIFFER", Tone::bad, style.colour) + "  " + std::to_string(failed) +
         " of " + count + " tensors are beyond the limits\n";
}

/// Name and place of a tensor, then the reasons, one a line below.
std::string offender_block(std::string_view title, const verdict::TensorResult& tensor,
                           const TerminalStyle& style) {
  const std::string type =
      tensor.operator_type.empty() ? "" : " (" + printable(tensor.operator_type) + ")";
  const std::string indent = "\n" + std::string(title.size() + 1, ' ');
  std::string text = std::string(title) + " " +
                     painted(printable(tensor.operator_name), Tone::strong, style.colour) + type +
                     ", " + tensor.role + " " + std::to_string(tensor.index) + ", order " +
                     std::to_string(tensor.order) + indent + printable(tensor.reason);
  for (const verdict::Explanation& explanation : tensor.explanations) {
    text += indent + printable(explanation.sentence);
  }
  if (tensor.place && !tensor.place->sentence.empty()) {
    text += indent + printable(tensor.place->sentence);
  }
  return text + "\n";
}

/// The first divergence and those beside it; without a judgement the first failing tensor.
std::string offender_lines(const verdict::RunResult& result, const TerminalStyle& style) {
  if (!result.verdict) {
    const verdict::TensorResult* offender = result.first_offender();
    return offender == nullptr ? std::string()
                               : offender_block("First offender:", *offender, style);
  }
  std::string text;
  for (const std::size_t row : result.verdict->first_divergence) {
    text += offender_block(text.empty() ? "Culprit:" : "   also:", result.tensors[row], style);
  }
  return text;
}

std::string ledger_line(const verdict::RunResult& result, verdict::RunSide side) {
  const verdict::LedgerTotals totals = result.totals(side);
  std::string text = std::string(side == verdict::RunSide::golden ? "golden" : "target") + "  " +
                     std::to_string(totals.all()) + " entries: ";
  const std::array<std::pair<const char*, std::uint64_t>, 7> parts = {{
      {"equal", totals.equal},
      {"compared", totals.compared},
      {"unmatched", totals.unmatched},
      {"unreadable", totals.unreadable},
      {"superseded", totals.superseded},
      {"ignored", totals.ignored},
      {"skipped", totals.skipped},
  }};
  bool first = true;
  for (const auto& [name, count] : parts) {
    if (count > 0) {
      text += (first ? "" : ", ") + std::to_string(count) + " " + name;
      first = false;
    }
  }
  return text + "\n";
}

}  // namespace

std::string render_terminal(const verdict::RunResult& result, const TerminalStyle& style) {
  std::string text = headline(result, style);
  text += offender_lines(result, style);
  if (!result.tensors.empty() && style.rows > 0) {
    text += "\n" + table(result, style);
  }
  text += "\n" + ledger_line(result, verdict::RunSide::target);
  text += ledger_line(result, verdict::RunSide::golden);
  text += "rule    " + printable(result.rule) + "\n";
  for (const std::string& note : result.notes) {
    text += painted("note", Tone::odd, style.colour) + "    " + printable(note) + "\n";
  }
  return text;
}

}  // namespace opdrift::report
