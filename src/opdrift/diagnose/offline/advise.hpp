#pragma once

#include <set>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/fusion_passes.hpp"
#include "opdrift/report/msaccucmp_advisor.hpp"

/// Everything that can be said about a result csv alone: the rows to look at, advice, the three
/// added columns, and with the graph of the model what fusion has to do with it. Files, all in
/// `output_folder`, written only when that is given:
///
///   advisor_summary.txt     the advice in three lines
///   <stem>_marked.csv       the table with the added columns
///   <stem>_passes.csv       with a graph: fusion_report
///   fusion_switch.cfg       with a graph: turns off the passes of the rows named
namespace opdrift::diagnose {

struct AdviseOptions {
  std::string result;                    ///< path of the csv
  std::vector<std::string> input_nodes;  ///< of the network; empty: the graph's Data operators
  std::set<std::string> output_nodes;    ///< nodes that make the model's outputs
  std::string output_folder;             ///< made when missing; "" writes nothing
  std::string graph;                     ///< of the target model; "" for none
  bool all_operators = false;            ///< in the report on fusion
  Strategy strategy = Strategy::first_overall;
};

struct AdviseReport {
  std::vector<Alarm> alarms;
  report::Advice advice;
  std::vector<std::string> alarm_passes;  ///< one per alarm, "" without; empty without a graph
  std::vector<std::string> files;         ///< written, in order
};

/// Fails as read_result_table, the reader of the graph and FileWriter do.
Result<AdviseReport> advise_on_file(const AdviseOptions& options);

/// Names in a text such as "a;b", trimmed, empty ones left out.
std::vector<std::string> split_names(std::string_view text, char separator);

}  // namespace opdrift::diagnose
