#include "opdrift/shell/commands/node_text.hpp"

#include <algorithm>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/commands/python_text.hpp"

namespace opdrift::shell {

namespace {

/// An input together with its description.
struct ShownInput {
  int index = 0;  ///< -1 for a control edge
  const Port* port = nullptr;
  std::string peer;
};

void add_range(const std::vector<std::int64_t>& numbers, std::string_view name, Line& line) {
  if (!numbers.empty()) {
    line.push_back({" " + std::string(name) + python_list(numbers), Tone::blue});
  }
}

Line port_line(int index, const Port* port) {
  static const Port kNone;
  const Port& shown = port == nullptr ? kNone : *port;
  Line line = {{" -"},
               {"[" + std::to_string(index) + "]", Tone::green},
               {"[" + shown.dtype + "]", Tone::green},
               {"[" + shown.layout + "]"},
               {python_list(shown.shape)}};
  add_range(shown.value_range, "value", line);
  add_range(shown.shape_range, "range", line);
  add_range(shown.origin_shape, "original", line);
  return line;
}

std::vector<ShownInput> inputs_of(const Node& node) {
  std::vector<ShownInput> inputs;
  int next = 0;
  for (const NodeInput& input : node.inputs) {
    const std::string peer = input.producer + ":" + std::to_string(input.output);
    if (input.output < 0) {
      inputs.push_back({-1, nullptr, peer});
      continue;
    }
    const auto place = static_cast<std::size_t>(next);
    inputs.push_back(
        {next, place < node.input_ports.size() ? &node.input_ports[place] : nullptr, peer});
    ++next;
  }
  return inputs;
}

/// The operator that calls the sub-graph `found` stands in.
const Node* caller_of(const FoundNode& found) {
  const std::string& name = found.graph().name;
  const auto caller =
      std::find_if(found.file->nodes.begin(), found.file->nodes.end(), [&](const Node& node) {
        return std::find(node.subgraphs.begin(), node.subgraphs.end(), name) !=
               node.subgraphs.end();
      });
  return caller == found.file->nodes.end() ? nullptr : &*caller;
}

/// Inputs to show: its own, or that of the caller.
std::vector<ShownInput> shown_inputs(const FoundNode& found) {
  const Node& node = *found.node;
  if (!node.inputs.empty() || node.type != "Data" || !node.parent_input) {
    return inputs_of(node);
  }
  const Node* caller = caller_of(found);
  std::vector<ShownInput> inputs;
  if (caller != nullptr) {
    for (const ShownInput& input : inputs_of(*caller)) {
      if (input.index >= 0 && input.index == *node.parent_input) {
        inputs.push_back(input);
      }
    }
  }
  return inputs;
}

/// What a sub-graph hands back: the inputs of its last node.
std::vector<ShownInput> outputs_of_subgraph(const FoundNode& found) {
  for (const std::string& name : found.node->subgraphs) {
    const std::string wanted = name + "_Node_Output";
    for (const Node& node : found.file->nodes) {
      if (node.name == wanted) {
        return inputs_of(node);
      }
    }
  }
  return {};
}

std::string consumers_text(const std::vector<const Node*>& consumers) {
  std::vector<std::string> names;
  for (const Node* node : consumers) {
    if (std::find(names.begin(), names.end(), node->name) == names.end()) {
      names.push_back(node->name);
    }
  }
  return python_list(names);
}

}  // namespace

Lines node_lines(const FoundNode& found) {
  const Node& node = *found.node;
  Lines lines = {{{"Op(Type/Name): "}, {"[" + node.type + "]", Tone::green}, {" " + node.name}},
                 text_line("ID:    " + std::to_string(node.id)),
                 text_line("KernelName:    " + node.kernel_name),
                 text_line("KernelLibName: " + node.kernel_library),
                 text_line("GraphName:     " + found.graph().name)};
  if (!node.passes.empty()) {
    lines.push_back({{"PassName: "}, {join(node.passes, ", "), Tone::yellow}});
  }
  if (node.originals_given) {
    lines.push_back(text_line("OriginalOp: " + python_list(node.originals)));
  }
  return lines;
}

void add_ports(const FoundNode& found, Lines& lines) {
  lines.push_back({{"Input: "},
                   {"[index][type][format][shape] ranges and original shape"},
                   {" producer:output", Tone::yellow}});
  for (const ShownInput& input : shown_inputs(found)) {
    lines.push_back(port_line(input.index, input.port));
    lines.back().push_back({" " + input.peer, Tone::yellow});
  }
  lines.push_back({{"Output: "},
                   {"[index][type][format][shape] ranges and original shape"},
                   {" consumers", Tone::yellow}});
  const Node& node = *found.node;
  const auto consumers = consumers_of(found);
  for (std::size_t k = 0; k < node.output_ports.size(); ++k) {
    lines.push_back(port_line(static_cast<int>(k), &node.output_ports[k]));
    lines.back().push_back({" " + consumers_text(consumers[k]), Tone::yellow});
  }
  if (node.output_ports.empty() && node.type == "PartitionedCall") {
    for (const ShownInput& input : outputs_of_subgraph(found)) {
      lines.push_back(port_line(input.index, input.port));
      lines.back().push_back({" " + input.peer, Tone::yellow});
    }
  }
}

}  // namespace opdrift::shell
