#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/io/archive/deflate_archive.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/xlsx_parts.hpp"
#include "opdrift/report/xlsx_sheet.hpp"

namespace opdrift::report {

namespace {

using verdict::Label;
using verdict::LedgerEntry;
using verdict::RunResult;
using verdict::TensorResult;

constexpr std::uint64_t kRowsPerPiece = 4096;
constexpr std::uint64_t kMostRows = kMaxSheetRows - 1;

/// A sheet: its header and how a row is written.
struct Sheet {
  std::string name;
  std::vector<std::pair<std::string, double>> columns;  ///< title, width
};

Look look_of(const TensorResult& tensor) {
  if (!tensor.measurement || (!tensor.judgement && !tensor.passed)) {
    return Look::bad;
  }
  if (!tensor.judgement) {
    return Look::good;
  }
  switch (tensor.judgement->label) {
    case Label::culprit: return Look::bad;
    case Label::victim: return Look::odd;
    case Label::drift: return Look::drift;
    case Label::watch: return Look::watch;
    case Label::healthy: return Look::good;
    case Label::unjudged: return tensor.passed ? Look::faint : Look::bad;
  }
  return Look::faint;
}

std::string_view word_of(const TensorResult& tensor) {
  if (!tensor.measurement) {
    return "not compared";
  }
  if (tensor.judgement && (tensor.judgement->label != Label::unjudged || tensor.passed)) {
    return verdict::to_string(tensor.judgement->label);
  }
  return tensor.passed ? "pass" : "fail";
}

Sheet tensor_sheet(const RunResult& result) {
  Sheet sheet{"Operators",
              {{"Order", 8},
               {"Label", 11},
               {"Operator", 44},
               {"Type", 16},
               {"Output", 9},
               {"Tensor", 24},
               {"Relative L2", 12},
               {"1 - cosine", 12},
               {"Max abs", 12}}};
  if (result.verdict) {
    sheet.columns.insert(sheet.columns.end(),
                         {{"Own error / budget", 12}, {"Error / depth", 12}, {"Evidence", 11}});
  }
  for (const std::string& name : result.metric_names) {
    sheet.columns.emplace_back(name, 12.0);
  }
  sheet.columns.insert(sheet.columns.end(), {{"What happened", 60},
                                             {"Explanation", 50},
                                             {"Elements", 12},
                                             {"Golden type", 12},
                                             {"Target type", 12},
                                             {"Shape", 18},
                                             {"Step", 12},
                                             {"Golden operator", 30},
                                             {"Golden file", 40},
                                             {"Target file", 40}});
  return sheet;
}

void write_numbers(const TensorResult& tensor, const RunResult& result, SheetWriter& out) {
  const auto& m = tensor.measurement;
  out.number(m ? m->relative_l2() : metrics::kNan, Look::scientific);
  out.number(m ? m->one_minus_cosine() : metrics::kNan, Look::scientific);
  out.number(m && m->max_abs.index != metrics::kNoIndex ? m->max_abs.value : metrics::kNan,
             Look::scientific);
  if (result.verdict) {
    const verdict::Judgement judgement = tensor.judgement.value_or(verdict::Judgement{});
    out.number(std::fmax(judgement.q_own, judgement.z), Look::ratio);
    out.number(judgement.q_cum, Look::ratio);
    out.text(tensor.judgement ? verdict::to_string(judgement.tier) : "");
  }
  for (std::size_t i = 0; i < result.metric_names.size(); ++i) {
    out.number(i < tensor.metric_values.size() ? tensor.metric_values[i].value : metrics::kNan,
               Look::scientific);
  }
}

void write_tensor(const TensorResult& tensor, const RunResult& result, SheetWriter& out) {
  out.number(static_cast<double>(tensor.order), Look::whole);
  out.text(word_of(tensor), look_of(tensor));
  out.text(tensor.operator_name);
  out.text(tensor.operator_type);
  out.text(tensor.role + " " + std::to_string(tensor.index));
  out.text(tensor.tensor_name);
  write_numbers(tensor, result, out);
  out.text(tensor.judgement ? tensor.judgement->sentence : tensor.reason);
  out.text(tensor.explanations.empty() ? "" : tensor.explanations.front().sentence);
  const auto& m = tensor.measurement;
  out.number(m ? static_cast<double>(m->count) : metrics::kNan, Look::whole);
  out.text(m ? tensor::name_of(m->golden.dtype) : "");
  out.text(m ? tensor::name_of(m->target.dtype) : "");
  out.text(tensor::to_string(tensor.golden_shape, "x"));
  out.text(tensor.step);
  out.text(tensor.golden_operator);
  out.text(tensor.golden_path);
  out.text(tensor.target_path);
}

void write_ledger_line(const LedgerEntry& entry, SheetWriter& out) {
  const bool fine =
      entry.state == verdict::LedgerState::compared || entry.state == verdict::LedgerState::equal;
  out.text(verdict::to_string(entry.side));
  out.text(verdict::to_string(entry.state), fine ? Look::plain : Look::odd);
  out.text(entry.tensor);
  out.text(entry.path);
  out.text(entry.reason);
}

/// The whole archive; sheets are numbered in the order they are written.
class Workbook {
 public:
  explicit Workbook(io::DeflateArchive archive) : archive_(std::move(archive)) {}

  /// A table of `count` rows, cut where a sheet is full.
  template <typename Row>
  Status table(const Sheet& sheet, std::size_t count, Row&& write) {
    std::size_t next = 0;
    do {
      const std::size_t last = std::min<std::size_t>(count, next + kMostRows);
      names_.push_back(next == 0 ? sheet.name : sheet.name + " " + std::to_string(names_.size()));
      SheetWriter out = begin(sheet);
      OPDRIFT_CHECK_OK(archive_.begin(sheet_part_name(names_.size() - 1)));
      for (; next < last; ++next) {
        out.begin_row();
        write(next, out);
        out.end_row();
        if (out.rows() % kRowsPerPiece == 0) {
          OPDRIFT_CHECK_OK(add(out.take()));
        }
      }
      OPDRIFT_CHECK_OK(add(out.finish()));
      OPDRIFT_CHECK_OK(archive_.end());
    } while (next < count);
    return Unit{};
  }

  Status sheet(const std::string& name, SheetWriter& out) {
    names_.push_back(name);
    return archive_.member(sheet_part_name(names_.size() - 1), out.finish());
  }

  Status finish() {
    for (auto& [name, content] : workbook_parts(names_)) {
      OPDRIFT_CHECK_OK(
          archive_.member(name, name == "xl/styles.xml" ? sheet_styles() : std::move(content)));
    }
    return archive_.finish();
  }

 private:
  static SheetWriter begin(const Sheet& sheet) {
    std::vector<double> widths;
    for (const auto& [title, width] : sheet.columns) {
      widths.push_back(width);
    }
    SheetWriter out(widths, true);
    out.begin_row();
    for (const auto& [title, width] : sheet.columns) {
      out.text(title, Look::header);
    }
    out.end_row();
    return out;
  }

  Status add(const std::string& text) {
    OPDRIFT_TRY(const io::DeflatedPiece piece, io::deflate_piece(text));
    return archive_.add(piece);
  }

  io::DeflateArchive archive_;
  std::vector<std::string> names_;
};

void line(SheetWriter& out, std::string_view title, std::string_view text) {
  out.begin_row();
  out.text(title, Look::header);
  out.text(text);
  out.end_row();
}

std::string totals_text(const verdict::LedgerTotals& totals) {
  std::string text = std::to_string(totals.all()) + " entries";
  const std::pair<const char*, std::uint64_t> parts[] = {
      {"compared", totals.compared},     {"equal", totals.equal},
      {"unmatched", totals.unmatched},   {"unreadable", totals.unreadable},
      {"superseded", totals.superseded}, {"ignored", totals.ignored},
      {"skipped", totals.skipped}};
  for (const auto& [name, count] : parts) {
    text += count > 0 ? ", " + std::to_string(count) + " " + name : "";
  }
  return text;
}

void write_labels(const RunResult& result, SheetWriter& out) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  std::vector<Look> looks;
  for (const TensorResult& tensor : result.tensors) {
    const std::string_view word = word_of(tensor);
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == word; });
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
      looks.push_back(look_of(tensor));
    } else {
      ++known->second;
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.begin_row();
    out.text(counts[i].first, looks[i]);
    out.number(static_cast<double>(counts[i].second), Look::whole);
    out.end_row();
  }
}

SheetWriter summary_sheet(const RunResult& result) {
  SheetWriter out({24, 120}, false);
  out.begin_row();
  const std::string word = result.verdict ? std::string(verdict::to_string(result.verdict->outcome))
                           : result.failed() > 0 ? "fail"
                                                 : "pass";
  out.text("opdrift: " + word, Look::title);
  out.end_row();
  if (result.verdict) {
    line(out, "Verdict", result.verdict->sentence);
  }
  if (const TensorResult* first = result.first_offender()) {
    line(out, result.verdict ? "First divergence" : "First over a limit", first->label());
    line(out, "What happened", first->reason);
    for (const verdict::Explanation& explanation : first->explanations) {
      line(out, "Explanation", explanation.sentence);
    }
  }
  line(out, "Rule", result.rule);
  line(out, "Target", result.target_path + " (" + result.target_kind + ")");
  line(out, "Golden", result.golden_path + " (" + result.golden_kind + ")");
  line(out, "Ledger of the target", totals_text(result.totals(verdict::RunSide::target)));
  line(out, "Ledger of the golden", totals_text(result.totals(verdict::RunSide::golden)));
  if (result.verdict) {
    for (const verdict::Finding& finding : result.verdict->findings) {
      line(out, "Finding", finding.sentence);
    }
  }
  if (!result.overflow.sentence.empty()) {
    line(out, "Overflow", result.overflow.sentence);
  }
  for (const verdict::RangeNote& note : result.overflow.headroom) {
    line(out, "Headroom", note.sentence);
  }
  for (const verdict::RangeNote& note : result.overflow.constants) {
    line(out, "Constant", note.sentence);
  }
  for (const std::string& note : result.notes) {
    line(out, "Remark", note);
  }
  write_labels(result, out);
  return out;
}

}  // namespace

Status write_xlsx(const RunResult& result, const std::string& path) {
  OPDRIFT_TRY(io::DeflateArchive archive, io::DeflateArchive::create(path));
  Workbook book(std::move(archive));
  SheetWriter summary = summary_sheet(result);
  OPDRIFT_CHECK_OK(book.sheet("Summary", summary));
  OPDRIFT_CHECK_OK(book.table(
      tensor_sheet(result), result.tensors.size(),
      [&](std::size_t row, SheetWriter& out) { write_tensor(result.tensors[row], result, out); }));
  const Sheet ledger{"Ledger",
                     {{"Side", 10}, {"State", 12}, {"Tensor", 44}, {"File", 60}, {"Reason", 60}}};
  OPDRIFT_CHECK_OK(book.table(ledger, result.ledger.size(), [&](std::size_t row, SheetWriter& out) {
    write_ledger_line(result.ledger[row], out);
  }));
  return book.finish();
}

}  // namespace opdrift::report
