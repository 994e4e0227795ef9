#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/pipeline/overflow/overflow_record.hpp"
#include "opdrift/shell/command_line.hpp"
#include "opdrift/shell/commands/fusion.hpp"
#include "opdrift/shell/commands/torch_groups.hpp"
#include "opdrift/shell/graph/ge_graph.hpp"
#include "opdrift/shell/graph/neighbours.hpp"
#include "opdrift/shell/screen/blocks.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"

namespace opdrift::fuzz {

namespace {

/// Operators of a graph keep to what the graph holds, and can be drawn.
void check_graph(std::string_view text) {
  const auto graph = shell::parse_ge_graph(text, "fuzz");
  if (!graph || graph->nodes.empty()) {
    return;
  }
  for (const shell::Node& node : graph->nodes) {
    OPDRIFT_CHECK(node.graph < graph->graphs.size());
  }
  const shell::FoundNode root{&*graph, graph->nodes.data()};
  const shell::Neighbourhood part = shell::neighbourhood_of(root, 2);
  static_cast<void>(shell::dot_text(part, {}));
  static_cast<void>(shell::svg_text(part, {}));
}

/// Boxes are as wide as the paper allows, whatever they hold.
void check_boxes(std::string_view text) {
  const shell::Paper paper{40, true};
  const shell::Line line = shell::text_line(std::string(text.substr(0, 4096)));
  for (const shell::Line& drawn : shell::panel(line, {line}, paper)) {
    OPDRIFT_CHECK(shell::width_of(drawn) <= paper.columns);
  }
}

}  // namespace

/// What the shell reads by itself: graphs, fusion results, decoded records, names, typed lines.
void shell_files(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  check_graph(text);
  check_boxes(text);
  static_cast<void>(shell::parse_fusion(text));
  static_cast<void>(pipeline::parse_debug_json(text));
  static_cast<void>(shell::parse_device_name(text));
  static_cast<void>(shell::parse_torch_group(text));
  for (const std::string& word : shell::words_of(text)) {
    OPDRIFT_CHECK(!word.empty());
  }
}

}  // namespace opdrift::fuzz
