#include "opdrift/diagnose/offline/advise.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/added_columns.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;

Status make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(), folder};
  }
  return Unit{};
}

Result<graph::Graph> read_graph(const std::string& path) {
  return io::read_graph_file(path, {.attributes = true});
}

/// The network's inputs.
std::vector<std::string> data_operators(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (graph::NetTensor& input : graph::net_inputs(graph)) {
    names.push_back(std::move(input.name));
  }
  return names;
}

std::string lines_of(const report::Advice& advice) {
  return join(advice.lines(), "\n") + "\n";
}

Status write_files(const AdviseOptions& options, ResultTable& table,
                   const std::optional<PassIndex>& passes, AdviseReport& report) {
  OPDRIFT_CHECK_OK(make_folder(options.output_folder));
  const auto path_of = [&](const std::string& name) {
    report.files.push_back(options.output_folder + "/" + name);
    return report.files.back();
  };
  const std::string stem = fs::path(options.result).stem().string();
  OPDRIFT_CHECK_OK(io::write_file(path_of("advisor_summary.txt"), lines_of(report.advice)));
  if (passes) {
    const ResultTable fusion = fusion_report(table, *passes, options.all_operators);
    OPDRIFT_CHECK_OK(write_result_table(path_of(stem + "_passes.csv"), fusion));
    const FusionPasses suspected = suspected_passes(report.alarms, *passes);
    if (!suspected.empty()) {
      OPDRIFT_CHECK_OK(io::write_file(path_of("fusion_switch.cfg"),
                                      fixes::write_fusion_switch(switched_off(suspected))));
    }
  }
  add_columns(table, options.output_nodes);
  return write_result_table(path_of(stem + "_marked.csv"), table);
}

}  // namespace

std::vector<std::string> split_names(std::string_view text, char separator) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, separator)) {
    if (!trim(name).empty()) {
      names.emplace_back(trim(name));
    }
  }
  return names;
}

Result<AdviseReport> advise_on_file(const AdviseOptions& options) {
  OPDRIFT_TRY(ResultTable table, read_result_table(options.result));
  std::vector<std::string> inputs = options.input_nodes;
  std::optional<PassIndex> passes;
  if (!options.graph.empty()) {
    OPDRIFT_TRY(const graph::Graph graph, read_graph(options.graph));
    passes.emplace(graph);
    inputs = inputs.empty() ? data_operators(graph) : inputs;
  }
  AdviseReport report;
  report.alarms = analyse(table, options.strategy);
  report.advice = report::advise(table, inputs);
  for (std::size_t i = 0; passes && i < report.alarms.size(); ++i) {
    report.alarm_passes.push_back(passes->find(report.alarms[i].target).text());
  }
  if (!options.output_folder.empty()) {
    OPDRIFT_CHECK_OK(write_files(options, table, passes, report));
  }
  return report;
}

}  // namespace opdrift::diagnose
