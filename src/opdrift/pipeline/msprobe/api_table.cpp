#include "opdrift/pipeline/msprobe/api_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/pipeline/msprobe/classic_colours.hpp"
#include "opdrift/verdict/api_statistics.hpp"

namespace opdrift::pipeline {

namespace {

using graph::ApiLeaf;
using graph::ApiValue;
using graph::GradFlag;
using match::ApiPair;
using report::CellBlock;
using verdict::RowLevel;
using verdict::RowMode;
using verdict::RuleRow;

constexpr std::string_view kNotAvailable = "N/A";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kRowsPerPiece = 1024;

std::string_view grad_text(GradFlag flag) {
  switch (flag) {
    case GradFlag::absent: return kNotAvailable;
    case GradFlag::no: return "False";
    case GradFlag::yes: return "True";
  }
  return kNotAvailable;
}

void add_value(const ApiValue& value, CellBlock& block) {
  const std::string_view text = value.text();
  if (value.kind == ApiValue::Kind::text && (text == "True" || text == "False")) {
    block.boolean(text == "True");
  } else if (value.kind == ApiValue::Kind::real && text == "nan") {
    block.text("Nan");
  } else if (value.kind == ApiValue::Kind::real || value.kind == ApiValue::Kind::integer) {
    block.number(graph::python_number(text).value_or(kNan), text);
  } else {
    block.text(text);
  }
}

void add_words(std::string_view word, std::size_t count, CellBlock& block) {
  for (std::size_t i = 0; i < count; ++i) {
    block.text(word);
  }
}

/// Pairs of one call: consecutive pairs whose target leaves belong to one entry.
struct Group {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class TableMaker {
 public:
  TableMaker(const ApiSides& sides, const std::vector<RealRow>& real,
             const ApiCompareOptions& options)
      : sides_(sides), real_(real), options_(options) {
    const auto& pairs = sides_.match.pairs;
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      if (i == 0 || entry_of(pairs[i]) != entry_of(pairs[i - 1])) {
        groups_.push_back({i, 0});
      }
      ++groups_.back().count;
    }
  }

  std::uint64_t rows() const {
    const std::uint64_t extra = options_.golden_only_rows ? sides_.match.golden_only.size() : 0;
    return sides_.match.pairs.size() + extra;
  }

  /// Calls are never cut in two.
  RowCuts cuts() const {
    RowCuts cuts = {0};
    for (const Group& group : groups_) {
      if (group.first - cuts.back() >= kRowsPerPiece) {
        cuts.push_back(group.first);
      }
    }
    const std::uint64_t paired = sides_.match.pairs.size();
    if (paired > 0) {
      cuts.push_back(paired);
    }
    if (rows() > paired) {
      cuts.push_back(rows());
    }
    return cuts;
  }

  Status fill(std::uint64_t first, std::uint64_t count, CellBlock& block) {
    const std::uint64_t paired = sides_.match.pairs.size();
    if (first >= paired) {
      return fill_golden_only(first - paired, count, block);
    }
    auto group = std::upper_bound(groups_.begin(), groups_.end(), first,
                                  [](std::uint64_t row, const Group& g) { return row < g.first; });
    --group;
    ApiTableTotals totals;
    for (; group != groups_.end() && group->first < first + count; ++group) {
      // A file that ends after its last allowed row may cut a call; only its own rows are written.
      const std::uint64_t begin = std::max(group->first, first);
      const std::uint64_t end = std::min(group->first + group->count, first + count);
      add_group(*group, begin, end, block, totals);
    }
    merge(totals, first);
    return Unit{};
  }

  ApiTableTotals totals() const { return totals_; }

 private:
  std::uint32_t entry_of(const ApiPair& pair) const {
    return sides_.target.leaves[pair.target].entry;
  }

  const ApiLeaf& target_of(const ApiPair& pair) const { return sides_.target.leaves[pair.target]; }

  const ApiLeaf* golden_of(const ApiPair& pair) const {
    return pair.golden == match::kNoLeaf ? nullptr : &sides_.golden.leaves[pair.golden];
  }

  void merge(const ApiTableTotals& part, std::uint64_t first) {
    const std::lock_guard<std::mutex> lock(mutex_);
    totals_.rows += part.rows;
    totals_.passed += part.passed;
    totals_.warnings += part.warnings;
    totals_.errors += part.errors;
    totals_.notable.merge(part.notable);
    if (!part.first_error.empty() && first < first_error_row_) {
      first_error_row_ = first;
      totals_.first_error = part.first_error;
    }
  }

  using Differences = std::array<verdict::StatisticDifference, 4>;

  /// Everything about a row that rules and cells share.
  struct Row {
    RuleRow rule;
    Differences differences;
    std::string target_checksum;
    std::string golden_checksum;
    std::vector<std::string> reasons;
  };

  void prepare(std::uint64_t index, Row& row) const {
    const ApiPair& pair = sides_.match.pairs[index];
    RuleRow& rule = row.rule;
    rule.target = &target_of(pair);
    rule.golden = golden_of(pair);
    rule.target_dtype = sides_.target.dtype_of(*rule.target);
    rule.golden_dtype =
        rule.golden == nullptr ? kNotAvailable : sides_.golden.dtype_of(*rule.golden);
    rule.output = rule.target->name.find(".output.") != std::string_view::npos;
    rule.cosine = rule.within_1e3 = rule.norm_relative = kNan;
    switch (sides_.mode) {
      case RowMode::statistics: prepare_statistics(row); break;
      case RowMode::checksum: prepare_checksum(row); break;
      case RowMode::real_data: prepare_real(real_[index], row); break;
    }
    if (!options_.reference_tables) {
      add_own_reasons(pair, row);
    }
  }

  static void prepare_statistics(Row& row) {
    const RuleRow& rule = row.rule;
    if (rule.golden == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < row.differences.size(); ++i) {
      row.differences[i] =
          verdict::compare_statistic(rule.target->statistics[i], rule.golden->statistics[i]);
    }
    row.rule.norm_relative = row.differences[3].relative();
  }

  static void prepare_checksum(Row& row) {
    row.target_checksum = verdict::checksum_text(*row.rule.target);
    row.golden_checksum = row.rule.golden == nullptr ? std::string(kNotAvailable)
                                                     : verdict::checksum_text(*row.rule.golden);
  }

  void prepare_real(const RealRow& real, Row& row) const {
    const auto number = [](const RealMetric& metric) {
      return metric.is_number() ? metric.number : kNan;
    };
    row.rule.cosine = number(real.metrics[0]);
    row.rule.within_1e3 = number(real.metrics[4]);
    if (options_.reference_tables) {
      return;
    }
    row.reasons = real.reasons;
    // A scalar without a file is judged by its value; any other row without numbers is suspicious.
    const bool scalar = row.rule.target_dtype.find("class") != std::string_view::npos ||
                        row.rule.target->missing_argument;
    if (!real.compared && !scalar) {
      row.rule.level = RowLevel::warning;
    }
  }

  /// What the reference knows and throws away.
  void add_own_reasons(const ApiPair& pair, Row& row) const {
    const RuleRow& rule = row.rule;
    if (rule.golden == nullptr) {
      const bool by_dtype = pair.unmatched == match::ApiUnmatched::dtype;
      row.reasons.insert(row.reasons.begin(),
                         by_dtype ? "No bench data matched. The element types do not fit."
                                  : "No bench data matched.");
      row.rule.level = RowLevel::warning;
    } else if (rule.target->requires_grad != rule.golden->requires_grad) {
      row.reasons.emplace_back("Requires_grad inconsistent.");
    }
  }

  void add_group(const Group& group, std::uint64_t begin, std::uint64_t end, CellBlock& block,
                 ApiTableTotals& totals) {
    std::vector<Row> rows(group.count);
    for (std::uint64_t i = 0; i < group.count; ++i) {
      prepare(group.first + i, rows[i]);
    }
    std::vector<RuleRow> rules;
    rules.reserve(rows.size());
    for (Row& row : rows) {
      row.rule.target_checksum = row.target_checksum;
      row.rule.golden_checksum = row.golden_checksum;
      rules.push_back(row.rule);
    }
    verdict::apply_rules(rules, {sides_.mode, options_.reference_tables});
    const std::vector<report::RowColour> classic = classic_colours_of(group, rows);
    for (std::uint64_t i = begin; i < end; ++i) {
      Row& row = rows[i - group.first];
      row.rule = rules[i - group.first];
      count(i, row, totals);
      if (options_.highlight == Highlight::result) {
        block.colour(result_colour(row.rule.level));
      } else if (options_.highlight == Highlight::classic) {
        block.colour(classic[i - group.first]);
      }
      add_row(i, i == group.first, row, block);
    }
  }

  static void count(std::uint64_t index, const Row& row, ApiTableTotals& totals) {
    const RuleRow& rule = row.rule;
    ++totals.rows;
    const bool wrong = rule.level == RowLevel::error;
    if (rule.level != RowLevel::pass && !totals.notable.full(wrong)) {
      totals.notable.add({index, wrong, std::string(rule.target->name), first_message(row)});
    }
    switch (rule.level) {
      case RowLevel::pass: ++totals.passed; break;
      case RowLevel::warning: ++totals.warnings; break;
      case RowLevel::error:
        ++totals.errors;
        if (totals.first_error.empty()) {
          totals.first_error = rule.target->name;
        }
        break;
    }
  }

  /// The worst rule that hit the row, else why it could not be compared.
  static std::string first_message(const Row& row) {
    for (unsigned bit = 0; bit <= static_cast<unsigned>(verdict::RowMessage::checksum); ++bit) {
      if ((row.rule.messages >> bit & 1U) != 0) {
        const std::string_view message = to_string(static_cast<verdict::RowMessage>(bit));
        return std::string(message.substr(message.find(": ") + 2));  // without the level
      }
    }
    return row.reasons.empty() ? std::string() : row.reasons.front();
  }

  static report::RowColour result_colour(RowLevel level) {
    switch (level) {
      case RowLevel::pass: return report::RowColour::green;
      case RowLevel::warning: return report::RowColour::yellow;
      case RowLevel::error: return report::RowColour::red;
    }
    return report::RowColour::none;
  }

  std::vector<report::RowColour> classic_colours_of(const Group& group,
                                                    std::vector<Row>& rows) const {
    std::vector<report::RowColour> colours(rows.size(), report::RowColour::none);
    if (options_.highlight != Highlight::classic || sides_.mode == RowMode::checksum) {
      return colours;
    }
    std::vector<ClassicRow> classic(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RuleRow& rule = rows[i].rule;
      classic[i].target = rule.target;
      classic[i].golden = rule.golden;
      classic[i].output = rule.output;
      if (sides_.mode == RowMode::real_data) {
        const RealRow& real = real_[group.first + i];
        classic[i].max_error = real.metrics[2].is_number() ? real.metrics[2].number : kNan;
        classic[i].cosine = rule.cosine;
        classic[i].within_1e3 = rule.within_1e3;
      } else if (rule.golden != nullptr) {
        classic[i].max_error =
            rows[i].differences[0].kind == verdict::StatisticDifference::Kind::word
                ? kNan
                : rows[i].differences[0].difference;
        classic[i].max_relative = rows[i].differences[0].relative();
      }
    }
    const bool real_data = sides_.mode == RowMode::real_data;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ClassicColour colour = classic_colour(classic, i, real_data);
      colours[i] = colour.colour;
      for (std::string& reason : colour.reasons) {
        rows[i].reasons.push_back(std::move(reason));
      }
    }
    return colours;
  }

  void add_row(std::uint64_t index, bool first_of_call, const Row& row, CellBlock& block) const {
    const RuleRow& rule = row.rule;
    const ApiLeaf& target = *rule.target;
    const ApiLeaf* golden = rule.golden;
    block.text(target.name);
    block.text(golden == nullptr ? kNotAvailable : golden->name);
    block.text(rule.target_dtype);
    block.text(rule.golden_dtype);
    block.text(target.shape);
    block.text(golden == nullptr ? kNotAvailable : golden->shape);
    block.text(grad_text(target.requires_grad));
    block.text(golden == nullptr ? kNotAvailable : grad_text(golden->requires_grad));
    add_metrics(index, row, block);
    const GradFlag golden_grad = golden == nullptr ? GradFlag::absent : golden->requires_grad;
    block.boolean(target.requires_grad == golden_grad);
    block.text(verdict::to_string(rule.level));
    block.text(verdict::message_list(row.reasons, rule.messages));
    if (options_.accuracy_column) {
      block.text(accuracy(index, row));
    }
    if (sides_.stacks) {
      block.text(first_of_call ? stack_text(target) : std::string(kNotAvailable));
    }
    if (sides_.mode == RowMode::real_data) {
      block.text("[" + graph::python_repr(target.data_name) + ", " +
                 graph::python_repr(golden == nullptr ? kNotAvailable : golden->data_name) + "]");
    }
  }

  void add_metrics(std::uint64_t index, const Row& row, CellBlock& block) const {
    const ApiLeaf* golden = row.rule.golden;
    if (sides_.mode == RowMode::checksum) {
      block.text(row.target_checksum);
      block.text(row.golden_checksum);
      return;
    }
    if (sides_.mode == RowMode::real_data) {
      for (const RealMetric& metric : real_[index].metrics) {
        if (metric.is_number()) {
          block.number(metric.number);
        } else {
          block.text(metric.word);
        }
      }
    } else if (golden == nullptr) {
      add_words(kNotAvailable, 8, block);
    } else {
      add_differences(row.differences, block);
    }
    for (const ApiValue& value : row.rule.target->statistics) {
      add_value(value, block);
    }
    if (golden == nullptr) {
      add_words(kNotAvailable, 4, block);
      return;
    }
    for (const ApiValue& value : golden->statistics) {
      add_value(value, block);
    }
  }

  static void add_differences(const Differences& differences, CellBlock& block) {
    std::string text;
    for (const verdict::StatisticDifference& difference : differences) {
      switch (difference.kind) {
        case verdict::StatisticDifference::Kind::equal: block.text("0"); break;
        case verdict::StatisticDifference::Kind::word: block.text(difference.word); break;
        case verdict::StatisticDifference::Kind::number:
          text.clear();
          graph::append_python_float(difference.difference, text);
          block.text(text);
          break;
      }
    }
    for (const verdict::StatisticDifference& difference : differences) {
      text.clear();
      verdict::append_relative(difference, text);
      block.text(text);
    }
  }

  std::string stack_text(const ApiLeaf& target) const {
    const auto* lines = sides_.stacks->find(sides_.target.entries[target.entry].name);
    if (lines == nullptr) {
      return std::string(kNotAvailable);
    }
    std::string text = "[";
    for (const std::string_view line : *lines) {
      text += text.size() > 1 ? ", " : "";
      text += graph::python_repr(line);
    }
    return text + "]";
  }

  /// The word of the releases that had this column.
  std::string_view accuracy(std::uint64_t index, const Row& row) const {
    if (sides_.mode == RowMode::real_data) {
      return real_accuracy(real_[index]);
    }
    if (sides_.mode == RowMode::checksum) {
      return row.target_checksum == row.golden_checksum ? "Yes" : "No";
    }
    if (row.rule.golden == nullptr) {
      return "Unmatched";
    }
    for (std::size_t i = 0; i < row.differences.size(); ++i) {
      const auto x = graph::python_number(row.rule.target->statistics[i].text());
      const auto y = graph::python_number(row.rule.golden->statistics[i].text());
      const double gap = x && y ? std::abs(*x - *y) : 0.0;
      if (!(gap <= 0.5 * (std::max(std::abs(x.value_or(0)), std::abs(y.value_or(0))) + 1e-10))) {
        return "No";
      }
    }
    return "Yes";
  }

  static std::string_view real_accuracy(const RealRow& row) {
    const RealMetric& cosine = row.metrics[0];
    const RealMetric& max_abs = row.metrics[2];
    if (cosine.word == "shape unmatched") {
      return "Unmatched";
    }
    if (cosine.word == kNotAvailable) {
      return "No";
    }
    if (!cosine.is_number() || !max_abs.is_number()) {
      return "None";
    }
    const bool fails = (cosine.number < 0.99 && max_abs.number > 0.001) || cosine.number < 0.9 ||
                       max_abs.number > 1.0;
    return fails ? "No" : "Yes";
  }

  Status fill_golden_only(std::uint64_t first, std::uint64_t count, CellBlock& block) {
    ApiTableTotals totals;
    for (std::uint64_t i = first; i < first + count; ++i) {
      add_golden_only(sides_.golden.leaves[sides_.match.golden_only[i]], block);
      ++totals.rows;
      ++totals.warnings;
    }
    merge(totals, sides_.match.pairs.size());
    return Unit{};
  }

  void add_golden_only(const ApiLeaf& golden, CellBlock& block) const {
    block.text(kNotAvailable);
    block.text(golden.name);
    block.text(kNotAvailable);
    block.text(sides_.golden.dtype_of(golden));
    block.text(kNotAvailable);
    block.text(golden.shape);
    block.text(kNotAvailable);
    block.text(grad_text(golden.requires_grad));
    if (sides_.mode == RowMode::checksum) {
      block.text(kNotAvailable);
      block.text(verdict::checksum_text(golden));
    } else {
      add_words(kNotAvailable, sides_.mode == RowMode::real_data ? 6 : 8, block);
      add_words(kNotAvailable, 4, block);
      for (const ApiValue& value : golden.statistics) {
        add_value(value, block);
      }
    }
    block.boolean(false);
    block.text("warning");
    block.text(verdict::message_list({"No NPU data matched."}, 0));
    if (options_.accuracy_column) {
      block.text("Unmatched");
    }
    if (sides_.stacks) {
      block.text(kNotAvailable);
    }
    if (sides_.mode == RowMode::real_data) {
      block.text("['N/A', " + graph::python_repr(golden.data_name) + "]");
    }
  }

  const ApiSides& sides_;
  const std::vector<RealRow>& real_;
  const ApiCompareOptions& options_;
  std::vector<Group> groups_;
  std::mutex mutex_;
  ApiTableTotals totals_;
  std::uint64_t first_error_row_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

std::vector<std::string> api_columns(verdict::RowMode mode, bool with_stack, bool with_accuracy) {
  std::vector<std::string> columns = {
      "NPU Name",         "Bench Name",         "NPU Dtype",         "Bench Dtype",
      "NPU Tensor Shape", "Bench Tensor Shape", "NPU Requires_grad", "Bench Requires_grad"};
  const auto add = [&](std::initializer_list<const char*> names) {
    columns.insert(columns.end(), names.begin(), names.end());
  };
  if (mode == RowMode::checksum) {
    add({"NPU MD5", "BENCH MD5"});
  } else {
    if (mode == RowMode::real_data) {
      add({"Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio",
           "Five Thousandths Err Ratio"});
    } else {
      add({"Max diff", "Min diff", "Mean diff", "L2norm diff", "MaxRelativeErr", "MinRelativeErr",
           "MeanRelativeErr", "NormRelativeErr"});
    }
    add({"NPU max", "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean",
         "Bench l2norm"});
  }
  add({"Requires_grad Consistent", "Result", "Err_message"});
  if (with_accuracy) {
    add({"Accuracy Reached or Not"});
  }
  if (with_stack) {
    add({"NPU_Stack_Info"});
  }
  if (mode == RowMode::real_data) {
    add({"Data_name"});
  }
  return columns;
}

Result<ApiTable> write_api_table(const ApiSides& sides, const std::vector<RealRow>& real,
                                 const std::string& stem, const ApiCompareOptions& options) {
  TableMaker maker(sides, real, options);
  TableSpec spec;
  spec.stem = stem;
  spec.format = options.xlsx ? TableFormat::xlsx : TableFormat::csv;
  spec.columns = api_columns(sides.mode, sides.stacks.has_value(), options.accuracy_column);
  spec.rows = maker.rows();
  ApiTable table;
  OPDRIFT_TRY(table.files,
              write_table(spec, maker.cuts(),
                          [&](std::uint64_t first, std::uint64_t count, CellBlock& block) {
                            return maker.fill(first, count, block);
                          },
                          {options.jobs, options.cancel}));
  table.totals = maker.totals();
  return table;
}

}  // namespace opdrift::pipeline
