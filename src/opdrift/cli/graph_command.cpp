#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/pattern.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/describe_value.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/graph/ge_text.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/io/onnx/graph.hpp"

namespace opdrift::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift graph model.onnx\n"
    "  opdrift graph model.onnx --type Conv --name layer3 --format json\n"
    "  opdrift graph model.om --type Softmax\n";

struct Options {
  std::string path;
  std::string format = "text";
  std::string type;
  std::string name;
};

/// A graph from whatever file; ends of the network where the file names them.
struct OpenedGraph {
  graph::Graph graph;
  std::vector<io::onnx::ValueInfo> inputs;
  std::vector<io::onnx::ValueInfo> outputs;
  /// Shapes of values as the model states them; nothing where every output has its own.
  std::optional<std::map<std::string, std::string>> shapes;
};

/// Told by content; only texts by their name, as ONNX has no mark.
Result<OpenedGraph> open_graph(const std::string& path) {
  OpenedGraph opened;
  const graph::GraphFileKind kind = graph::graph_file_kind(path);
  if (path.ends_with(".txt") && kind != graph::GraphFileKind::atc_json) {
    OPDRIFT_TRY(opened.graph, graph::read_ge_text(path));
    return opened;
  }
  if (kind != graph::GraphFileKind::unknown && kind != graph::GraphFileKind::ge_text) {
    OPDRIFT_TRY(opened.graph, io::read_graph_file(path, {.attributes = true}));
    return opened;
  }
  OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(path));
  opened.graph = to_graph(model);
  opened.inputs = model.graph.inputs;
  opened.outputs = model.graph.outputs;
  opened.shapes.emplace();
  for (const auto* infos : {&model.graph.outputs, &model.graph.value_infos}) {
    for (const io::onnx::ValueInfo& info : *infos) {
      opened.shapes->emplace(info.name, shape_text(info));
    }
  }
  return opened;
}

template <typename T>
Json one_or_all(const std::vector<T>& values, bool single) {
  return single && values.size() == 1 ? Json(values.front()) : Json(values);
}

Json to_json(const graph::Attribute& attribute) {
  using Kind = graph::Attribute::Kind;
  switch (attribute.kind) {
    case Kind::integer:
    case Kind::integers: return one_or_all(attribute.integers, attribute.kind == Kind::integer);
    case Kind::real:
    case Kind::reals: return one_or_all(attribute.reals, attribute.kind == Kind::real);
    case Kind::text:
    case Kind::texts: return one_or_all(attribute.texts, attribute.kind == Kind::text);
    case Kind::tensor:
      return {{"dtype", tensor::name_of(attribute.tensor_dtype)},
              {"shape", attribute.tensor_shape}};
    case Kind::other: break;
  }
  return nullptr;
}

Json to_json(const graph::Operator& op) {
  Json inputs = Json::array();
  for (const graph::InputRef& input : op.inputs) {
    inputs.push_back(
        {{"tensor", input.tensor}, {"producer", input.producer}, {"index", input.index}});
  }
  Json outputs = Json::array();
  for (const graph::OutputDesc& output : op.outputs) {
    outputs.push_back({{"tensor", output.tensor},
                       {"dtype", output.dtype},
                       {"format", output.format},
                       {"shape", output.shape}});
  }
  Json attributes = Json::object();
  for (const auto& [name, attribute] : op.attributes) {
    attributes[name] = to_json(attribute);
  }
  return {{"name", op.name},
          {"type", op.type},
          {"domain", op.domain},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"attributes", std::move(attributes)},
          {"original_names", op.original_names},
          {"subgraphs", op.subgraphs}};
}

Json names_of(const std::vector<io::onnx::ValueInfo>& infos) {
  Json names = Json::array();
  for (const io::onnx::ValueInfo& info : infos) {
    names.push_back(info.name);
  }
  return names;
}

std::string json_text(const OpenedGraph& opened, const std::vector<const graph::Operator*>& shown) {
  Json operators = Json::array();
  for (const graph::Operator* op : shown) {
    operators.push_back(to_json(*op));
  }
  const Json json = {
      {"schema", "opdrift-graph/1"},       {"path", opened.graph.source_path},
      {"name", opened.graph.name},         {"operators_in_file", opened.graph.operators.size()},
      {"inputs", names_of(opened.inputs)}, {"outputs", names_of(opened.outputs)},
      {"operators", std::move(operators)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string input_text(const graph::InputRef& input) {
  if (input.tensor.empty() && input.producer.empty()) {
    return "-";
  }
  const std::string from =
      input.producer.empty() ? "" : printable(input.producer) + ":" + std::to_string(input.index);
  if (input.tensor.empty()) {
    return from;
  }
  return printable(input.tensor) + (from.empty() ? "" : " <- " + from);
}

std::string output_text(const graph::OutputDesc& output, const OpenedGraph& opened) {
  std::string text = output.tensor.empty() ? "" : printable(output.tensor) + "  ";
  text += output.dtype.empty() ? "?" : printable(output.dtype);
  text += output.format.empty() ? "" : " " + printable(output.format);
  if (output.dtype.empty()) {
    return text;
  }
  if (!opened.shapes) {
    return text + " (" + tensor::to_string(output.shape) + ")";
  }
  const auto stated = opened.shapes->find(output.tensor);
  return text + " " + (stated == opened.shapes->end() ? "?" : stated->second);
}

std::string operator_text(const graph::Operator& op, const OpenedGraph& opened) {
  constexpr std::size_t kMaxColumns = 100;
  std::string text = printable(op.type) + "  " + printable(op.name) + "\n";
  for (const graph::InputRef& input : op.inputs) {
    text += "    in    " + input_text(input) + "\n";
  }
  for (const graph::OutputDesc& output : op.outputs) {
    text += "    out   " + output_text(output, opened) + "\n";
  }
  for (const auto& [name, attribute] : op.attributes) {
    const std::string value =
        to_json(attribute).dump(-1, ' ', false, Json::error_handler_t::replace);
    text += "    attr  " + printable(name) + " = " +
            ellipsize_middle(printable(value), kMaxColumns) + "\n";
  }
  for (const std::string& body : op.subgraphs) {
    text += "    graph " + printable(body) + "\n";
  }
  const bool merged = op.original_names.size() > 1 ||
                      (op.original_names.size() == 1 && op.original_names[0] != op.name);
  for (const std::string& original : merged ? op.original_names : std::vector<std::string>{}) {
    text += "    from  " + printable(original) + "\n";
  }
  return text;
}

std::string plain_text(const OpenedGraph& opened,
                       const std::vector<const graph::Operator*>& shown) {
  std::string text;
  for (const io::onnx::ValueInfo& input : opened.inputs) {
    text += "input   " + describe(input) + "\n";
  }
  for (const io::onnx::ValueInfo& output : opened.outputs) {
    text += "output  " + describe(output) + "\n";
  }
  for (const graph::Operator* op : shown) {
    text += operator_text(*op, opened);
  }
  return text + std::to_string(shown.size()) + " of " +
         std::to_string(opened.graph.operators.size()) + " operators\n";
}

Result<std::string> listing(const Options& options) {
  OPDRIFT_TRY(const OpenedGraph opened, open_graph(options.path));
  std::optional<Pattern> name;
  if (!options.name.empty()) {
    OPDRIFT_TRY(name, Pattern::compile("--name", options.name));
  }
  std::vector<const graph::Operator*> shown;
  for (const graph::Operator& op : opened.graph.operators) {
    if ((options.type.empty() || op.type == options.type) && (!name || name->found_in(op.name))) {
      shown.push_back(&op);
    }
  }
  return options.format == "json" ? json_text(opened, shown) : plain_text(opened, shown);
}

}  // namespace

int run_graph(std::span<const std::string> arguments) {
  CLI::App app("Operators of a model or graph file with inputs, outputs and attributes.",
               "opdrift graph");
  app.footer(kFooter);
  Options options;
  app.add_option("FILE", options.path, "ONNX model, JSON of atc, or graph text of GE (.txt)")
      ->required();
  app.add_option("--format", options.format, "text or json")->capture_default_str();
  app.add_option("--type", options.type, "only operators of this type");
  app.add_option("--name", options.name, "only operators whose name matches");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (options.format != "text" && options.format != "json") {
    return report_error("--format '" + printable(options.format) + "': expected text or json");
  }
  const Result<std::string> text = listing(options);
  if (!text) {
    return report_error(text.error());
  }
  return write_output(*text) ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
