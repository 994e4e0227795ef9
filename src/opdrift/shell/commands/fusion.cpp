#include "opdrift/shell/commands/fusion.hpp"

#include <istream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::shell {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFile = "fusion_result.json";
constexpr std::string_view kNestedId = "session_and_graph_id_";

std::string id_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<FusionPass> passes_of(const Json& graph, const char* key) {
  std::vector<FusionPass> passes;
  const auto list = graph.find(key);
  if (list == graph.end() || !list->is_object()) {
    return passes;
  }
  for (const auto& [name, pass] : list->items()) {
    const auto times = pass.is_object() ? pass.find("effect_times") : pass.end();
    if (!pass.is_object() || times == pass.end()) {
      continue;
    }
    const std::string text = id_text(*times);
    if (parse_double(text).value_or(0.0) > 0.0) {
      passes.push_back({name, text});
    }
  }
  return passes;
}

void add_graph(const Json& source, std::string id, std::vector<FusionGraph>& graphs) {
  if (!source.is_object()) {
    return;
  }
  bool nested = false;
  for (const auto& [key, value] : source.items()) {
    if (key.starts_with(kNestedId) && value.is_object()) {
      add_graph(value, key.substr(kNestedId.size()), graphs);
      nested = true;
    }
  }
  if (nested) {
    return;
  }
  for (const char* key : {"graphId", "session_and_graph_id"}) {
    if (const auto found = source.find(key); found != source.end()) {
      id = id_text(*found);
      break;
    }
  }
  graphs.push_back(
      {std::move(id), passes_of(source, "graph_fusion"), passes_of(source, "ub_fusion")});
}

Lines table_of(const std::string& title, const std::vector<FusionPass>& passes,
               const Paper& paper) {
  Table table{title, {"Fusion Name", "Effect times"}, {}};
  for (const FusionPass& pass : passes) {
    table.rows.push_back({Span{pass.name}, Span{pass.effect_times, Tone::green}});
  }
  return render(table, paper);
}

/// The text of the file; takes a copy of one in the current folder first.
Result<std::string> fusion_text(const Session& session) {
  const std::string kept = session.workspace.path("fusion/" + std::string(kFile));
  if (is_file(std::string(kFile))) {
    OPDRIFT_TRY(const Bytes bytes, map_file(std::string(kFile)));
    OPDRIFT_CHECK_OK(io::write_file(kept, as_text(bytes.span)));
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(kept));
  return std::string(as_text(bytes.span));
}

}  // namespace

Result<std::vector<FusionGraph>> parse_fusion(std::string_view text) {
  OPDRIFT_CHECK_OK(check_json_depth(text));
  std::vector<FusionGraph> graphs;
  std::istringstream stream{std::string(text)};
  try {
    while (stream >> std::ws && !stream.eof()) {
      Json value;
      stream >> value;
      if (value.is_array()) {
        for (const Json& graph : value) {
          add_graph(graph, "NONE", graphs);
        }
      } else {
        add_graph(value, "NONE", graphs);
      }
      while (stream >> std::ws && stream.peek() == ',') {
        stream.get();
      }
    }
  } catch (const Json::exception& problem) {
    return Error{ErrorCode::bad_json, "expected JSON objects of fusion passes; " +
                                          printable(std::string_view(problem.what()))};
  }
  return graphs;
}

Result<std::vector<FusionGraph>> read_fusion(const Session& session) {
  OPDRIFT_TRY(const std::string text, fusion_text(session));
  return parse_fusion(text);
}

Status show_fusion(Session& session) {
  const Result<std::vector<FusionGraph>> graphs = read_fusion(session);
  if (!graphs.has_value() && graphs.error().code == ErrorCode::not_found) {
    session.screen.note("No " + std::string(kFile) + " in the current folder or in " +
                        session.workspace.path("fusion"));
    return Unit{};
  }
  if (!graphs.has_value()) {
    return graphs.error();
  }
  for (const FusionGraph& graph : *graphs) {
    Paper inside = session.screen.paper();
    inside.columns = inside.columns > 16 ? inside.columns - 4 : 12;
    const Lines tables = side_by_side(
        {table_of("Graph Fusion [GraphID: " + graph.id + "]", graph.graph_fusion, inside),
         table_of("UB Fusion [GraphID: " + graph.id + "]", graph.ub_fusion, inside)},
        inside);
    session.screen.print_panel(text_line("GraphID:" + graph.id), tables);
  }
  return Unit{};
}

}  // namespace opdrift::shell
