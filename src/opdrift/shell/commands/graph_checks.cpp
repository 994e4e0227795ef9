#include "opdrift/shell/commands/graph_checks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/commands/python_text.hpp"

namespace opdrift::shell {

namespace {

constexpr std::array<std::string_view, 10> kIgnoredTypes = {
    "TransData", "Cast", "Recv",   "Send",     "Variable",
    "NetOutput", "NoOp", "Assign", "Constant", "StreamActive"};

bool is_ignored(const Node& node) {
  return std::find(kIgnoredTypes.begin(), kIgnoredTypes.end(), node.type) != kIgnoredTypes.end();
}

std::string first_dtype(const std::vector<Port>& ports) {
  return ports.empty() ? std::string() : ports.front().dtype;
}

/// Sub-graphs of a run by session id; of one id the first counts.
struct SessionGraph {
  const GeGraph* file = nullptr;
  std::size_t graph = 0;
};

std::map<std::string, SessionGraph> by_session(const std::vector<GeGraph>& graphs) {
  std::map<std::string, SessionGraph> found;
  for (const GeGraph& file : graphs) {
    for (std::size_t k = 0; k < file.graphs.size(); ++k) {
      found.emplace(file.graphs[k].session_id, SessionGraph{&file, k});
    }
  }
  return found;
}

std::unordered_map<std::string_view, const Node*> by_name(const SessionGraph& graph) {
  std::unordered_map<std::string_view, const Node*> nodes;
  for (const Node& node : graph.file->nodes) {
    if (node.graph == graph.graph && !is_ignored(node)) {
      nodes.emplace(node.name, &node);
    }
  }
  return nodes;
}

std::string port_text(const Port& port) {
  return "[" + port.dtype + "][" + port.layout + "] " + python_list(port.shape);
}

bool same(const Port& left, const Port& right) {
  return left.dtype == right.dtype && left.layout == right.layout;
}

/// Lines on the inputs or outputs of two operators; true when they agree.
bool compare_ports(const std::vector<Port>& left, const std::vector<Port>& right,
                   std::string_view kind, Lines& lines) {
  bool equal = left.size() == right.size();
  lines.push_back(text_line(std::string(kind) + ":"));
  if (!equal) {
    lines.push_back(text_line(std::string(kind) + " num mismatch.", Tone::yellow));
  }
  for (std::size_t k = 0; k < std::min(left.size(), right.size()); ++k) {
    const std::string place = " - [" + std::to_string(k) + "] ";
    if (same(left[k], right[k])) {
      lines.push_back({{place}, {port_text(left[k]), Tone::green}});
      continue;
    }
    equal = false;
    lines.push_back({{place}, {port_text(left[k]) + " | " + port_text(right[k]), Tone::yellow}});
  }
  return equal;
}

/// True when the two operators agree; else a panel was shown.
bool compare_nodes(Session& session, const Node& left, const Node& right) {
  Lines lines = {{{"LeftOp(Type/Name) : "}, {"[" + left.type + "] ", Tone::green}, {left.name}},
                 {{"RightOp(Type/Name): "}, {"[" + right.type + "] ", Tone::green}, {right.name}}};
  const bool inputs = compare_ports(left.input_ports, right.input_ports, "Input", lines);
  const bool outputs = compare_ports(left.output_ports, right.output_ports, "Output", lines);
  if (inputs && outputs) {
    return true;
  }
  session.screen.print_panel(text_line(left.name), lines);
  return false;
}

struct Similarity {
  std::size_t equal = 0;
  std::size_t all = 0;
};

Similarity compare_graphs(Session& session, const SessionGraph& left, const SessionGraph& right) {
  const auto partners = by_name(right);
  const auto mine = by_name(left);
  Similarity similarity;
  for (const Node& node : left.file->nodes) {
    if (node.graph != left.graph || is_ignored(node)) {
      continue;
    }
    ++similarity.all;
    const auto partner = partners.find(node.name);
    if (partner == partners.end()) {
      session.screen.warn("operator " + node.name + " is missing on the right side");
    } else {
      similarity.equal +=
          compare_nodes(session, node, *partner->second) ? std::size_t{1} : std::size_t{0};
    }
    if (session.stopping()) {
      return similarity;
    }
  }
  for (const Node& node : right.file->nodes) {
    if (node.graph == right.graph && !is_ignored(node) && mine.find(node.name) == mine.end()) {
      session.screen.warn("operator " + node.name + " is missing on the left side");
    }
  }
  return similarity;
}

}  // namespace

Status show_dangerous_casts(Session& session) {
  std::vector<std::string> names;
  for (const int id : kDebugIds) {
    for (const GeGraph& file :
         session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen)) {
      for (const Node& node : file.nodes) {
        if (node.type == "Cast" && first_dtype(node.input_ports) == "DT_FLOAT" &&
            first_dtype(node.output_ports) == "DT_INT32" &&
            std::find(names.begin(), names.end(), node.name) == names.end()) {
          names.push_back(node.name);
        }
      }
    }
  }
  if (!names.empty()) {
    session.screen.print(Line{{"[Cast]", Tone::green},
                              {"[DT_FLOAT -> DT_INT32]", Tone::red},
                              {" " + python_list(names)}});
  }
  return Unit{};
}

Status show_similarity(Session& session) {
  const auto graphs_of = [&session](int id) -> const std::vector<GeGraph>& {
    return session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen);
  };
  const auto left = by_session(graphs_of(kDebugIds[0]));
  const auto right = by_session(graphs_of(kDebugIds[1]));
  for (const auto& [id, graph] : left) {
    const auto partner = right.find(id);
    if (partner == right.end()) {
      continue;
    }
    const Similarity found = compare_graphs(session, graph, partner->second);
    if (session.stopping()) {
      break;
    }
    session.screen.note("Compare [" + graph.file->graphs[graph.graph].name + "] [" +
                        partner->second.file->graphs[partner->second.graph].name +
                        "], similarity is [" + std::to_string(found.equal) + " / " +
                        std::to_string(found.all) + "]");
  }
  return Unit{};
}

}  // namespace opdrift::shell
