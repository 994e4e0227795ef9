#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/report/msaccucmp_advisor.hpp"

/// Two dump folders to one result csv, with everything that is said about it:
///
///   <folder>/result_<time>.csv      pipeline/network, columns of added_columns.hpp included
///   <folder>/advisor_summary.txt    when advice is wanted
namespace opdrift::diagnose::offline {

struct NetworkJob {
  std::string target;
  std::string golden;
  std::string graph;         ///< of the target model
  std::string quantised;     ///< of the quantised original
  std::string close_fusion;  ///< of the golden model, when it is an offline model
  std::string folder;
  std::set<std::string> output_nodes;
  std::uint64_t max_elements = 0;
  bool advisor = false;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
};

struct CsvReport {
  std::string csv;
  ResultTable table;
  std::vector<Alarm> alarms;
  std::vector<std::string> advice;  ///< lines, when it was wanted
  std::vector<std::string> warnings;
};

/// Names of the numbers in the table, in order.
std::vector<std::string> reference_columns();

/// Tensors that cannot be compared are rows with a reason. Fails with no_dump_file (a folder
/// without dumps), empty_csv (nothing of the dump is in the graph) and as pipeline::open_network
/// does.
Outcome<CsvReport> compare_folders(const NetworkJob& job);

/// Advice and columns for a table, and the file.
Done finish_csv(CsvReport& report, const std::vector<std::string>& network_inputs,
                const std::set<std::string>& output_nodes, const std::string& folder, bool advisor);

/// A table as a sheet of a workbook.
struct NamedTable {
  std::string name;
  ResultTable table;
};

/// All tables in one workbook, a sheet each; cells without a value are NAN.
Done write_summary(const std::string& path, const std::vector<NamedTable>& tables);

}  // namespace opdrift::diagnose::offline
