#include "opdrift/pipeline/stats/stats_csv.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/ascend/mapping.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kStart = "tensor,dtype,shape,min,max,mean,rms,";

std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

using Cells = std::vector<std::string>;

/// One line, by the names of the columns.
class Line {
 public:
  Line(const std::map<std::string, std::size_t, std::less<>>& columns, const Cells& cells)
      : columns_(columns), cells_(cells) {}

  std::string_view text(std::string_view name) const {
    const auto column = columns_.find(name);
    return column == columns_.end() || column->second >= cells_.size()
               ? std::string_view()
               : trim(cells_[column->second]);
  }
  double number(std::string_view name) {
    const auto value = graph::python_number(text(name));
    return value ? *value : note(name);
  }
  std::uint64_t count(std::string_view name) {
    const auto value = parse_u64(text(name));
    if (!value) {
      note(name);
    }
    return value.value_or(0);
  }
  double note(std::string_view name) {
    wrong_ = wrong_.empty() ? std::string(name) : wrong_;
    return 0.0;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const std::map<std::string, std::size_t, std::less<>>& columns_;
  const Cells& cells_;
  std::string wrong_;
};

/// "1x64x56"; "" is one element.
std::optional<tensor::Shape> shape_of(std::string_view text) {
  tensor::Shape shape;
  for (const std::string_view part : split(text, 'x')) {
    const auto extent = parse_u64(part);
    if (!extent && !text.empty()) {
      return std::nullopt;
    }
    if (extent) {
      shape.push_back(*extent);
    }
  }
  return tensor::element_count(shape) ? std::optional(shape) : std::nullopt;
}

std::string_view without_apostrophe(std::string_view text) {
  const bool guarded = text.size() > 1 && text[0] == '\'' &&
                       std::string_view("=+-@").find(text[1]) != std::string_view::npos;
  return guarded ? text.substr(1) : text;
}

TensorRecord record_of(Line& line) {
  TensorRecord tensor;
  if (!read_label(without_apostrophe(line.text("tensor")), tensor)) {
    line.note("tensor");
  }
  tensor.dtype = line.text("dtype");
  if (const auto shape = shape_of(line.text("shape"))) {
    tensor.shape = *shape;
    tensor.count = tensor::element_count(*shape).value_or(0U);
  } else {
    line.note("shape");
  }
  tensor.min = line.number("min");
  tensor.max = line.number("max");
  tensor.mean = line.number("mean");
  tensor.nan = line.count("nan");
  tensor.positive_inf = line.count("positive_inf");
  tensor.negative_inf = line.count("negative_inf");
  tensor.zero = line.count("zero");
  tensor.subnormal = line.count("subnormal");
  const std::uint64_t others = tensor.nan + tensor.positive_inf + tensor.negative_inf;
  tensor.l2 = line.number("rms") *
              std::sqrt(static_cast<double>(tensor.count - std::min(tensor.count, others)));
  return tensor;
}

}  // namespace

bool is_stats_csv(std::string_view head) {
  return without_mark(head).starts_with(kStart);
}

Result<FileRecord> read_stats_csv(const std::string& path) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  const std::vector<Cells> rows = io::parse_csv(without_mark(as_text(file->bytes())));
  std::map<std::string, std::size_t, std::less<>> columns;
  for (std::size_t i = 0; !rows.empty() && i < rows.front().size(); ++i) {
    columns.emplace(std::string(trim(rows.front()[i])), i);
  }
  FileRecord record;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Line line(columns, rows[i]);
    if (line.text("tensor").empty() || !line.text("problem").empty()) {
      continue;
    }
    TensorRecord tensor = record_of(line);
    if (!line.wrong().empty()) {
      return Error{ErrorCode::malformed,
                   "line " + std::to_string(i + 1) + " lacks a proper '" + line.wrong() + "'",
                   path};
    }
    record.tensors.push_back(std::move(tensor));
  }
  return record;
}

}  // namespace opdrift::pipeline
