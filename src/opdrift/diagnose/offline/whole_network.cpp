#include "opdrift/diagnose/offline/whole_network.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/added_columns.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"
#include "opdrift/pipeline/msprobe/table_file.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/report.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr std::size_t kMaxSheetName = 31;

ResultTable table_of(const pipeline::NetworkResult& result, bool overflow) {
  const pipeline::MsaccucmpTable made =
      pipeline::msaccucmp_table(result, {.sequence = false, .overflow = overflow});
  ResultTable table;
  table.header = report::msaccucmp_header(made.columns);
  for (const report::MsaccucmpRow& row : made.rows) {
    table.rows.push_back(report::msaccucmp_cells(made.columns, row));
  }
  return table;
}

/// At most 31 characters without []:*?/\, and each name once.
std::string sheet_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name;
  for (const char c : wanted) {
    name += std::string_view("[]:*?/\\").find(c) == std::string_view::npos ? c : '_';
  }
  while (name.size() > kMaxSheetName || (!name.empty() && !is_utf8(name))) {
    name.pop_back();
  }
  std::string unique = name;
  for (std::size_t n = 2; !taken.insert(to_lower(unique)).second; ++n) {
    const std::string tail = "_" + std::to_string(n);
    unique = name.substr(0, kMaxSheetName - tail.size()) + tail;
  }
  return unique;
}

pipeline::NamedSheet sheet_of(const NamedTable& named, std::set<std::string>& taken) {
  const ResultTable& table = named.table;
  pipeline::NamedSheet sheet{sheet_name(named.name, taken), table.header,
                             report::CellBlock(std::max<std::size_t>(table.header.size(), 1))};
  for (const std::vector<std::string>& row : table.rows) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      const std::string cell = i < row.size() ? row[i] : std::string();
      const auto number = parse_double(cell);
      if (cell.empty() || to_lower(cell) == "nan") {
        sheet.rows.text("NAN");
      } else if (number) {
        sheet.rows.number(*number, cell);
      } else {
        sheet.rows.text(cell);
      }
    }
  }
  return sheet;
}

}  // namespace

std::vector<std::string> reference_columns() {
  std::vector<std::string> names;
  for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
    if (algorithm.reference_index >= 0) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

Done finish_csv(CsvReport& report, const std::vector<std::string>& network_inputs,
                const std::set<std::string>& output_nodes, const std::string& folder,
                bool advisor) {
  report.alarms = analyse(report.table);
  if (advisor) {
    report.advice = report::advise(report.table, network_inputs).lines();
    OPDRIFT_CHECK_OK(
        io::write_file(folder + "/advisor_summary.txt", join(report.advice, "\n") + "\n"));
  }
  add_columns(report.table, output_nodes);
  report.csv = folder + "/result_" + pipeline::time_stamp(false) + ".csv";
  return Done(write_result_table(report.csv, report.table));
}

Outcome<CsvReport> compare_folders(const NetworkJob& job) {
  pipeline::NetworkOptions options;
  options.target_path = job.target;
  options.golden_path = job.golden;
  options.graph_json = job.graph;
  options.quantised_json = job.quantised;
  options.close_fusion_json = job.close_fusion;
  options.reference = true;
  options.overflow = job.advisor;
  options.algorithms = reference_columns();
  options.max_elements = job.max_elements;
  options.jobs = job.jobs;
  options.cancel = job.cancel;
  OPDRIFT_TRY(const pipeline::NetworkResult result, pipeline::compare_network(options));
  if (result.interrupted) {
    return Error{ErrorCode::cancelled, "interrupted", job.target};
  }
  if (result.rows.empty() || result.compared_operators == 0) {
    return failed(
        Number::empty_csv,
        "none of the dumped operators is in the graph; do dump and model belong together?",
        job.target);
  }
  CsvReport report;
  report.table = table_of(result, job.advisor);
  report.warnings = result.warnings;
  OPDRIFT_CHECK_OK(finish_csv(
      report, job.close_fusion.empty() ? result.network_inputs : std::vector<std::string>{},
      job.output_nodes, job.folder, job.advisor));
  return report;
}

Done write_summary(const std::string& path, const std::vector<NamedTable>& tables) {
  std::set<std::string> taken;
  std::vector<pipeline::NamedSheet> sheets;
  for (const NamedTable& table : tables) {
    sheets.push_back(sheet_of(table, taken));
  }
  return Done(pipeline::write_workbook(path, sheets));
}

}  // namespace opdrift::diagnose::offline
