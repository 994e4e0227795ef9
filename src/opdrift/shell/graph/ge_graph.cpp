#include "opdrift/shell/graph/ge_graph.hpp"

#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_builder.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/graph/om/model_file.hpp"
#include "opdrift/graph/om/model_json.hpp"

namespace opdrift::shell {

namespace {

using nlohmann::json;

// Levels of nesting: the file is 0, "graph" 1, a graph 2, "op" 3, an operator 4.
constexpr int kGraphDepth = 2;
constexpr int kOperatorDepth = 4;

const json& member(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) {
    return kNone;
  }
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> integer_of(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? std::optional(static_cast<std::int64_t>(number))
               : std::nullopt;
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  return value.is_string() ? parse_i64(text_of(value)) : std::nullopt;
}

/// The value of an entry of an attr list; null when there is none.
const json& attribute(const json& owner, std::string_view key) {
  static const json kNone;
  for (const json& entry : member(owner, "attr")) {
    const json& name = member(entry, "key");
    if (name.is_string() && name.get_ref<const std::string&>() == key) {
      return member(entry, "value");
    }
  }
  return kNone;
}

std::string attribute_text(const json& owner, std::string_view key) {
  return graph::unescape_c(text_of(member(attribute(owner, key), "s")));
}

/// Texts of `s` or of a list of them.
std::vector<std::string> attribute_texts(const json& value) {
  std::vector<std::string> texts;
  if (const std::string single = text_of(member(value, "s")); !single.empty()) {
    texts.push_back(graph::unescape_c(single));
  }
  for (const json& item : member(member(value, "list"), "s")) {
    texts.push_back(text_of(item));
  }
  return texts;
}

/// Every whole number of an attribute value, however deep its lists are.
std::vector<std::int64_t> attribute_integers(const json& value) {
  std::vector<std::int64_t> numbers;
  for (const json& item : member(member(value, "list"), "i")) {
    numbers.push_back(integer_of(item).value_or(0));
  }
  for (const json& list : member(member(value, "list_list_int"), "list_list_i")) {
    for (const json& item : member(list, "list_i")) {
      numbers.push_back(integer_of(item).value_or(0));
    }
  }
  return numbers;
}

std::vector<std::string> texts_of(const json& list) {
  std::vector<std::string> texts;
  for (const json& item : list) {
    texts.push_back(text_of(item));
  }
  return texts;
}

Port port_of(const json& source) {
  Port port;
  port.dtype = text_of(member(source, "dtype"));
  port.layout = text_of(member(source, "layout"));
  for (const json& extent : member(member(source, "shape"), "dim")) {
    port.shape.push_back(integer_of(extent).value_or(0));
  }
  port.value_range = attribute_integers(attribute(source, "value_range"));
  port.shape_range = attribute_integers(attribute(source, "shape_range"));
  port.origin_shape = attribute_integers(attribute(source, "origin_shape"));
  port.origin_name = attribute_text(source, "_datadump_origin_name");
  return port;
}

std::vector<Port> ports_of(const json& list) {
  std::vector<Port> ports;
  for (const json& source : list) {
    ports.push_back(port_of(source));
  }
  return ports;
}

/// "a/b:0"; the name may hold colons itself.
std::optional<NodeInput> input_of(const std::string& entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = parse_i64(std::string_view(entry).substr(colon + 1));
  if (!number || *number < -1 || *number > graph::kMaxOutputIndex) {
    return std::nullopt;
  }
  return NodeInput{entry.substr(0, colon), static_cast<int>(*number)};
}

std::string kernel_name_of(const json& source, const std::string& name) {
  const std::string own = attribute_text(source, name + "_kernelname");
  return own.empty() ? attribute_text(source, "_kernelname") : own;
}

Node node_of(const json& source) {
  Node node;
  node.name = text_of(member(source, "name"));
  node.type = text_of(member(source, "type"));
  node.id = integer_of(member(source, "id")).value_or(0);
  for (const json& entry : member(source, "input")) {
    if (std::optional<NodeInput> input = input_of(text_of(entry))) {
      node.inputs.push_back(std::move(*input));
    }
  }
  node.input_ports = ports_of(member(source, "input_desc"));
  node.output_ports = ports_of(member(source, "output_desc"));
  node.passes = attribute_texts(attribute(source, "pass_name"));
  const json& originals = attribute(source, "_datadump_original_op_names");
  node.originals_given = !originals.is_null();
  node.originals = attribute_texts(originals);
  node.kernel_name = kernel_name_of(source, node.name);
  node.kernel_library = attribute_text(source, "_ge_attr_op_kernel_lib_name");
  node.parent_input = integer_of(member(attribute(source, "_parent_node_index"), "i"));
  node.subgraphs = texts_of(member(source, "subgraph_name"));
  return node;
}

/// Follows the keys on the way to a value, so that operators are told from other deep objects.
class Walker {
 public:
  using Visit = std::function<void(const json&)>;

  Walker(Visit on_operator, Visit on_graph)
      : on_operator_(std::move(on_operator)), on_graph_(std::move(on_graph)) {}

  /// The library's callback; false drops a value that was taken up.
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) {
      root_key_ = parsed.get_ref<const std::string&>();
      graphs_seen_ = graphs_seen_ || root_key_ == "graph";
    } else if (event == json::parse_event_t::key && depth == kGraphDepth + 1) {
      graph_key_ = parsed.get_ref<const std::string&>();
    } else if (event == json::parse_event_t::object_end && root_key_ == "graph") {
      if (depth == kOperatorDepth && graph_key_ == "op") {
        on_operator_(parsed);
        return false;
      }
      if (depth == kGraphDepth) {
        on_graph_(parsed);
        return false;
      }
    }
    return true;
  }

  bool graphs_seen() const { return graphs_seen_; }

 private:
  Visit on_operator_;
  Visit on_graph_;
  std::string root_key_;
  std::string graph_key_;
  bool graphs_seen_ = false;
};

Status walk(std::string_view text, const std::string& path, Walker& walker) {
  const auto keep = [&walker](int depth, json::parse_event_t event, json& parsed) {
    return walker(depth, event, parsed);
  };
  OPDRIFT_CHECK_OK(parse_json<json>(text, path, keep));
  if (!walker.graphs_seen()) {
    return Error{ErrorCode::bad_json, "expected element \"graph\", found none", path};
  }
  return Unit{};
}

/// The JSON form of a graph file, made on the way for a text.
Result<Bytes> json_of(const std::string& path) {
  if (graph::graph_file_kind(path) != graph::GraphFileKind::ge_text) {
    return map_file(path);
  }
  OPDRIFT_TRY(const graph::ModelFile file, graph::open_model_file(path));
  std::vector<std::byte> text;
  OPDRIFT_CHECK_OK(graph::write_model_json(file.model, [&text](std::string_view piece) -> Status {
    const ByteSpan bytes = as_bytes(piece);
    text.insert(text.end(), bytes.begin(), bytes.end());
    return Unit{};
  }));
  return own_bytes(std::move(text));
}

std::string attribute_line(const json& entry) {
  const json& value = member(entry, "value");
  std::string shown = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (value.is_object() && value.size() == 1 && value.begin()->is_primitive()) {
    shown = value.begin()->is_string() ? graph::unescape_c(value.begin()->get<std::string>())
                                       : value.begin()->dump();
  }
  return text_of(member(entry, "key")) + ": " + shown;
}

}  // namespace

Result<GeGraph> parse_ge_graph(std::string_view text, const std::string& path) {
  GeGraph graph;
  graph.path = path;
  Walker walker(
      [&graph](const json& source) {
        graph.nodes.push_back(node_of(source));
        graph.nodes.back().graph = graph.graphs.size();
      },
      [&graph](const json& source) {
        SubGraph found;
        found.name = text_of(member(source, "name"));
        const std::string id = attribute_text(source, "_session_graph_id");
        found.session_id = id.empty() ? found.session_id : id;
        graph.graphs.push_back(std::move(found));
      });
  OPDRIFT_CHECK_OK(walk(text, path, walker));
  return graph;
}

Result<GeGraph> read_ge_graph(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, json_of(path));
  return parse_ge_graph(as_text(bytes.span), path);
}

Result<std::vector<std::string>> attributes_of(const std::string& path, std::string_view name) {
  OPDRIFT_TRY(const Bytes bytes, json_of(path));
  std::vector<std::string> lines;
  Walker walker(
      [&](const json& source) {
        if (text_of(member(source, "name")) == name) {
          for (const json& entry : member(source, "attr")) {
            lines.push_back(attribute_line(entry));
          }
        }
      },
      [](const json&) {});
  OPDRIFT_CHECK_OK(walk(as_text(bytes.span), path, walker));
  return lines;
}

}  // namespace opdrift::shell
