#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/pipeline/stats/array_summary.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/tensors.hpp"
#include "opdrift/shell/workspace/arrays.hpp"
#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::shell {

namespace {

constexpr std::uint64_t kBlock = 65536;

constexpr OptionSpec kOptions[] = {
    {"-p", "--print", "N", "rows of the tables; 20 by default"},
    {"-s", "--save", "", "write both arrays as text too"},
    {"-al", "--absolute", "LIMIT", "absolute part of what is allowed; 0.001 by default"},
    {"-rl", "--relative", "LIMIT", "part of the right value that is allowed; 0.001 by default"},
};

struct Limits {
  double absolute = 0.001;
  double relative = 0.001;
  std::size_t rows = 20;
};

/// What the walk over two arrays found.
struct PairNumbers {
  std::uint64_t count = 0;
  std::uint64_t errors = 0;
  double dot = 0.0;
  double left_square = 0.0;
  double right_square = 0.0;
  Table error_table{"Error Item Table", {"Index", "Left", "Right", "Diff"}, {}};
  Table top_table{"Top Item Table", {"Index", "Left", "Right", "Diff"}, {}};

  double cosine() const { return dot / (std::sqrt(left_square) * std::sqrt(right_square)); }
  double error_share() const {
    return count == 0 ? 0.0 : static_cast<double>(errors) / static_cast<double>(count);
  }
};

std::vector<Span> row_of(std::uint64_t index, float left, float right, float diff) {
  return {Span{std::to_string(index), Tone::green}, Span{pipeline::numpy_text(left)},
          Span{pipeline::numpy_text(right)}, Span{pipeline::numpy_text(diff)}};
}

void look_at(std::uint64_t index, float left, float right, const Limits& limits,
             PairNumbers& numbers) {
  const float diff = left == right ? 0.0F : std::abs(left - right);
  const float allowed =
      static_cast<float>(limits.absolute) + static_cast<float>(limits.relative) * std::abs(right);
  const bool close = left == right || diff <= allowed;  // NaN is never close
  if (index < limits.rows) {
    numbers.top_table.rows.push_back(row_of(index, left, right, diff));
  }
  if (!close) {
    if (numbers.errors < limits.rows) {
      numbers.error_table.rows.push_back(row_of(index, left, right, diff));
    }
    ++numbers.errors;
  }
  numbers.dot += static_cast<double>(left) * static_cast<double>(right);
  numbers.left_square += static_cast<double>(left) * static_cast<double>(left);
  numbers.right_square += static_cast<double>(right) * static_cast<double>(right);
}

/// The next values of an array; zeros behind its end.
void read_padded(const ArrayFile& array, std::uint64_t first, std::vector<float>& values,
                 std::vector<float>& scratch) {
  std::fill(values.begin(), values.end(), 0.0F);
  const std::uint64_t left = array.count() > first ? array.count() - first : 0;
  scratch.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, values.size())));
  array.read(first, scratch);
  std::copy(scratch.begin(), scratch.end(), values.begin());
}

Result<PairNumbers> walk(const Session& session, const ArrayFile& left, const ArrayFile& right,
                         const Limits& limits) {
  PairNumbers numbers;
  numbers.count = std::max(left.count(), right.count());
  std::vector<float> scratch;
  for (std::uint64_t first = 0; first < numbers.count; first += kBlock) {
    if (session.stopping()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    const auto size = static_cast<std::size_t>(std::min(kBlock, numbers.count - first));
    std::vector<float> left_values(size);
    std::vector<float> right_values(size);
    read_padded(left, first, left_values, scratch);
    read_padded(right, first, right_values, scratch);
    for (std::size_t k = 0; k < size; ++k) {
      look_at(first + k, left_values[k], right_values[k], limits, numbers);
    }
  }
  return numbers;
}

void warn_of_shapes(Session& session, const ArrayFile& left, const ArrayFile& right) {
  if (left.shape() != right.shape()) {
    session.screen.warn("the shapes differ: [" + tensor::to_string(left.shape()) + "] and [" +
                        tensor::to_string(right.shape()) + "]");
  }
  if (left.count() != right.count()) {
    session.screen.warn("the sizes differ: " + std::to_string(left.count()) + " and " +
                        std::to_string(right.count()) +
                        " elements; the shorter is continued with zeros");
  }
}

/// Lines on one side. The text file is written when it is asked for.
Status add_side(Session& session, const std::string& title, const ArrayFile& array, bool save,
                Lines& lines) {
  const Paper& paper = session.screen.paper();
  lines.push_back(text_line(title));
  lines.push_back({{std::string(paper.branch()) + "NpyFile: "}, {array.path(), Tone::green}});
  if (save) {
    OPDRIFT_TRY(const std::string path, save_values(session, array));
    lines.push_back({{std::string(paper.branch()) + "TxtFile: "}, {path, Tone::green}});
  }
  lines.push_back({{std::string(paper.last_branch()) + "NpySpec: "},
                   {statistics_of(array.path()), Tone::yellow}});
  return Unit{};
}

std::string limits_text(const Limits& limits) {
  return "  (rl= " + graph::python_float(limits.relative) +
         ", al= " + graph::python_float(limits.absolute) + ")";
}

Status run(Session& session, const CommandLine& line) {
  Limits limits;
  OPDRIFT_TRY(limits.rows, line.count("-p", limits.rows));
  OPDRIFT_TRY(limits.absolute, line.number("-al", limits.absolute));
  OPDRIFT_TRY(limits.relative, line.number("-rl", limits.relative));
  OPDRIFT_TRY(const std::string left_path, find_array(session, line.names()[0]));
  OPDRIFT_TRY(const std::string right_path, find_array(session, line.names()[1]));
  OPDRIFT_TRY(const ArrayFile left, ArrayFile::open(left_path));
  OPDRIFT_TRY(const ArrayFile right, ArrayFile::open(right_path));
  warn_of_shapes(session, left, right);
  OPDRIFT_TRY(const PairNumbers numbers, walk(session, left, right, limits));
  const Paper& paper = session.screen.paper();
  session.screen.print(
      side_by_side({render(numbers.error_table, paper), render(numbers.top_table, paper)}, paper));
  Lines lines;
  OPDRIFT_CHECK_OK(add_side(session, "Left:", left, line.has("-s"), lines));
  OPDRIFT_CHECK_OK(add_side(session, "Right:", right, line.has("-s"), lines));
  const bool close = numbers.errors == 0;
  lines.push_back({{"NumCnt:   "}, {std::to_string(numbers.count)}});
  lines.push_back({{"AllClose: "}, {close ? "True" : "False", close ? Tone::green : Tone::red}});
  lines.push_back({{"CosSim:   "}, {graph::python_float(numbers.cosine()), Tone::green}});
  lines.push_back({{"ErrorPer: "},
                   {graph::python_float(numbers.error_share()), Tone::yellow},
                   {limits_text(limits)}});
  session.screen.print_panel(text_line(""), lines);
  return Unit{};
}

}  // namespace

ShellCommand cp_command() {
  return {.name = "cp",
          .summary = "Compares two tensors element by element.",
          .syntax = {.options = kOptions,
                     .names = "LEFT RIGHT",
                     .least_names = 2,
                     .most_names = 2,
                     .name_kind = NameKind::tensors},
          .run = &run,
          .help =
              "An element is an error when |left - right| exceeds al + rl * |right|; NaN always "
              "does. Names are paths, or names of arrays below temp, then of the golden."};
}

}  // namespace opdrift::shell
