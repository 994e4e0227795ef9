#include "opdrift/report/msaccucmp_csv.hpp"

#include "opdrift/report/csv_text.hpp"

namespace opdrift::report {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// True when some part behind a semicolon would be run, or the text itself.
bool looks_run(std::string_view text) {
  if (is_formula(text)) {
    return true;
  }
  for (std::size_t at = text.find(';'); at != std::string_view::npos; at = text.find(';', at + 1)) {
    if (is_formula(text.substr(at + 1))) {
      return true;
    }
  }
  return false;
}

void add_values(std::vector<std::string>& cells, const std::vector<std::string>& values,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    cells.push_back(i < values.size() ? values[i] : std::string(kNoValue));
  }
}

}  // namespace

std::string msaccucmp_cell(std::string_view text) {
  const std::string cell = csv_quoted(text);
  const bool is_quoted = cell.size() != text.size();
  return is_quoted || !looks_run(text) ? cell : '"' + cell + '"';
}

std::string msaccucmp_line(std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += i == 0 ? "" : ",";
    line += msaccucmp_cell(cells[i]);
  }
  line += kLineEnd;
  return line;
}

std::vector<std::string> msaccucmp_header(const MsaccucmpColumns& columns) {
  std::vector<std::string> names = {"Index"};
  const auto add_if = [&names](bool wanted, const char* name) {
    if (wanted) {
      names.emplace_back(name);
    }
  };
  add_if(columns.sequence, "OpSequence");
  names.insert(names.end(), {"OpType", "NPUDump", "DataType"});
  add_if(columns.target_address, "Address");
  names.insert(names.end(), {"GroundTruth", "DataType"});
  add_if(columns.golden_address, "Address");
  names.insert(names.end(), {"TensorIndex", "Shape"});
  add_if(columns.overflow, "OverFlow");
  names.insert(names.end(), columns.algorithms.begin(), columns.algorithms.end());
  names.emplace_back("CompareFailReason");
  return names;
}

std::vector<std::string> msaccucmp_cells(const MsaccucmpColumns& columns, const MsaccucmpRow& row) {
  std::vector<std::string> cells = {std::to_string(row.index)};
  if (columns.sequence) {
    cells.push_back(row.sequence ? std::to_string(*row.sequence) : std::string(kNoValue));
  }
  cells.insert(cells.end(), {row.op_type, row.target, row.target_dtype});
  if (columns.target_address) {
    cells.push_back(row.target_address);
  }
  cells.insert(cells.end(), {row.golden, row.golden_dtype});
  if (columns.golden_address) {
    cells.push_back(row.golden_address);
  }
  cells.insert(cells.end(), {row.tensor, row.shape});
  if (columns.overflow && !row.lacks_overflow) {
    cells.push_back(row.overflow);
  }
  add_values(cells, row.values, columns.algorithms.size());
  cells.push_back(row.reason);
  return cells;
}

std::string render_msaccucmp(const MsaccucmpColumns& columns, std::span<const MsaccucmpRow> rows) {
  std::string text = msaccucmp_line(msaccucmp_header(columns));
  for (const MsaccucmpRow& row : rows) {
    text += msaccucmp_line(msaccucmp_cells(columns, row));
  }
  return text;
}

std::string render_msaccucmp_mapping(bool sequence, std::span<const MsaccucmpMapping> rows) {
  std::vector<std::string> header = {"Index"};
  if (sequence) {
    header.emplace_back("OpSequence");
  }
  header.insert(header.end(), {"OpType", "NPUDump", "GroundTruth", "TensorIndex", "NPUDumpPath",
                               "GroundTruthPath"});
  std::string text = msaccucmp_line(header);
  for (const MsaccucmpMapping& row : rows) {
    std::vector<std::string> cells = {std::to_string(row.index)};
    if (sequence) {
      cells.push_back(row.sequence ? std::to_string(*row.sequence) : std::string(kNoValue));
    }
    cells.insert(cells.end(), {row.op_type, row.target, row.golden, row.tensor, row.target_path,
                               row.golden_path});
    text += msaccucmp_line(cells);
  }
  return text;
}

std::string render_msaccucmp_torch(std::span<const std::string> algorithms,
                                   std::span<const MsaccucmpTorchRow> rows) {
  std::vector<std::string> header = {"Index",           "NPUDump",  "NPUDumpPath",
                                     "GroundTruthPath", "DataType", "Shape"};
  header.insert(header.end(), algorithms.begin(), algorithms.end());
  header.emplace_back("CompareFailReason");
  std::string text = msaccucmp_line(header);
  for (const MsaccucmpTorchRow& row : rows) {
    std::vector<std::string> cells = {std::to_string(row.index), row.target, row.target_path,
                                      row.golden_path,           row.dtype,  row.shape};
    add_values(cells, row.values, algorithms.size());
    cells.push_back(row.reason);
    text += msaccucmp_line(cells);
  }
  return text;
}

std::string render_file_result(std::span<const std::string> algorithms,
                               std::span<const std::string> values) {
  std::string text;
  for (std::size_t i = 0; i < algorithms.size() && i < values.size(); ++i) {
    text += algorithms[i] + ": " + values[i] + "\n";
  }
  return text;
}

}  // namespace opdrift::report
