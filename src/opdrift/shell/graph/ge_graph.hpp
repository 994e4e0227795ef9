#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// A compiled graph with what people want to see of an operator, from a graph dump as text
/// (graph/om/model_text.hpp) or its JSON form (graph/atc_json.hpp). Read beside the grammar of the
/// latter:
///
///   graph       "attr": _session_graph_id (s)
///   op          "input_desc", "attr": pass_name (s | list.s), <name>_kernelname | _kernelname (s),
///               _ge_attr_op_kernel_lib_name (s), _parent_node_index (i)
///   descriptor  "attr": value_range, shape_range (list.i | list_list_int), origin_shape (list.i)
///
/// Numbers may also be written as text. What has another kind is passed over.
namespace opdrift::shell {

/// The k-th input or output of an operator as the graph describes it.
struct Port {
  std::string dtype;   ///< "DT_FLOAT16"
  std::string layout;  ///< "NC1HWC0"
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> value_range;
  std::vector<std::int64_t> shape_range;
  std::vector<std::int64_t> origin_shape;
  std::string origin_name;  ///< operator of the original network, "" unknown
};

struct NodeInput {
  std::string producer;
  int output = 0;  ///< of the producer; -1 for a control edge
};

struct Node {
  std::string name;
  std::string type;
  std::int64_t id = 0;
  std::size_t graph = 0;  ///< position in GeGraph::graphs
  std::vector<NodeInput> inputs;
  std::vector<Port> input_ports;
  std::vector<Port> output_ports;
  std::vector<std::string> passes;
  std::vector<std::string> originals;
  bool originals_given = false;
  std::string kernel_name;
  std::string kernel_library;
  std::optional<std::int64_t> parent_input;  ///< of a Data operator in a sub-graph
  std::vector<std::string> subgraphs;
};

struct SubGraph {
  std::string name;
  std::string session_id = "UNKNOWN";
};

struct GeGraph {
  std::string path;
  std::vector<SubGraph> graphs;
  std::vector<Node> nodes;
};

/// Reads a graph of either form; memory follows what is kept of it, and the length of the file for
/// a text. Fails with bad_json or as mapping a file or graph::open_model_file does.
Result<GeGraph> read_ge_graph(const std::string& path);
Result<GeGraph> parse_ge_graph(std::string_view text, const std::string& path);

/// All attributes of the operators of that name, "key: value" each, in file order.
Result<std::vector<std::string>> attributes_of(const std::string& path, std::string_view name);

}  // namespace opdrift::shell
