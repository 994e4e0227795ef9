#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/fusion.hpp"
#include "opdrift/shell/commands/python_text.hpp"
#include "opdrift/shell/commands/summary.hpp"
#include "opdrift/shell/graph/verdict_colour.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-f", "--fusion", "PASS", "fused operators of passes whose name contains it"},
    {"-b", "--bad", "", "fused operators with an output at or below the limit"},
    {"-c", "--cosine", "LIMIT", "the limit; 0.98 by default"},
    {"-o", "--output", "FILE", "write a fusion switch file that turns their passes off"},
};

/// A pass, and the operators it made.
struct PassRow {
  std::size_t operators = 0;
  std::size_t bad = 0;
  std::string effect_times;
};

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

class Passes {
 public:
  Passes(Session& session, const CommandLine& line, double limit)
      : session_(session),
        line_(line),
        limit_(limit),
        verdicts_(known_verdicts(session.workspace)) {}

  /// Fused operators that are asked for, of one run.
  void show_operators(int id) {
    Lines lines;
    for (const GeGraph& graph : graphs_of(id)) {
      for (const Node& node : graph.nodes) {
        if (!node.passes.empty() && chosen(node)) {
          add_operator(node, lines);
          chosen_.insert(node.passes.begin(), node.passes.end());
        }
      }
    }
    if (!lines.empty()) {
      session_.screen.print_panel(text_line("debug_" + std::to_string(id)), lines);
    }
  }

  /// All passes of one run. False when there are none.
  bool show_table(int id, const std::map<std::string, std::string>& effects) {
    std::map<std::string, PassRow> rows;
    for (const GeGraph& graph : graphs_of(id)) {
      for (const Node& node : graph.nodes) {
        for (const std::string& pass : node.passes) {
          PassRow& row = rows[pass];
          ++row.operators;
          row.bad += is_bad(node) ? std::size_t{1} : std::size_t{0};
        }
      }
    }
    const bool any = !rows.empty();
    for (const auto& [pass, times] : effects) {
      if (any || id == kDebugIds[0]) {
        rows[pass].effect_times = times;
      }
    }
    if (rows.empty()) {
      return false;
    }
    Table table{
        "debug_" + std::to_string(id), {"Fusion Name", "Operators", "Bad", "Effect times"}, {}};
    for (const auto& [pass, row] : rows) {
      table.rows.push_back({Span{pass}, Span{std::to_string(row.operators)},
                            Span{std::to_string(row.bad), row.bad > 0 ? Tone::red : Tone::plain},
                            Span{row.effect_times.empty() ? "-" : row.effect_times, Tone::green}});
    }
    session_.screen.print(render(table, session_.screen.paper()));
    return true;
  }

  const std::set<std::string>& chosen_passes() const { return chosen_; }

 private:
  const std::vector<GeGraph>& graphs_of(int id) {
    return session_.graphs.of(id, session_.workspace, session_.settings.graph_stage,
                              session_.screen);
  }

  bool is_bad(const Node& node) const {
    const std::optional<double> cosine = lowest_cosine(node.name, verdicts_);
    return cosine && is_bad_cosine(*cosine, limit_);
  }

  bool chosen(const Node& node) const {
    const std::string part = line_.names().empty() ? "" : line_.names().front();
    return node.name.find(part) != std::string::npos &&
           any_contains(node.passes, line_.text("-f")) && (!line_.has("-b") || is_bad(node));
  }

  void add_operator(const Node& node, Lines& lines) const {
    lines.push_back({{"[" + node.type + "]", Tone::green}, {" " + node.name}});
    const std::string_view branch = session_.screen.paper().branch();
    lines.push_back(
        {{std::string(branch) + "PassName: "}, {join(node.passes, ", "), Tone::yellow}});
    lines.push_back(text_line(std::string(branch) + "OriginalOp: " + python_list(node.originals)));
    const std::optional<double> cosine = lowest_cosine(node.name, verdicts_);
    lines.push_back({{std::string(session_.screen.paper().last_branch()) + "CosSim: "},
                     {cosine ? graph::python_float(*cosine) : "-", !cosine        ? Tone::plain
                                                                   : is_bad(node) ? Tone::red
                                                                                  : Tone::green}});
  }

  Session& session_;
  const CommandLine& line_;
  double limit_;
  Verdicts verdicts_;
  std::set<std::string> chosen_;
};

/// Effect times by pass, over all graphs of the fusion result; empty without one.
std::map<std::string, std::string> effect_times(Session& session) {
  std::map<std::string, std::string> effects;
  const auto graphs = read_fusion(session);
  if (!graphs.has_value()) {
    if (graphs.error().code != ErrorCode::not_found) {
      session.screen.warn(graphs.error());
    }
    return effects;
  }
  for (const FusionGraph& graph : *graphs) {
    for (const auto* const list : {&graph.graph_fusion, &graph.ub_fusion}) {
      for (const FusionPass& pass : *list) {
        std::string& times = effects[pass.name];
        times += (times.empty() ? "" : " + ") + pass.effect_times;
      }
    }
  }
  return effects;
}

Status show_tables(Session& session, Passes& passes) {
  const std::map<std::string, std::string> effects = effect_times(session);
  bool any = false;
  for (const int id : kDebugIds) {
    any = passes.show_table(id, effects) || any;
  }
  return any ? Status(Unit{})
             : Error{ErrorCode::not_found,
                     "expected operators with a pass_name in a graph, or a fusion result, found "
                     "neither"};
}

Status write_switch(Session& session, const std::string& path,
                    const std::set<std::string>& passes) {
  const diagnose::fixes::FusionSwitch off =
      diagnose::fixes::passes_off({passes.begin(), passes.end()});
  OPDRIFT_CHECK_OK(io::write_file(path, diagnose::fixes::write_fusion_switch(off)));
  session.screen.print(
      Line{{std::to_string(passes.size()) + " passes off: "}, {path, Tone::green}});
  session.screen.note("Build with --fusion_switch_file=" + path +
                      ", best with one pass at a time, graph fusion before UB fusion.");
  return Unit{};
}

Status run(Session& session, const CommandLine& line) {
  OPDRIFT_TRY(const double limit, line.number("-c", kBadCosine));
  Passes passes(session, line, limit);
  const bool chosen = line.has("-f") || line.has("-b") || line.has("-o") || !line.names().empty();
  if (!chosen) {
    return show_tables(session, passes);
  }
  for (const int id : kDebugIds) {
    passes.show_operators(id);
  }
  if (passes.chosen_passes().empty()) {
    return Error{ErrorCode::not_found, "no operator that is asked for was made by a fusion pass"};
  }
  return line.has("-o") ? write_switch(session, line.text("-o"), passes.chosen_passes())
                        : Status(Unit{});
}

}  // namespace

ShellCommand pf_command() {
  return {.name = "pf",
          .summary = "Shows fusion passes, what they made, and which of it is bad.",
          .syntax = {.options = kOptions,
                     .names = "NAME",
                     .most_names = 1,
                     .name_kind = NameKind::operators},
          .run = &run,
          .help =
              "NAME is a part of a name. Without a choice a table of all passes: operators by the "
              "pass_name of the graph, "
              "effect times by fusion_result.json. Bad is what has an output at or below the limit "
              "in the newest results. 'pf -b -o fusion_switch.cfg' switches off what made the bad "
              "ones."};
}

}  // namespace opdrift::shell
