#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/node_dumps.hpp"
#include "opdrift/shell/commands/node_text.hpp"
#include "opdrift/shell/commands/summary.hpp"
#include "opdrift/shell/commands/torch_groups.hpp"
#include "opdrift/shell/graph/neighbours.hpp"

namespace opdrift::shell {

namespace {

constexpr std::size_t kMostPossible = 500;

constexpr OptionSpec kOptions[] = {
    {"-g", "--graph", "GRAPH", "look in this sub-graph only"},
    {"-a", "--attributes", "", "show all attributes"},
    {"-s", "--save", "DEPTH", "draw what is within so many steps, as dot and svg"},
};

void show_possible(Session& session, const std::vector<FoundNode>& found) {
  Lines lines;
  for (std::size_t k = 0; k < std::min(found.size(), kMostPossible); ++k) {
    lines.push_back({{"[" + found[k].node->type + "]", Tone::green}, {" " + found[k].node->name}});
  }
  if (found.size() > kMostPossible) {
    lines.push_back(text_line("... and " + std::to_string(found.size() - kMostPossible) + " more"));
  }
  session.screen.print_panel(text_line("Possible Operators"), lines);
}

/// A name as part of a file name of moderate length.
std::string file_part(std::string_view name) {
  constexpr std::size_t kMost = 120;
  std::string text = replace_all(name, "/", "_");
  if (text.size() > kMost) {
    text.resize(kMost);
    while (!is_utf8(text)) {
      text.pop_back();
    }
  }
  return text;
}

Status save_drawing(Session& session, int id, const FoundNode& found, std::size_t depth) {
  const Neighbourhood part = neighbourhood_of(found, depth);
  const Verdicts verdicts = known_verdicts(session.workspace);
  const std::string folder = session.workspace.path("temp/op_graph");
  OPDRIFT_CHECK_OK(make_folder(folder));
  const std::string path = folder + "/" + std::to_string(id) + "." + file_part(found.graph().name) +
                           "." + file_part(found.node->type) + "." + file_part(found.node->name) +
                           "." + std::to_string(depth);
  OPDRIFT_CHECK_OK(io::write_file(path + ".gv", dot_text(part, verdicts)));
  OPDRIFT_CHECK_OK(io::write_file(path + ".svg", svg_text(part, verdicts)));
  session.screen.print(Line{{"Sub-graph of " + std::to_string(part.nodes.size()) + " operators: "},
                            {path + ".gv", Tone::green},
                            {" and "},
                            {path + ".svg", Tone::green}});
  return Unit{};
}

Status show_node(Session& session, int id, const FoundNode& found, const CommandLine& line) {
  Lines lines = node_lines(found);
  if (line.has("-a")) {
    OPDRIFT_TRY(const std::vector<std::string> attributes,
                attributes_of(found.file->path, found.node->name));
    for (const std::string& attribute : attributes) {
      lines.push_back(text_line(attribute));
    }
  }
  add_ports(found, lines);
  add_device_dumps(session, id, found, lines);
  add_golden_dumps(session, found, lines);
  session.screen.print_panel(
      Line{{"(debug_" + std::to_string(id) + ")", Tone::green}, {" " + found.graph().name}}, lines);
  OPDRIFT_TRY(const std::size_t depth, line.count("-s", 0));
  return depth > 0 ? save_drawing(session, id, found, depth) : Status(Unit{});
}

const std::vector<GeGraph>& graphs_of(Session& session, int id) {
  return session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen);
}

/// Operators of that exact name; the number shown.
Result<std::size_t> show_exact(Session& session, const CommandLine& line) {
  std::size_t shown = 0;
  for (const int id : kDebugIds) {
    for (const FoundNode& found :
         find_nodes(graphs_of(session, id), line.names().front(), line.text("-g"))) {
      if (session.stopping()) {
        return Error{ErrorCode::cancelled, "interrupted"};
      }
      OPDRIFT_CHECK_OK(show_node(session, id, found, line));
      ++shown;
    }
  }
  return shown;
}

Status run(Session& session, const CommandLine& line) {
  const std::string& name = line.names().front();
  OPDRIFT_CHECK_OK(line.count("-s", 0));
  OPDRIFT_TRY(const std::size_t shown, show_exact(session, line));
  if (shown > 0) {
    return Unit{};
  }
  OPDRIFT_TRY(const bool torch, show_torch_groups(session, name));
  if (torch) {
    return Unit{};
  }
  for (const int id : kDebugIds) {
    const std::vector<FoundNode> possible = possible_nodes(graphs_of(session, id), name);
    if (!possible.empty()) {
      show_possible(session, possible);
      return Unit{};
    }
  }
  return Error{ErrorCode::not_found,
               "no operator is called '" + printable(name) + "' or has that in its name"};
}

}  // namespace

ShellCommand ni_command() {
  return {.name = "ni",
          .summary = "Shows an operator: its place in the graph, its dumps on both sides.",
          .syntax = {.options = kOptions,
                     .names = "NAME",
                     .least_names = 1,
                     .most_names = 1,
                     .name_kind = NameKind::operators},
          .run = &run,
          .help =
              "A name that is not found lists what is similar. The order of a call (7) or "
              "operator/order (Add/7) shows the dumps of the PyTorch adapter. Drawings go to "
              "temp/op_graph; operators are coloured by the newest results."};
}

}  // namespace opdrift::shell
