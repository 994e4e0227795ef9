#include "opdrift/diagnose/offline/added_columns.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

/// The position of a column, added when it is missing.
std::size_t place_for(ResultTable& table, const std::string& name) {
  const int found = report::column_of(table, name);
  if (found >= 0) {
    return static_cast<std::size_t>(found);
  }
  table.header.push_back(name);
  for (std::vector<std::string>& row : table.rows) {
    row.resize(table.header.size());
  }
  return table.header.size() - 1;
}

const char* yes_or_no(bool yes) {
  return yes ? "YES" : "NO";
}

}  // namespace

bool is_precision_error(const ResultRows& rows, std::size_t row) {
  const std::string& type = rows.cell(row, "OpType");
  if (type == "Data" || type == "TransData" || type == "PartitionCall" ||
      std::isnan(rows.number(row, kMonitors.front().column))) {
    return false;
  }
  return std::any_of(kMonitors.begin(), kMonitors.end(), [&](const Monitor& monitor) {
    const double value = rows.number(row, monitor.column);
    return monitor.small_is_bad ? value < monitor.limit : value > monitor.limit;
  });
}

void add_columns(ResultTable& table, const std::set<std::string>& output_nodes) {
  const std::size_t npu_only = place_for(table, "IsNpuOps");
  const std::size_t output = place_for(table, "IsOutputNode");
  const std::size_t wrong = place_for(table, "IsPrecisionError");
  const ResultRows rows(table);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string golden(trim(rows.cell(i, "GroundTruth")));
    table.rows[i][npu_only] = yes_or_no(golden == "*");
    table.rows[i][output] = yes_or_no(output_nodes.contains(golden));
    table.rows[i][wrong] = yes_or_no(is_precision_error(rows, i));
  }
}

}  // namespace opdrift::diagnose
