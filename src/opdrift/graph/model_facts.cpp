#include "opdrift/graph/model_facts.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/om/model_schema.hpp"

namespace opdrift::graph {

namespace {

using Attributes = std::map<std::string, Attribute>;
using Kind = DynamicInputs::Kind;

constexpr std::string_view kGearMark = "_ascend_mbatch_batch_";
constexpr std::string_view kGearSelector = "ascend_mbatch_shape_data";
constexpr std::string_view kUnbounded = "-1";

const Attribute* find_attribute(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(std::string(key));
  return found == attributes.end() ? nullptr : &found->second;
}

/// "1", "-1" or "1~8".
std::optional<InputShape::Dim> parse_dim(std::string_view text) {
  const std::size_t tilde = text.find('~');
  const auto low = parse_i64(trim(text.substr(0, tilde)));
  const auto high = tilde == std::string_view::npos ? low : parse_i64(trim(text.substr(tilde + 1)));
  if (!low || !high) {
    return std::nullopt;
  }
  return InputShape::Dim{*low, *high};
}

std::optional<std::uint64_t> bytes_of(const InputDesc& desc, tensor::DType dtype) {
  tensor::Shape shape;
  for (const std::int64_t dim : desc.dims) {
    if (dim < 0) {
      return std::nullopt;
    }
    shape.push_back(static_cast<std::uint64_t>(dim));
  }
  const auto count = tensor::element_count(shape);
  return count ? tensor::storage_bytes(dtype, *count) : std::nullopt;
}

NetTensor net_tensor(std::string name, std::size_t op, const InputDesc& desc) {
  NetTensor tensor;
  tensor.name = std::move(name);
  tensor.op = op;
  tensor.desc = desc;
  tensor.dtype = dtype_of_proto_name(desc.dtype).value_or(tensor::DType::raw);
  tensor.bytes = bytes_of(desc, tensor.dtype);
  return tensor;
}

/// What a Data operator takes in: its input, or, where that is not described, its output.
InputDesc data_desc(const Operator& op) {
  if (!op.input_descs.empty()) {
    return op.input_descs.front();
  }
  InputDesc desc;
  if (!op.outputs.empty()) {
    desc.dtype = op.outputs.front().dtype;
    desc.format = op.outputs.front().format;
    desc.dims.assign(op.outputs.front().shape.begin(), op.outputs.front().shape.end());
  }
  return desc;
}

/// True for positions of Graph::graph_names that operators call.
std::vector<bool> called_flags(const Graph& model) {
  const std::vector<std::string> called = called_graphs(model);
  const std::set<std::string> names(called.begin(), called.end());
  std::vector<bool> flags;
  for (const std::string& name : model.graph_names) {
    flags.push_back(names.contains(name));
  }
  return flags;
}

std::string without_quotes(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

AippOperator aipp_operator(std::size_t op, const std::string& config) {
  AippOperator aipp;
  aipp.op = op;
  aipp.config = config;
  const std::string plain = unescape_c(config);
  for (const std::string_view entry : split(plain, ',')) {
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos) {
      aipp.settings.emplace_back(std::string(trim(entry.substr(0, colon))),
                                 without_quotes(entry.substr(colon + 1)));
    }
  }
  return aipp;
}

NetOutputName output_name(const std::string& text) {
  NetOutputName name;
  name.text = text;
  const std::size_t first = text.find(':');
  name.node = text.substr(0, first);
  if (first == std::string::npos) {
    return name;
  }
  const std::size_t second = text.find(':', first + 1);
  name.index = parse_i64(text.substr(first + 1, second - first - 1)).value_or(0);
  name.tensor = second == std::string::npos ? "" : text.substr(second + 1);
  return name;
}

}  // namespace

std::string text_attribute(const Attributes& attributes, std::string_view key) {
  const Attribute* found = find_attribute(attributes, key);
  const bool text = found != nullptr && found->kind == Attribute::Kind::text;
  return text && !found->texts.empty() ? unescape_c(found->texts.front()) : std::string();
}

std::vector<std::string> texts_attribute(const Attributes& attributes, std::string_view key) {
  const Attribute* found = find_attribute(attributes, key);
  if (found == nullptr) {
    return {};
  }
  if (found->kind == Attribute::Kind::text) {
    return {text_attribute(attributes, key)};
  }
  return found->kind == Attribute::Kind::texts ? found->texts : std::vector<std::string>();
}

std::optional<std::int64_t> integer_attribute(const Attributes& attributes, std::string_view key) {
  const Attribute* found = find_attribute(attributes, key);
  if (found == nullptr || found->kind != Attribute::Kind::integer || found->integers.empty()) {
    return std::nullopt;
  }
  return found->integers.front();
}

AtcOptions build_options(const Graph& model) {
  return parse_atc_command(text_attribute(model.attributes, "atc_cmdline"));
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::fixed: return "fixed";
    case Kind::batch: return "batch";
    case Kind::image: return "image";
    case Kind::dims: return "dims";
    case Kind::shape: return "shape";
  }
  return "";
}

DynamicInputs dynamic_inputs(const AtcOptions& options) {
  constexpr std::pair<std::string_view, Kind> kOptions[] = {
      {"dynamic_batch_size", Kind::batch},
      {"dynamic_image_size", Kind::image},
      {"dynamic_dims", Kind::dims},
      {"input_shape_range", Kind::shape},
  };
  for (const auto& [name, kind] : kOptions) {
    const std::string value = options.get(name).value_or("");
    if (!value.empty()) {
      return {kind, value};
    }
  }
  const std::string shape = options.get("input_shape").value_or("");
  const auto shapes = parse_input_shapes(shape);
  const auto open = [](const InputShape& input) {
    return std::any_of(input.dims.begin(), input.dims.end(), [](const InputShape::Dim& dim) {
      return dim.low < 0 || dim.high != dim.low;
    });
  };
  // A text of another form is searched for the signs of open extents.
  const bool dynamic =
      shapes ? std::any_of(shapes->begin(), shapes->end(), open)
             : shape.find('~') != std::string::npos || shape.find(kUnbounded) != std::string::npos;
  return dynamic ? DynamicInputs{Kind::shape, shape} : DynamicInputs{};
}

std::vector<std::vector<std::int64_t>> DynamicInputs::gears() const {
  std::vector<std::vector<std::int64_t>> gears;
  if (!has_gears()) {
    return gears;
  }
  const char separator = kind == Kind::batch ? ',' : ';';
  for (const std::string_view gear : split(values, separator)) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view number : split(gear, ',')) {
      const auto parsed = parse_i64(trim(number));
      if (parsed) {
        numbers.push_back(*parsed);
      }
    }
    if (!numbers.empty()) {
      gears.push_back(std::move(numbers));
    }
  }
  return gears;
}

std::optional<std::vector<InputShape>> parse_input_shapes(std::string_view text) {
  std::vector<InputShape> shapes;
  for (const std::string_view entry : split(text, ';')) {
    if (trim(entry).empty()) {
      continue;
    }
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string_view::npos) {
      return std::nullopt;
    }
    InputShape shape;
    shape.name = std::string(trim(entry.substr(0, colon)));
    const std::string_view dims = trim(entry.substr(colon + 1));
    for (const std::string_view dim :
         dims.empty() ? std::vector<std::string_view>{} : split(dims, ',')) {
      const auto parsed = parse_dim(dim);
      if (!parsed) {
        return std::nullopt;
      }
      shape.dims.push_back(*parsed);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<std::string> called_graphs(const Graph& model) {
  std::vector<std::string> called;
  std::set<std::string> seen;
  for (const Operator& op : model.operators) {
    for (const std::string& name : op.subgraphs) {
      if (!name.empty() && seen.insert(name).second) {
        called.push_back(name);
      }
    }
  }
  return called;
}

std::vector<std::size_t> listed_operators(const Graph& model) {
  const bool gears = dynamic_inputs(build_options(model)).has_gears();
  const std::vector<bool> called = called_flags(model);
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    if (gears || !called[model.operators[i].graph]) {
      listed.push_back(i);
    }
  }
  return listed;
}

std::optional<std::uint64_t> gear_of(std::string_view operator_name) {
  const std::size_t mark = operator_name.rfind(kGearMark);
  if (mark == std::string_view::npos) {
    return std::nullopt;
  }
  return parse_u64(operator_name.substr(mark + kGearMark.size()));
}

std::string AippOperator::setting(std::string_view key) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [key](const auto& entry) { return entry.first == key; });
  return found == settings.end() ? std::string() : found->second;
}

std::vector<AippOperator> aipp_operators(const Graph& model) {
  std::vector<AippOperator> operators;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const Attribute* config = find_attribute(model.operators[i].attributes, "aipp_config_path");
    if (config != nullptr && config->kind == Attribute::Kind::text && !config->texts.empty()) {
      operators.push_back(aipp_operator(i, config->texts.front()));
    }
  }
  return operators;
}

std::vector<NetOutputName> net_output_names(const Graph& model) {
  std::vector<NetOutputName> names;
  for (const std::string& text : texts_attribute(model.attributes, "attr_model_out_nodes_name")) {
    names.push_back(output_name(text));
  }
  return names;
}

std::vector<NetTensor> net_inputs(const Graph& model) {
  const std::vector<bool> called = called_flags(model);
  std::vector<std::pair<std::int64_t, NetTensor>> inputs;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const Operator& op = model.operators[i];
    const bool data = op.type == "Data" || op.type == "AnnData" || op.type == "RefData";
    if (!data || called[op.graph] || op.name.starts_with(kGearSelector)) {
      continue;
    }
    const auto position = static_cast<std::int64_t>(inputs.size());
    inputs.emplace_back(integer_attribute(op.attributes, "index").value_or(position),
                        net_tensor(op.name, i, data_desc(op)));
  }
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NetTensor> ordered;
  for (auto& [index, tensor] : inputs) {
    ordered.push_back(std::move(tensor));
  }
  return ordered;
}

std::vector<NetTensor> net_outputs(const Graph& model) {
  const bool gears = dynamic_inputs(build_options(model)).has_gears();
  const std::vector<bool> called = called_flags(model);
  const Operator* chosen = nullptr;
  for (const Operator& op : model.operators) {
    if (op.type != "NetOutput") {
      continue;
    }
    const bool wanted = called[op.graph] == gears;
    if (chosen == nullptr || (wanted && called[chosen->graph] != gears)) {
      chosen = &op;
    }
  }
  std::vector<NetTensor> outputs;
  if (chosen == nullptr) {
    return outputs;
  }
  const auto position = static_cast<std::size_t>(chosen - model.operators.data());
  const std::size_t count = std::max(chosen->input_descs.size(), chosen->inputs.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = i < chosen->inputs.size() ? chosen->inputs[i].text : std::string();
    outputs.push_back(net_tensor(
        name, position, i < chosen->input_descs.size() ? chosen->input_descs[i] : InputDesc{}));
  }
  return outputs;
}

std::optional<tensor::DType> dtype_of_proto_name(std::string_view name) {
  constexpr std::string_view kPrefix = "DT_";
  constexpr int kMostNumber = 64;
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  for (int number = 1; number < kMostNumber; ++number) {
    if (proto_dtype_name(static_cast<std::uint64_t>(number)) == name.substr(kPrefix.size())) {
      return tensor::dtype_by_ascend_number(number);
    }
  }
  return std::nullopt;
}

std::vector<std::string> fusion_passes(const Operator& op) {
  return texts_attribute(op.attributes, "pass_name");
}

std::vector<std::string> ub_fusion_passes(const Operator& op) {
  std::vector<std::string> passes = texts_attribute(op.attributes, "pass_name_ub");
  for (std::string& pass : texts_attribute(op.attributes, "_single_op_ub_pass_name")) {
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::vector<std::string> all_fusion_passes(const Operator& op) {
  std::vector<std::string> passes = fusion_passes(op);
  for (std::string& pass : ub_fusion_passes(op)) {
    if (std::find(passes.begin(), passes.end(), pass) == passes.end()) {
      passes.push_back(std::move(pass));
    }
  }
  return passes;
}

std::vector<std::string> fused_originals(const Operator& op) {
  std::vector<std::string> originals;
  if (op.originals_given) {
    std::copy_if(op.original_names.begin(), op.original_names.end(), std::back_inserter(originals),
                 [](const std::string& name) { return !name.empty(); });
  }
  return originals;
}

}  // namespace opdrift::graph
