#include <map>

#include "opdrift/base/text.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/shell/commands/commands.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-t", "--type", "TYPE", "operators whose type contains it"},
    {"-n", "--name", "NAME", "operators (or dump files) whose name contains it"},
    {"-f", "--fusion", "PASS", "operators made by a fusion pass whose name contains it"},
    {"-k", "--kernel", "KERNEL", "operators whose kernel's name contains it"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool matches(const Node& node, const CommandLine& line) {
  return contains(node.type, line.text("-t")) && contains(node.name, line.text("-n")) &&
         contains(join(node.passes, ","), line.text("-f")) &&
         contains(node.kernel_name, line.text("-k"));
}

std::string debug_title(int id) {
  return "debug_" + std::to_string(id);
}

void show_counts(Session& session, int id, const std::vector<GeGraph>& graphs) {
  std::map<std::string, std::size_t> counts;
  for (const GeGraph& file : graphs) {
    for (const Node& node : file.nodes) {
      ++counts[node.type];
    }
  }
  Table table{debug_title(id), {"OpType", "Count"}, {}};
  for (const auto& [type, count] : counts) {
    table.rows.push_back({Span{type, Tone::green}, Span{std::to_string(count)}});
  }
  session.screen.print(render(table, session.screen.paper()));
}

void show_matches(Session& session, int id, const std::vector<GeGraph>& graphs,
                  const CommandLine& line) {
  Lines lines;
  for (const GeGraph& file : graphs) {
    for (const Node& node : file.nodes) {
      if (matches(node, line)) {
        lines.push_back({{"[" + node.type + "]", Tone::green},
                         {"[" + join(node.passes, ",") + "]", Tone::yellow},
                         {" " + node.name}});
      }
    }
  }
  session.screen.print_panel(text_line(debug_title(id)), lines);
}

/// Dump files of every run, by part of their name.
Status show_dumps(Session& session, std::string_view part) {
  for (const int id : kDebugIds) {
    const auto folder = newest_folder(session.workspace.debug(id, "dump"));
    if (!folder) {
      continue;
    }
    OPDRIFT_TRY(const pipeline::Walk walk, pipeline::walk_folder(*folder));
    Lines lines;
    for (const pipeline::WalkedFile& file : walk.files) {
      if (contains(file.name, part)) {
        lines.push_back(text_line(file.path));
      }
    }
    session.screen.print_panel(text_line(debug_title(id)), lines);
  }
  return Unit{};
}

Status run(Session& session, const CommandLine& line) {
  if (!line.names().empty()) {
    if (line.names().front() != "dump") {
      return Error{ErrorCode::invalid_argument,
                   "expected nothing or 'dump', found '" + printable(line.names().front()) + "'"};
    }
    return show_dumps(session, line.names().size() > 1 ? line.names()[1] : line.text("-n"));
  }
  const bool chosen = line.has("-t") || line.has("-n") || line.has("-f") || line.has("-k");
  bool any = false;
  for (const int id : kDebugIds) {
    const std::vector<GeGraph>& graphs =
        session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen);
    if (graphs.empty()) {
      continue;
    }
    any = true;
    if (chosen) {
      show_matches(session, id, graphs, line);
    } else {
      show_counts(session, id, graphs);
    }
  }
  return any ? Status(Unit{})
             : Error{ErrorCode::not_found,
                     "expected ge_proto_<number>_" + session.settings.graph_stage + ".txt",
                     session.workspace.debug(kDebugIds[0], "graph")};
}

}  // namespace

ShellCommand ls_command() {
  return {.name = "ls",
          .summary = "Lists operators by type, name, fusion pass or kernel; 'ls dump' dump files.",
          .syntax = {.options = kOptions,
                     .names = "dump [NAME]",
                     .most_names = 2,
                     .name_kind = NameKind::words},
          .run = &run,
          .help =
              "Without options: how many operators of each type there are. With several, all "
              "of them must hold."};
}

}  // namespace opdrift::shell
