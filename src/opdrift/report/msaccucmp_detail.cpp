#include "opdrift/report/msaccucmp_detail.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <queue>

#include "opdrift/base/text.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::report {

namespace {

constexpr std::uint64_t kChunk = 4096;
constexpr std::size_t kFlushBytes = 1 << 16;
constexpr std::size_t kShownAxes = 4;
constexpr std::size_t kScratchBytesPerElement = 16;

void append_fixed(std::string& text, double value) {
  std::array<char, 400> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, 6);
  // The sign of a NaN is noise.
  text += std::isnan(value)
              ? std::string_view("nan")
              : std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()));
}

std::string fixed(double value) {
  std::string text;
  append_fixed(text, value);
  return text;
}

/// One pair of elements with its errors.
struct Line {
  std::uint64_t index = 0;
  double target = 0.0;
  double golden = 0.0;
  double absolute = 0.0;
  double relative = 0.0;
};

/// Row-major coordinates of a flat index, counted up line by line.
class Coordinates {
 public:
  explicit Coordinates(tensor::Shape shape) : shape_(std::move(shape)) {
    while (shape_.size() < kShownAxes) {
      shape_.push_back(1);
    }
    position_.assign(shape_.size(), 0);
  }

  void set(std::uint64_t index) {
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      const std::uint64_t extent = std::max<std::uint64_t>(shape_[axis], 1);
      position_[axis] = index % extent;
      index /= extent;
    }
  }

  void append(std::string& text) const {
    for (std::size_t axis = 0; axis < position_.size(); ++axis) {
      text += axis == 0 ? "" : " ";
      text += std::to_string(position_[axis]);
    }
  }

 private:
  tensor::Shape shape_;
  std::vector<std::uint64_t> position_;
};

/// The `limit` lines with the largest (error, index).
class WorstLines {
 public:
  explicit WorstLines(std::size_t limit) : limit_(limit) {}

  void offer(double error, const Line& line) {
    if (limit_ == 0 || (lines_.size() == limit_ && !(Entry{error, line} > lines_.top()))) {
      return;
    }
    lines_.push({error, line});
    if (lines_.size() > limit_) {
      lines_.pop();
    }
  }

  std::vector<Line> take() {
    std::vector<Line> worst;
    for (; !lines_.empty(); lines_.pop()) {
      worst.push_back(lines_.top().line);
    }
    std::reverse(worst.begin(), worst.end());
    return worst;
  }

 private:
  struct Entry {
    double error = 0.0;
    Line line;

    bool operator>(const Entry& other) const {
      return error != other.error ? error > other.error : line.index > other.line.index;
    }
  };

  std::size_t limit_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> lines_;
};

/// Smallest and largest of the values offered.
struct Extremes {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  bool any = false;

  void offer(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
    any = true;
  }
  std::string min_text() const { return any ? fixed(min) : "nan"; }
  std::string max_text() const { return any ? fixed(max) : "nan"; }
};

class Lister {
 public:
  Lister(const tensor::View& target, const tensor::View& golden, const tensor::Shape& shape,
         const DetailOptions& options, const DetailSink& sink)
      : target_(target),
        golden_(golden),
        options_(options),
        sink_(sink),
        coordinates_(shape),
        worst_absolute_(options.worst_rows),
        worst_relative_(options.worst_rows),
        bool_(target.tensor.desc.dtype == tensor::DType::boolean &&
              golden.tensor.desc.dtype == tensor::DType::boolean) {}

  Result<Detail> run();

 private:
  Status chunk(std::uint64_t first, std::uint64_t count);
  Status list(const Line& line);
  Status flush();
  void decode(const tensor::View& view, std::uint64_t first, std::uint64_t count,
              std::vector<double>& out);
  void judge(const Line& line);
  double rank_absolute(const Line& line) const;
  double rank_relative(const Line& line) const;
  std::string worst_row(const Line& line);
  void append_place(std::string& text, std::uint64_t index);

  const tensor::View& target_;
  const tensor::View& golden_;
  const DetailOptions& options_;
  const DetailSink& sink_;
  Coordinates coordinates_;
  WorstLines worst_absolute_;
  WorstLines worst_relative_;
  Extremes absolute_;
  Extremes relative_;
  bool bool_;
  std::vector<Line> first_lines_;
  std::vector<double> target_values_;
  std::vector<double> golden_values_;
  std::vector<std::byte> scratch_;
  std::string text_;
};

Result<Detail> Lister::run() {
  Detail detail;
  detail.count = target_.count();
  for (std::uint64_t first = 0; first < detail.count; first += kChunk) {
    OPDRIFT_CHECK_OK(chunk(first, std::min(kChunk, detail.count - first)));
  }
  if (options_.listing && detail.count == 0) {
    OPDRIFT_CHECK_OK(sink_.begin_file(0));
  }
  OPDRIFT_CHECK_OK(flush());
  detail.min_absolute = bool_ ? "-" : absolute_.min_text();
  detail.max_absolute = bool_ ? "-" : absolute_.max_text();
  detail.min_relative = bool_ ? "-" : relative_.min_text();
  detail.max_relative = bool_ ? "-" : relative_.max_text();
  for (const Line& line : bool_ ? first_lines_ : worst_absolute_.take()) {
    detail.worst_absolute.push_back(worst_row(line));
  }
  for (const Line& line : bool_ ? first_lines_ : worst_relative_.take()) {
    detail.worst_relative.push_back(worst_row(line));
  }
  return detail;
}

void Lister::decode(const tensor::View& view, std::uint64_t first, std::uint64_t count,
                    std::vector<double>& out) {
  const tensor::DType dtype = view.tensor.desc.dtype;
  scratch_.resize(kChunk * kScratchBytesPerElement);
  out.resize(kChunk);
  tensor::gather(view, first, count, scratch_.data());
  tensor::decode_to_double(dtype, scratch_.data(), 0, count, out.data());
}

Status Lister::chunk(std::uint64_t first, std::uint64_t count) {
  decode(target_, first, count, target_values_);
  decode(golden_, first, count, golden_values_);
  for (std::uint64_t i = 0; i < count; ++i) {
    Line line;
    line.index = first + i;
    line.target = target_values_[i];
    line.golden = golden_values_[i];
    line.absolute = std::abs(line.target - line.golden);
    line.relative = line.absolute / std::abs(line.golden);
    judge(line);
    if (options_.listing) {
      OPDRIFT_CHECK_OK(list(line));
    }
  }
  return Unit{};
}

void Lister::judge(const Line& line) {
  if (bool_) {
    if (first_lines_.size() < options_.worst_rows) {
      first_lines_.push_back(line);
    }
    return;
  }
  const double absolute = rank_absolute(line);
  const double relative = rank_relative(line);
  worst_absolute_.offer(absolute, line);
  worst_relative_.offer(relative, line);
  if (!(absolute < 0)) {
    absolute_.offer(absolute);
  }
  if (!(relative < 0)) {
    relative_.offer(relative);
  }
}

/// A nan is no size: last of all, or the reference's 0.
double Lister::rank_absolute(const Line& line) const {
  const double nothing = options_.reference ? 0.0 : -1.0;
  return std::isnan(line.absolute) ? nothing : line.absolute;
}

double Lister::rank_relative(const Line& line) const {
  if (options_.reference && line.golden == 0.0) {
    return 0.0;
  }
  const double nothing = options_.reference ? 0.0 : -1.0;
  return std::isnan(line.relative) ? nothing : line.relative;
}

void Lister::append_place(std::string& text, std::uint64_t index) {
  text += std::to_string(index);
  text += ',';
  coordinates_.set(index);
  coordinates_.append(text);
}

Status Lister::list(const Line& line) {
  if (line.index % options_.lines_per_file == 0) {
    OPDRIFT_CHECK_OK(flush());
    OPDRIFT_CHECK_OK(sink_.begin_file(line.index));
    text_ = detail_head(options_);
  }
  append_place(text_, line.index);
  if (bool_) {
    text_ += line.target != 0.0 ? ",True\t" : ",False\t";
    text_ += line.golden != 0.0 ? ",True\t" : ",False\t";
    text_ += ",-\t,-\n";
  } else {
    for (const double value : {line.target, line.golden, line.absolute}) {
      text_ += ',';
      append_fixed(text_, value);
      text_ += '\t';
    }
    text_ += ',';
    if (std::isfinite(line.relative)) {
      append_fixed(text_, line.relative);
      text_ += '\t';
    } else {
      text_ += '-';
    }
    text_ += '\n';
  }
  return text_.size() < kFlushBytes ? Status(Unit{}) : flush();
}

Status Lister::flush() {
  if (!text_.empty()) {
    OPDRIFT_CHECK_OK(sink_.write(text_));
    text_.clear();
  }
  return Unit{};
}

std::string Lister::worst_row(const Line& line) {
  std::string text;
  append_place(text, line.index);
  if (bool_) {
    text += line.target != 0.0 ? ",True\t" : ",False\t";
    text += line.golden != 0.0 ? ",True\t" : ",False\t";
    return text + ",-\t,-\t";
  }
  for (const double value : {line.target, line.golden, line.absolute, line.relative}) {
    text += "," + (std::isfinite(value) ? fixed(value) : std::string("-")) + "\t";
  }
  return text;
}

Status check_decodable(const tensor::View& view) {
  const tensor::DTypeInfo& dtype = tensor::info(view.tensor.desc.dtype);
  if (dtype.decodable) {
    return Unit{};
  }
  return Error{ErrorCode::unsupported_dtype,
               "expected numbers, found elements of type " + std::string(dtype.name)};
}

}  // namespace

Result<Detail> list_detail(const tensor::View& target, const tensor::View& golden,
                           const tensor::Shape& shape, const DetailOptions& options,
                           const DetailSink& sink) {
  if (target.count() != golden.count()) {
    return Error{ErrorCode::mismatch, "expected " + std::to_string(golden.count()) +
                                          " elements, found " + std::to_string(target.count())};
  }
  OPDRIFT_CHECK_OK(check_decodable(target));
  OPDRIFT_CHECK_OK(check_decodable(golden));
  return Lister(target, golden, shape, options, sink).run();
}

std::string detail_head(const DetailOptions& options) {
  return "Index," + options.format + ",NPUDump,GroundTruth,AbsoluteError,RelativeError\n";
}

std::string render_detail_summary(const Detail& detail, const std::string& target,
                                  const std::string& golden, const DetailOptions& options) {
  return "TotalCount:" + std::to_string(detail.count) +
         "\nNPUDump:" + replace_all(target, ",", " ") +
         "\nGroundTruth:" + replace_all(golden, ",", " ") + "\nFormat:" + options.format +
         "\nMinAbsoluteError:" + detail.min_absolute + "\nMaxAbsoluteError:" + detail.max_absolute +
         "\nMinRelativeError:" + detail.min_relative + "\nMaxRelativeError:" + detail.max_relative +
         "\n";
}

std::string render_detail_table(const DetailOptions& options,
                                const std::vector<std::string>& rows) {
  std::vector<std::vector<std::string>> table;
  std::string head = detail_head(options);
  head.pop_back();
  std::vector<std::string> lines = {head};
  lines.insert(lines.end(), rows.begin(), rows.end());
  std::vector<std::size_t> widths;
  for (const std::string& line : lines) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, ',')) {
      cells.emplace_back(trim(cell));
      widths.resize(std::max(widths.size(), cells.size()), 0);
      widths[cells.size() - 1] = std::max(widths[cells.size() - 1], cells.back().size());
    }
    table.push_back(std::move(cells));
  }
  std::string text;
  for (const std::vector<std::string>& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += (i == 0 ? "" : "\t") + cells[i] + std::string(widths[i] - cells[i].size(), ' ');
    }
    text += '\n';
  }
  return text;
}

std::string detail_format(std::string_view layout, std::size_t rank) {
  if (rank == 0) {
    return "ID";
  }
  std::string text;
  for (const char axis : layout) {
    text += (text.empty() ? "" : " ");
    text += axis;
  }
  return text;
}

}  // namespace opdrift::report
