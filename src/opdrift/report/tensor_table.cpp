#include "opdrift/report/tensor_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/report/text_table.hpp"

namespace opdrift::report {

namespace {

/// Which columns the table has.
struct Choice {
  std::size_t usual = 0;    ///< the first so many of relative L2, 1 - cosine, largest error
  std::size_t metrics = 0;  ///< the first so many that were asked for
  bool budget = false;      ///< of a judged run
};

constexpr std::size_t kUsualColumns = 3;

Cell unknown() {
  return {"-", Tone::faint};
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value == 0.0 ? "%.0f" : "%.2e", value);
  return text.data();
}

Cell known_number(double value) {
  return std::isnan(value) ? unknown() : Cell{short_number(value)};
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
    const bool failed = tensor.judgement->label == verdict::Label::unjudged && !tensor.passed;
    return failed ? Cell{"FAIL", Tone::bad} : label_cell(tensor.judgement->label);
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
Cell budget_cell(const std::optional<verdict::Judgement>& judgement) {
  if (!judgement || judgement->label == verdict::Label::unjudged ||
      (std::isnan(judgement->q_own) && std::isnan(judgement->z))) {
    return unknown();
  }
  std::array<char, 32> text{};
  const double ratio = std::fmax(judgement->q_own, judgement->z);
  std::snprintf(text.data(), text.size(), ratio < 1000.0 ? "%.2f" : "%.1e", ratio);
  return {text.data()};
}

std::vector<Column> columns_of(const verdict::RunResult& result, const Choice& choice) {
  std::vector<Column> columns = {
      {"Order", true}, {"Operator", false, 16}, {"Type", false, 8}, {"Tensor", false, 8}};
  const std::array<Column, kUsualColumns> usual = {
      {{"Rel. L2", true}, {choice.budget ? "x budget" : "1-cosine", true}, {"Max abs", true}}};
  columns.insert(columns.end(), usual.begin(),
                 usual.begin() + static_cast<std::ptrdiff_t>(choice.usual));
  if (choice.budget && choice.usual < 2) {
    columns.push_back({"x budget", true});
  }
  for (std::size_t i = 0; i < choice.metrics; ++i) {
    columns.push_back({printable(result.metric_names[i]), true});
  }
  columns.push_back({"Verdict"});
  return columns;
}

std::array<Cell, kUsualColumns> usual_cells(const verdict::TensorResult& tensor, bool budget) {
  if (!tensor.measurement) {
    return {unknown(), unknown(), unknown()};
  }
  const metrics::Measurement& m = *tensor.measurement;
  // Rows of a judged run that were not judged keep the plain number.
  // Where every pair holds a NaN or Inf there is no distance, and 0 would look like agreement.
  if (m.finite_pairs == 0 && m.class_mismatches > 0) {
    return {unknown(), budget && tensor.judgement ? budget_cell(tensor.judgement) : unknown(),
            unknown()};
  }
  return {known_number(m.relative_l2()),
          budget && tensor.judgement ? budget_cell(tensor.judgement)
                                     : known_number(m.one_minus_cosine()),
          known_number(m.max_abs.value)};
}

std::vector<Cell> row_of(const verdict::TensorResult& tensor, const Choice& choice) {
  std::vector<Cell> row = {{std::to_string(tensor.order)},
                           {printable(tensor.operator_name)},
                           {printable(tensor.operator_type)},
                           {tensor.role + " " + std::to_string(tensor.index)}};
  const auto usual = usual_cells(tensor, choice.budget);
  row.insert(row.end(), usual.begin(), usual.begin() + static_cast<std::ptrdiff_t>(choice.usual));
  if (choice.budget && choice.usual < 2) {
    row.push_back(budget_cell(tensor.judgement));
  }
  for (std::size_t i = 0; i < choice.metrics; ++i) {
    row.push_back(i < tensor.metric_values.size() && !tensor.metric_values[i].text.empty()
                      ? Cell{printable(tensor.metric_values[i].text)}
                      : unknown());
  }
  row.push_back(verdict_cell(tensor));
  return row;
}

TextTable table_of(const verdict::RunResult& result, const std::vector<std::size_t>& rows,
                   const Choice& choice) {
  TextTable table{columns_of(result, choice), {}};
  for (const std::size_t row : rows) {
    table.rows.push_back(row_of(result.tensors[row], choice));
  }
  return table;
}

}  // namespace

std::string render_tensor_table(const verdict::RunResult& result, const TerminalStyle& style) {
  std::vector<std::size_t> rows = verdict::worst_first(result);
  const std::size_t all = rows.size();
  rows.resize(std::min(style.rows, all));
  Choice choice;
  choice.usual = result.usual_metrics ? kUsualColumns : 0;
  choice.metrics = result.metric_names.size();
  choice.budget = result.verdict.has_value();
  const std::size_t wanted = choice.usual + choice.metrics;
  TextTable table = table_of(result, rows, choice);
  while (choice.usual + choice.metrics > 1 && table.least_width() > style.columns) {
    // Without metrics of the user's the table is as it always was, however narrow the terminal.
    if (result.metric_names.empty()) {
      break;
    }
    --(choice.usual > 1 ? choice.usual : choice.metrics);
    table = table_of(result, rows, choice);
  }
  std::string text = table.render(style.columns, style.colour);
  if (all > rows.size()) {
    text += painted("… and " + std::to_string(all - rows.size()) + " more, better ones\n",
                    Tone::faint, style.colour);
  }
  if (const std::size_t left_out = wanted - choice.usual - choice.metrics; left_out > 0) {
    text +=
        painted("… " + std::to_string(left_out) + (left_out == 1 ? " metric does" : " metrics do") +
                    " not fit this width; the result files have all\n",
                Tone::faint, style.colour);
  }
  return text;
}

}  // namespace opdrift::report
