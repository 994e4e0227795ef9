#include "opdrift/diagnose/offline/result_table.hpp"

#include <sys/stat.h>

#include <limits>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"

namespace opdrift::diagnose {

namespace {

/// Brings a row to `width` cells; `overflow` is the position of that column or -1.
void even_out(std::vector<std::string>& row, std::size_t width, int overflow) {
  if (overflow >= 0 && row.size() + 1 == width) {
    row.insert(row.begin() + overflow, std::string(report::kNoValue));
  }
  if (width > 0 && row.size() > width) {
    const auto tail = row.begin() + static_cast<std::ptrdiff_t>(width - 1);
    std::string last = join({tail, row.end()}, ",");
    row.resize(width - 1);
    row.push_back(std::move(last));
  }
  row.resize(width, std::string(report::kNoValue));
}

bool is_blank(const std::vector<std::string>& row) {
  return row.empty() || (row.size() == 1 && trim(row.front()).empty());
}

}  // namespace

Result<ResultTable> read_result_table(const std::string& path) {
  if (!path.ends_with(".csv")) {
    return Error{ErrorCode::invalid_argument, "expected a file ending in .csv", path};
  }
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 &&
      static_cast<std::uint64_t>(facts.st_size) > kMaxResultTable) {
    return Error{ErrorCode::limit, "expected at most 100 MiB of result table", path};
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  return parse_result_table(as_text(bytes.span), path);
}

Result<ResultTable> parse_result_table(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  ResultTable table;
  for (std::vector<std::string>& row : io::parse_csv(text)) {
    if (table.header.empty()) {
      table.header = std::move(row);
    } else if (!is_blank(row)) {
      table.rows.push_back(std::move(row));
    }
  }
  for (const char* column : {"Index", "NPUDump"}) {
    if (report::column_of(table, column) < 0) {
      return Error{ErrorCode::malformed,
                   "expected a result table, found no column " + std::string(column), path};
    }
  }
  const int overflow = report::column_of(table, "OverFlow");
  for (std::vector<std::string>& row : table.rows) {
    even_out(row, table.header.size(), overflow);
  }
  return table;
}

std::string render_result_table(const ResultTable& table) {
  std::string text = report::msaccucmp_line(table.header);
  for (const std::vector<std::string>& row : table.rows) {
    text += report::msaccucmp_line(row);
  }
  return text;
}

Status write_result_table(const std::string& path, const ResultTable& table) {
  return io::write_file(path, render_result_table(table));
}

ResultRows::ResultRows(const ResultTable& table) : table_(table) {
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    columns_.emplace(table.header[i], i);
  }
}

const std::string& ResultRows::cell(std::size_t row, std::string_view column) const {
  static const std::string kNone(report::kNoValue);
  const auto found = columns_.find(column);
  const std::vector<std::string>& cells = table_.rows[row];
  return found != columns_.end() && found->second < cells.size() ? cells[found->second] : kNone;
}

double ResultRows::number(std::size_t row, std::string_view column) const {
  return parse_double(trim(cell(row, column))).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace opdrift::diagnose
