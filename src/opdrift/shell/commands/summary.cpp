#include "opdrift/shell/commands/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/shell/commands/python_text.hpp"

namespace opdrift::shell {

namespace {

constexpr std::string_view kPrefix = "result_";
constexpr std::string_view kSuffix = ".csv";
constexpr std::size_t kMostTensors = 100'000;  ///< of one operator

using Row = std::vector<std::string>;

std::optional<std::size_t> column_of(const Row& head, std::string_view name,
                                     std::string_view other = {}) {
  for (std::size_t c = 0; c < head.size(); ++c) {
    const std::string_view title = trim(head[c]);
    if (title == name || (!other.empty() && title == other)) {
      return c;
    }
  }
  return std::nullopt;
}

struct Columns {
  std::optional<std::size_t> index;
  std::size_t left = 1;
  std::size_t right = 2;
  std::size_t tensor = 0;
  std::size_t cosine = 0;
};

Result<Columns> columns_of(const Row& head) {
  const auto tensor = column_of(head, "TensorIndex");
  const auto cosine = column_of(head, "CosineSimilarity");
  if (!tensor || !cosine) {
    return Error{ErrorCode::malformed,
                 "expected columns TensorIndex and CosineSimilarity, found '" +
                     printable(join(head, ",").substr(0, 120)) + "'"};
  }
  Columns columns;
  columns.index = column_of(head, "Index");
  columns.left = column_of(head, "LeftOp", "NPUDump").value_or(columns.left);
  columns.right = column_of(head, "RightOp", "GroundTruth").value_or(columns.right);
  columns.tensor = *tensor;
  columns.cosine = *cosine;
  return columns;
}

std::string cell(const Row& row, std::size_t column) {
  return column < row.size() ? row[column] : std::string();
}

double cosine_of(const std::string& text) {
  return graph::python_number(text).value_or(std::nan(""));
}

/// A TensorIndex taken apart.
struct TensorPlace {
  std::string name;
  bool output = true;
  std::size_t number = 0;
};

Result<TensorPlace> place_of(const std::string& text, std::size_t line) {
  const std::vector<std::string_view> parts = split(text, ':');
  const auto number = parts.size() == 3 ? parse_u64(parts[2]) : std::nullopt;
  if (!number || *number >= kMostTensors || (parts[1] != "input" && parts[1] != "output")) {
    return Error{ErrorCode::malformed, "line " + std::to_string(line) +
                                           ": expected a TensorIndex as name:output:0, found '" +
                                           printable(text) + "'"};
  }
  return TensorPlace{std::string(parts[0]), parts[1] == "output",
                     static_cast<std::size_t>(*number)};
}

void set_cosine(ComparedOperator& op, const TensorPlace& place, double cosine) {
  std::vector<std::optional<double>>& list = place.output ? op.outputs : op.inputs;
  if (list.size() <= place.number) {
    list.resize(place.number + 1);
  }
  list[place.number] = cosine;
}

/// Names of a cell, which are joined by blanks.
std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ' ')) {
    if (!name.empty()) {
      names.emplace_back(name);
    }
  }
  return names;
}

Line cosine_line(const std::vector<std::optional<double>>& values, double limit) {
  Line line;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!values[k]) {
      continue;
    }
    const double value = *values[k];
    const Tone tone = std::isnan(value) ? Tone::yellow : value <= limit ? Tone::red : Tone::green;
    line.push_back({(line.empty() ? " - [" : "\t - [") + std::to_string(k) + "]"});
    line.push_back({graph::python_float(value), tone});
  }
  return line;
}

void show_operator(Session& session, const ComparedOperator& op, double limit) {
  session.screen.print_panel(
      Line{{"[" + op.index + "]", Tone::green}, {" " + op.name}},
      {text_line("Left:  " + python_list(op.left)), text_line("Right: " + python_list(op.right)),
       text_line("Input: "), cosine_line(op.inputs, limit), text_line("Output:"),
       cosine_line(op.outputs, limit)});
}

std::optional<std::uint64_t> table_number(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  return parse_u64(name);
}

}  // namespace

bool ComparedOperator::bad(double limit) const {
  return std::any_of(outputs.begin(), outputs.end(), [limit](const std::optional<double>& value) {
    return value && *value <= limit;
  });
}

Result<std::vector<ComparedOperator>> parse_result_table(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::vector<Row> rows = io::parse_csv(text);
  if (rows.empty()) {
    return Error{ErrorCode::malformed, "expected a result table, found an empty file"};
  }
  OPDRIFT_TRY(const Columns columns, columns_of(rows.front()));
  std::vector<ComparedOperator> operators;
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::string tensor(trim(cell(rows[r], columns.tensor)));
    if (tensor.empty() || tensor == "NaN" || tensor == "*") {
      continue;
    }
    OPDRIFT_TRY(const TensorPlace place, place_of(tensor, r + 1));
    const auto [entry, fresh] = known.emplace(place.name, operators.size());
    if (fresh) {
      ComparedOperator op;
      op.index = columns.index ? cell(rows[r], *columns.index) : std::to_string(operators.size());
      op.name = place.name;
      op.left = names_of(cell(rows[r], columns.left));
      op.right = names_of(cell(rows[r], columns.right));
      operators.push_back(std::move(op));
    }
    set_cosine(operators[entry->second], place, cosine_of(cell(rows[r], columns.cosine)));
  }
  return operators;
}

Result<std::vector<ComparedOperator>> read_result_table(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  return io::in_file(parse_result_table(as_text(bytes.span)), path);
}

Result<std::vector<std::string>> result_tables(const std::string& path) {
  if (is_file(path)) {
    return std::vector<std::string>{path};
  }
  OPDRIFT_TRY(const std::vector<std::string> names, io::list_files(path));
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const std::string& name : names) {
    if (const auto number = table_number(name)) {
      found.emplace_back(*number, path + "/" + name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, table] : found) {
    paths.push_back(std::move(table));
  }
  if (paths.empty()) {
    return Error{ErrorCode::not_found, "expected result_<number>.csv, found none", path};
  }
  return paths;
}

Result<std::string> newest_results(const Workspace& workspace) {
  const std::string folder = workspace.path("temp/vector_compare");
  if (const auto newest = newest_folder(folder)) {
    return *newest;
  }
  return Error{ErrorCode::not_found, "expected results of a comparison; 'vc' makes them", folder};
}

Status show_summary(Session& session, const SummaryRequest& request) {
  std::string path = request.path;
  if (path.empty()) {
    OPDRIFT_TRY(path, newest_results(session.workspace));
  }
  OPDRIFT_TRY(const std::vector<std::string> tables, result_tables(path));
  const std::string limit = graph::python_float(request.limit);
  std::vector<ComparedOperator> shown;
  for (const std::string& table : tables) {
    OPDRIFT_TRY(std::vector<ComparedOperator> operators, read_result_table(table));
    std::size_t found = 0;
    for (ComparedOperator& op : operators) {
      if (op.bad(request.limit) && found++ < request.most) {
        shown.push_back(std::move(op));
      }
    }
    session.screen.note("Find " + std::to_string(found) + " ops less then " + limit + " in " +
                        table);
  }
  if (shown.empty()) {
    session.screen.note("Can not find any compare result over threshold: " + limit);
    return Unit{};
  }
  shown.resize(std::min(shown.size(), request.most));
  for (const ComparedOperator& op : shown) {
    show_operator(session, op, request.limit);
  }
  session.screen.print(wrapped(
      text_line("Look at the first one first: later operators may only inherit its error. A "
                "high cosine does not prove that a result is right.",
                Tone::faint),
      session.screen.paper().columns));
  return Unit{};
}

std::map<std::string, double> known_verdicts(const Workspace& workspace) {
  std::map<std::string, double> verdicts;
  const Result<std::string> folder = newest_results(workspace);
  const auto tables = folder.has_value() ? result_tables(*folder)
                                         : Result<std::vector<std::string>>(folder.error());
  if (!tables.has_value()) {
    return verdicts;
  }
  for (const std::string& table : *tables) {
    const auto operators = read_result_table(table);
    if (!operators.has_value()) {
      continue;
    }
    for (const ComparedOperator& op : *operators) {
      for (const std::optional<double>& value : op.outputs) {
        if (value && !std::isnan(*value)) {
          const auto [entry, fresh] = verdicts.emplace(op.name, *value);
          entry->second = std::min(entry->second, *value);
        }
      }
    }
  }
  return verdicts;
}

}  // namespace opdrift::shell
