#include "opdrift/pipeline/msprobe/torchair_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/pipeline/msprobe/table_file.hpp"

namespace opdrift::pipeline {

namespace {

using match::TensorKind;
using report::CellBlock;

constexpr std::string_view kNotAvailable = "N/A";
constexpr std::uint64_t kRowsPerPiece = 2048;

/// What part 3 of the columns holds.
enum class Evidence : std::uint8_t { numbers, reduced, checksums };

struct NumberedRow {
  TorchairRow row;
  std::uint64_t id = 0;
};

std::vector<std::string> columns_for(Evidence evidence, bool reference) {
  std::vector<std::string> columns = {"token_id",
                                      "data_id",
                                      "golden_data_path",
                                      "golden_op_type",
                                      "golden_dtype",
                                      "golden_shape",
                                      "golden_max_value",
                                      "golden_min_value",
                                      "golden_mean_value",
                                      "my_data_path",
                                      "my_op_type",
                                      "my_dtype",
                                      "my_shape",
                                      "my_max_value",
                                      "my_min_value",
                                      "my_mean_value",
                                      "cosine_similarity",
                                      "max_relative_error",
                                      "mean_relative_error",
                                      "max_absolute_error",
                                      "mean_absolute_error",
                                      "kl_divergence",
                                      "relative_euclidean_distance",
                                      "cmp_fail_reason"};
  if (reference) {
    return columns;
  }
  const auto add = [&](std::initializer_list<const char*> names) {
    columns.insert(columns.end(), names.begin(), names.end());
  };
  add({"API Name", "Stack Info", "Data Name"});
  switch (evidence) {
    case Evidence::numbers:
      add({"Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio",
           "Five Thousandth Err Ratio", "Requires_grad Consistent"});
      break;
    case Evidence::reduced:
      add({"Max diff", "Min diff", "Mean diff", "L2norm diff", "MaxRelativeErr", "MinRelativeErr",
           "MeanRelativeErr", "NormRelativeErr"});
      break;
    case Evidence::checksums: add({"NPU MD5", "BENCH MD5"}); break;
  }
  add({"Result", "Accuracy Reached or Not", "Err_message"});
  return columns;
}

double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

double rounded(double value, double scale) {
  return std::nearbyint(value * scale) / scale;
}

/// The verdict on a row and why.
struct Verdict {
  bool passed = true;
  std::string message;

  void fail(const std::string& reason) {
    passed = false;
    note(reason);
  }
  void note(const std::string& reason) { message += (message.empty() ? "" : "; ") + reason; }
};

/// The metrics of part 3, by the formulas of recorded runs (real_rows.hpp).
struct PlainMetrics {
  double cosine = std::numeric_limits<double>::quiet_NaN();
  bool has_cosine = false;
  double distance = 0.0;
  double max_abs = 0.0;
  double max_relative = 0.0;
  double within_1e3 = 0.0;
  double within_5e3 = 0.0;
};

PlainMetrics plain_metrics(const metrics::TorchPairSums& sums) {
  PlainMetrics plain;
  const double g = std::sqrt(sums.golden2);
  const double t = std::sqrt(sums.target2);
  const auto count = static_cast<double>(sums.count);
  constexpr double kZero = std::numeric_limits<double>::epsilon();
  plain.has_cosine = sums.count > 1;
  if (g <= kZero && t <= kZero) {
    plain.cosine = 1.0;
  } else if (g > kZero && t > kZero) {
    plain.cosine = rounded(sums.product / (g * t), 1e12);
  }
  plain.distance = std::sqrt(sums.distance2);
  plain.max_abs = sums.max_abs;
  plain.max_relative = sums.max_relative;
  plain.within_1e3 = rounded(static_cast<double>(sums.within_1e3) / count, 1e12);
  plain.within_5e3 = rounded(static_cast<double>(sums.within_5e3) / count, 1e12);
  return plain;
}

std::string condition(const char* name, double value, const char* relation, double limit) {
  return std::string(name) + " " + graph::python_float(value) + " " + relation + " " +
         graph::python_float(limit);
}

class TorchairTableMaker {
 public:
  TorchairTableMaker(std::vector<NumberedRow> rows, Evidence evidence,
                     const TorchairOptions& options)
      : rows_(std::move(rows)), evidence_(evidence), options_(options) {
    verdicts_.reserve(rows_.size());
    for (const NumberedRow& numbered : rows_) {
      verdicts_.push_back(judge(numbered.row));
    }
  }

  std::uint64_t rows() const { return rows_.size(); }
  std::uint64_t failed() const {
    return static_cast<std::uint64_t>(std::count_if(verdicts_.begin(), verdicts_.end(),
                                                    [](const Verdict& v) { return !v.passed; }));
  }

  Status fill(std::uint64_t first, std::uint64_t count, CellBlock& block) const {
    for (std::uint64_t i = first; i < first + count; ++i) {
      if (options_.highlight != Highlight::none) {
        block.colour(colour_of(i));
      }
      add_reference_columns(rows_[i], block);
      if (!options_.reference_tables) {
        add_own_columns(rows_[i].row, verdicts_[i], block);
      }
    }
    return Unit{};
  }

  /// The first operator, in graph order, whose outputs are wrong while its inputs are right; when
  /// there is none, the first row that is wrong.
  std::string first_difference() const {
    using Place = std::tuple<std::uint64_t, std::uint64_t>;
    struct Operator {
      bool inputs_pass = true;
      std::size_t wrong_output = kNone;
      std::size_t wrong_row = kNone;
    };
    std::map<Place, Operator> operators;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const TorchairRow& row = rows_[i].row;
      Operator& op = operators[{row.order, row.token}];
      if (verdicts_[i].passed || (!row.sums && !row.golden.reduced)) {
        continue;
      }
      op.wrong_row = std::min(op.wrong_row, i);
      if (row.kind == TensorKind::output) {
        op.wrong_output = std::min(op.wrong_output, i);
      } else {
        op.inputs_pass = false;
      }
    }
    std::size_t fallback = kNone;
    for (const auto& [place, op] : operators) {
      if (op.inputs_pass && op.wrong_output != kNone) {
        return describe(op.wrong_output, "its inputs agree");
      }
      fallback = fallback == kNone ? op.wrong_row : fallback;
    }
    return fallback == kNone ? ""
                             : describe(fallback, "no operator has good inputs and a bad output");
  }

  /// Failures, those that nothing was measured for as suspicious.
  NotableRows notable() const {
    NotableRows rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool wrong = is_measured(i);
      if (!verdicts_[i].passed && !rows.full(wrong)) {
        const TorchairRow& row = rows_[i].row;
        const std::string place = wrong ? (row.kind == TensorKind::input ? " input " : " output ") +
                                              std::to_string(row.index)
                                        : std::string();
        rows.add({i, wrong, row.op + place, verdicts_[i].message});
      }
    }
    return rows;
  }

  std::uint64_t unmeasured() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      count += !verdicts_[i].passed && !is_measured(i) ? 1U : 0U;
    }
    return count;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  bool is_measured(std::size_t index) const {
    const TorchairRow& row = rows_[index].row;
    return row.problem.empty() && (row.sums || row.golden.reduced || row.target.reduced);
  }

  report::RowColour colour_of(std::size_t index) const {
    if (verdicts_[index].passed) {
      return report::RowColour::green;
    }
    return is_measured(index) ? report::RowColour::red : report::RowColour::yellow;
  }

  std::string describe(std::size_t index, const std::string& why) const {
    const TorchairRow& row = rows_[index].row;
    const std::string kind = row.kind == TensorKind::input ? "input " : "output ";
    return "first difference: " + row.op + ", " + kind + std::to_string(row.index) + ", token " +
           std::to_string(row.token) + " (" + verdicts_[index].message + "; " + why + ")";
  }

  Verdict judge(const TorchairRow& row) const {
    Verdict verdict;
    if (!row.problem.empty()) {
      verdict.fail(row.problem);
      return verdict;
    }
    const std::string reason = row.reference_reason();
    if (!reason.empty()) {
      verdict.fail(reason);
      return verdict;
    }
    if (row.golden.reduced || row.target.reduced) {
      judge_reduced(row, verdict);
      return verdict;
    }
    if (options_.checksums) {
      if (row.golden.crc != row.target.crc) {
        verdict.fail("the check sums differ");
      }
      return verdict;
    }
    if (row.golden.elements == 0 && row.target.elements == 0) {
      verdict.note("empty tensor");
      return verdict;
    }
    if (row.sums) {
      judge_numbers(*row.sums, verdict);
    }
    if (row.golden.shape != row.target.shape) {
      verdict.note("shapes " + row.golden.shape + " and " + row.target.shape +
                   " have equally many elements");
    }
    if (row.golden.is_int8 != row.target.is_int8) {
      verdict.note("only one side is quantised to int8");
    }
    return verdict;
  }

  void judge_numbers(const metrics::TorchPairSums& sums, Verdict& verdict) const {
    const PlainMetrics plain = plain_metrics(sums);
    if (plain.has_cosine && !(plain.cosine >= options_.min_cosine)) {
      verdict.fail(condition("Cosine", plain.cosine, "<", options_.min_cosine));
    }
    if (!(plain.max_relative < options_.max_relative)) {
      verdict.fail(condition("MaxRelativeErr", plain.max_relative, ">=", options_.max_relative));
    }
  }

  void judge_reduced(const TorchairRow& row, Verdict& verdict) const {
    for (const auto& [name, target, golden] :
         {std::tuple{"MaxRelativeErr", row.target.max, row.golden.max},
          std::tuple{"MinRelativeErr", row.target.min, row.golden.min}}) {
      const double relative = relative_of(target, golden);
      if (!(relative <= options_.max_relative)) {
        verdict.fail(condition(name, relative, ">", options_.max_relative));
      }
    }
    verdict.note("smallest and largest values only");
  }

  static double relative_of(double target, double golden) {
    if (target == golden) {
      return 0.0;
    }
    return golden == 0.0 ? std::numeric_limits<double>::infinity()
                         : std::abs((target - golden) / golden);
  }

  static void add_number(double value, CellBlock& block) {
    if (std::isnan(value)) {
      block.blank();
    } else {
      block.number(value);
    }
  }

  static void add_side(const TorchairSide& side, CellBlock& block) {
    block.text(side.path);
    block.blank();
    block.text(side.dtype);
    block.text(side.shape);
    if (side.elements == 0 && !side.reduced) {
      block.blank();
      block.blank();
      block.blank();
      return;
    }
    add_number(side.max, block);
    add_number(side.min, block);
    add_number(side.reduced ? std::numeric_limits<double>::quiet_NaN() : side.mean, block);
  }

  static void add_reference_columns(const NumberedRow& numbered, CellBlock& block) {
    const TorchairRow& row = numbered.row;
    add_integer(row.token, block);
    add_integer(numbered.id, block);
    add_side(row.golden, block);
    add_side(row.target, block);
    const std::string reason = row.reference_reason();
    if (!row.sums || row.sums->count == 0 || !reason.empty()) {
      for (int i = 0; i < 7; ++i) {
        block.blank();
      }
    } else {
      add_reference_metrics(*row.sums, block);
    }
    block.text(row.problem.empty() ? reason : row.problem);
  }

  static void add_integer(std::uint64_t value, CellBlock& block) {
    block.number(static_cast<double>(value), std::to_string(value));
  }

  static void add_reference_metrics(const metrics::TorchPairSums& sums, CellBlock& block) {
    constexpr double kFloatEpsilon = 0x1p-23;
    const double g = std::sqrt(sums.golden2);
    const double t = std::sqrt(sums.target2);
    const auto count = static_cast<double>(sums.count);
    const bool all_zero = sums.golden2 == 0.0 && sums.target2 == 0.0;
    const double cosine = sums.product / (std::max(g, 1e-8) * std::max(t, 1e-8));
    add_number(all_zero ? 1.0 : rounded(cosine, 1e10), block);
    add_number(as_float(sums.max_ratio), block);
    add_number(as_float(sums.sum_ratio / count), block);
    add_number(as_float(sums.max_difference), block);
    add_number(as_float(sums.sum_difference / count), block);
    add_number(as_float(sums.divergence), block);
    add_number(g <= kFloatEpsilon ? 0.0 : as_float(std::sqrt(sums.distance2 / sums.golden2)),
               block);
  }

  void add_own_columns(const TorchairRow& row, const Verdict& verdict, CellBlock& block) const {
    block.text(row.op);
    block.text(kNotAvailable);
    block.text("[" + graph::python_repr(row.target.path) + ", " +
               graph::python_repr(row.golden.path) + "]");
    switch (evidence_) {
      case Evidence::numbers: add_plain(row, block); break;
      case Evidence::reduced: add_reduced(row, block); break;
      case Evidence::checksums:
        add_checksum(row.target, block);
        add_checksum(row.golden, block);
        break;
    }
    block.text(verdict.passed ? "PASS" : "FAIL");
    block.text(verdict.passed ? "Yes" : "No");
    block.text(verdict.message);
  }

  static void add_plain(const TorchairRow& row, CellBlock& block) {
    const bool measured = row.sums && row.sums->count > 0 && row.reference_reason().empty();
    if (!measured) {
      for (int i = 0; i < 7; ++i) {
        block.text(kNotAvailable);
      }
      return;
    }
    const PlainMetrics plain = plain_metrics(*row.sums);
    if (plain.has_cosine && !std::isnan(plain.cosine)) {
      block.number(plain.cosine);
    } else {
      block.text(plain.has_cosine ? "NaN" : "unsupported");
    }
    block.number(plain.distance);
    block.number(plain.max_abs);
    block.number(plain.max_relative);
    block.number(plain.within_1e3);
    block.number(plain.within_5e3);
    block.text(kNotAvailable);
  }

  static void add_reduced(const TorchairRow& row, CellBlock& block) {
    const bool known = (row.golden.reduced || row.golden.elements > 0) &&
                       (row.target.reduced || row.target.elements > 0);
    const auto pair = [&](double target, double golden, bool relative) {
      if (!known) {
        block.text(kNotAvailable);
      } else if (!relative) {
        block.number(target - golden);
      } else {
        const double share = relative_of(target, golden);
        block.text(std::isinf(share) ? "inf" : graph::python_float(share * 100.0) + "%");
      }
    };
    for (const bool relative : {false, true}) {
      pair(row.target.max, row.golden.max, relative);
      pair(row.target.min, row.golden.min, relative);
      block.text(kNotAvailable);
      block.text(kNotAvailable);
    }
  }

  static void add_checksum(const TorchairSide& side, CellBlock& block) {
    if (side.dtype.empty()) {
      block.text(kNotAvailable);
      return;
    }
    std::array<char, 12> text{};
    std::snprintf(text.data(), text.size(), "%08x", side.crc);
    block.text(text.data());
  }

  std::vector<NumberedRow> rows_;
  std::vector<Verdict> verdicts_;
  Evidence evidence_;
  const TorchairOptions& options_;
};

/// Rows the reference leaves out without a word.
bool reference_drops(const TorchairRow& row) {
  return row.reference_reason() == "data shape doesn't match." ||
         row.golden.is_int8 != row.target.is_int8;
}

/// The text the reference sorts by: what stands behind the last dot of the target's path.
std::string reference_key(const TorchairRow& row) {
  const std::string& path = row.target.path;
  return path.substr(path.rfind('.') + 1);
}

void sort_rows(std::vector<NumberedRow>& rows, bool reference) {
  if (reference) {
    std::stable_sort(rows.begin(), rows.end(), [](const NumberedRow& a, const NumberedRow& b) {
      return reference_key(a.row) < reference_key(b.row);
    });
    return;
  }
  const auto key = [](const NumberedRow& numbered) {
    const TorchairRow& row = numbered.row;
    return std::make_tuple(parse_u64(row.time).value_or(0), row.token,
                           row.kind == TensorKind::output, row.index);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const NumberedRow& a, const NumberedRow& b) { return key(a) < key(b); });
}

}  // namespace

Result<TorchairTable> write_torchair_table(std::vector<TorchairRow> rows, std::uint64_t& next_id,
                                           const std::string& stem,
                                           const TorchairOptions& options) {
  std::vector<NumberedRow> kept;
  Evidence evidence = options.checksums ? Evidence::checksums : Evidence::numbers;
  for (TorchairRow& row : rows) {
    const std::uint64_t id = next_id++;
    if (row.superseded || (options.reference_tables && reference_drops(row))) {
      continue;
    }
    if (row.golden.reduced || row.target.reduced) {
      evidence = Evidence::reduced;
    }
    kept.push_back({std::move(row), id});
  }
  sort_rows(kept, options.reference_tables);
  const TorchairTableMaker maker(std::move(kept), evidence, options);
  TableSpec spec;
  spec.stem = stem;
  spec.format = options.xlsx ? TableFormat::xlsx : TableFormat::csv;
  spec.columns = columns_for(evidence, options.reference_tables);
  spec.rows = maker.rows();
  TorchairTable table;
  OPDRIFT_TRY(table.files,
              write_table(spec, even_cuts(spec.rows, kRowsPerPiece),
                          [&](std::uint64_t first, std::uint64_t count, CellBlock& block) {
                            return maker.fill(first, count, block);
                          },
                          {options.jobs, options.cancel}));
  table.rows = maker.rows();
  table.failed = maker.failed();
  table.unmeasured = maker.unmeasured();
  table.notable = maker.notable();
  table.first_difference = maker.first_difference();
  return table;
}

}  // namespace opdrift::pipeline
