#include <limits>
#include <map>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/summary.hpp"
#include "opdrift/shell/graph/verdict_colour.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-t", "--type", "TYPE", "operators whose type contains it"},
    {"-b", "--bad", "", "only those with an output at or below the limit"},
    {"-c", "--cosine", "LIMIT", "the limit; 0.98 by default"},
    {"-l", "--limit", "N", "rows at most, of each run"},
};

/// An operator as it is listed.
struct Listed {
  std::string type;
  std::string name;
};

/// Files by "type.name" as they are called, or by name alone.
using Counts = std::map<std::string, std::size_t>;

std::string device_key(std::string_view type, std::string_view name) {
  return io::file_key(type) + "." + io::file_key(name);
}

Counts device_counts(const std::vector<DeviceFile>& files) {
  Counts counts;
  for (const DeviceFile& file : files) {
    ++counts[file.type + "." + file.op_name];
  }
  return counts;
}

Counts golden_counts(const Workspace& workspace) {
  Counts counts;
  for (const GoldenFile& file : golden_files(workspace.golden())) {
    ++counts[io::file_key(file.op_name)];
  }
  return counts;
}

/// Operators of the graphs of a run; without graphs those of its dump.
std::vector<Listed> operators_of(Session& session, int id, const std::vector<DeviceFile>& files) {
  std::vector<Listed> listed;
  for (const GeGraph& graph :
       session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen)) {
    for (const Node& node : graph.nodes) {
      listed.push_back({node.type, node.name});
    }
  }
  if (!listed.empty()) {
    return listed;
  }
  Counts seen;
  for (const DeviceFile& file : files) {
    if (!file.is_debug_record() && seen[file.type + "." + file.op_name]++ == 0) {
      listed.push_back({file.type, file.op_name});
    }
  }
  return listed;
}

std::size_t count_of(const Counts& counts, const std::string& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

class Listing {
 public:
  Listing(Session& session, const CommandLine& line, double limit, std::size_t most)
      : session_(session),
        line_(line),
        limit_(limit),
        most_(most),
        verdicts_(known_verdicts(session.workspace)),
        golden_(golden_counts(session.workspace)) {}

  /// False when the run has nothing to list.
  bool show(int id) {
    const std::vector<DeviceFile> files = device_files_of(session_.workspace, id);
    const std::vector<Listed> operators = operators_of(session_, id, files);
    if (operators.empty()) {
      return false;
    }
    const Counts device = device_counts(files);
    Table table{"debug_" + std::to_string(id), {"Type", "Name", "Cosine", "Npu", "Golden"}, {}};
    std::size_t found = 0;
    std::size_t bad = 0;
    for (const Listed& op : operators) {
      const std::optional<double> cosine = lowest_cosine(op.name, verdicts_);
      const bool is_bad = cosine && is_bad_cosine(*cosine, limit_);
      if (!matches(op) || (line_.has("-b") && !is_bad)) {
        continue;
      }
      bad += is_bad ? std::size_t{1} : std::size_t{0};
      if (found++ < most_) {
        table.rows.push_back(row_of(op, cosine, device));
      }
    }
    session_.screen.print(render(table, session_.screen.paper()));
    session_.screen.note(std::to_string(found) + " of " + std::to_string(operators.size()) +
                         " operators, " + std::to_string(bad) + " bad" +
                         (verdicts_.empty() ? "; nothing is compared yet, 'vc' does" : ""));
    return true;
  }

 private:
  bool matches(const Listed& op) const {
    return op.type.find(line_.text("-t")) != std::string::npos &&
           (line_.names().empty() || op.name.find(line_.names().front()) != std::string::npos);
  }

  std::vector<Span> row_of(const Listed& op, const std::optional<double>& cosine,
                           const Counts& device) const {
    const Tone tone = !cosine                          ? Tone::plain
                      : is_bad_cosine(*cosine, limit_) ? Tone::red
                                                       : Tone::green;
    return {Span{op.type, Tone::green}, Span{op.name},
            Span{cosine ? graph::python_float(*cosine) : "-", tone},
            Span{std::to_string(count_of(device, device_key(op.type, op.name)))},
            Span{std::to_string(count_of(golden_, io::file_key(op.name)))}};
  }

  Session& session_;
  const CommandLine& line_;
  double limit_;
  std::size_t most_;
  Verdicts verdicts_;
  Counts golden_;
};

Status run(Session& session, const CommandLine& line) {
  OPDRIFT_TRY(const double limit, line.number("-c", kBadCosine));
  OPDRIFT_TRY(const std::size_t most, line.count("-l", std::numeric_limits<std::size_t>::max()));
  Listing listing(session, line, limit, most);
  bool any = false;
  for (const int id : kDebugIds) {
    if (session.stopping()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    any = listing.show(id) || any;
  }
  return any ? Status(Unit{})
             : Error{ErrorCode::not_found, "expected a graph or a dump of a run, found neither",
                     session.workspace.path("npu")};
}

}  // namespace

ShellCommand la_command() {
  return {.name = "la",
          .summary = "Lists all operators with cosine and number of dump files.",
          .syntax = {.options = kOptions,
                     .names = "NAME",
                     .most_names = 1,
                     .name_kind = NameKind::operators},
          .run = &run,
          .help =
              "NAME is a part of a name. The cosine is the lowest of an operator's outputs in the "
              "newest results; - stands "
              "for an operator that is in none of them."};
}

}  // namespace opdrift::shell
