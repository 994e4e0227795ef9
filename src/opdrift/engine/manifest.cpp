#include "opdrift/engine/manifest.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxAttributeElements = 1024;

std::string dtype_name(int data_type) {
  const auto dtype = onnx::dtype_of(data_type);
  return dtype ? std::string(tensor::name_of(*dtype)) : "onnx:" + std::to_string(data_type);
}

Json values_of(const tensor::Tensor& tensor, std::uint64_t count) {
  Json values = Json::array();
  const std::byte* data = tensor.bytes.span.data();
  const tensor::DTypeInfo& info = tensor::info(tensor.desc.dtype);
  ByteCursor wide(tensor.bytes.span);
  for (std::uint64_t i = 0; i < count; ++i) {
    // A double does not hold every 64-bit integer.
    if (tensor.desc.dtype == tensor::DType::i64) {
      values.push_back(static_cast<std::int64_t>(wide.u64("element").value_or(0U)));
    } else if (tensor.desc.dtype == tensor::DType::u64) {
      values.push_back(wide.u64("element").value_or(0U));
    } else if (info.kind == tensor::DTypeKind::floating) {
      values.push_back(tensor::decode_one(tensor.desc.dtype, data, i));
    } else {
      values.push_back(static_cast<std::int64_t>(tensor::decode_one(tensor.desc.dtype, data, i)));
    }
  }
  return values;
}

Json tensor_json(const onnx::Tensor& tensor, const std::string& folder) {
  Json json{{"dtype", dtype_name(tensor.data_type)}, {"shape", tensor.dims}};
  const Result<tensor::Tensor> loaded = onnx::load(tensor, folder);
  if (loaded && tensor::info(loaded->desc.dtype).decodable) {
    const std::uint64_t count = tensor::element_count(tensor.dims).value_or(0U);
    if (count <= kMaxAttributeElements) {
      json["values"] = values_of(*loaded, count);
    }
  }
  return Json{{"tensor", std::move(json)}};
}

Json attribute_json(const onnx::Attribute& attribute, const std::string& folder) {
  using Type = onnx::AttributeType;
  switch (attribute.type) {
    case Type::integer: return attribute.integer;
    case Type::real: return static_cast<double>(attribute.real);
    case Type::text: return attribute.text;
    case Type::integers: return attribute.integers;
    case Type::reals: return std::vector<double>(attribute.reals.begin(), attribute.reals.end());
    case Type::texts: return attribute.texts;
    case Type::tensor:
      return attribute.tensor ? tensor_json(*attribute.tensor, folder) : Json(nullptr);
    case Type::graph:
      return attribute.graphs.empty() ? Json(nullptr)
                                      : Json{{"graph", attribute.graphs.front()->name}};
    default: return nullptr;
  }
}

Json value_json(const DumpedValue& value) {
  Json json{{"tensor", value.tensor}};
  if (value.file.empty()) {
    json["skipped"] = value.skipped;
    return json;
  }
  json["file"] = value.file;
  json["dtype"] = tensor::name_of(value.dtype);
  json["shape"] = value.shape;
  return json;
}

Json model_json(const ManifestContent& content) {
  const onnx::Model& model = *content.given;
  char hash[32];
  std::snprintf(hash, sizeof hash, "fnv1a64:%016llx",
                static_cast<unsigned long long>(content.content_hash));
  Json opsets = Json::array();
  for (const onnx::OpsetImport& opset : model.opsets) {
    opsets.push_back({{"domain", opset.domain}, {"version", opset.version}});
  }
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(model.path, problem);
  return {{"path", problem ? model.path : absolute.string()},
          {"size_bytes", model.size_bytes},
          {"content_hash", hash},
          {"graph", model.graph.name},
          {"ir_version", model.ir_version},
          {"producer", model.producer},
          {"opsets", std::move(opsets)},
          {"functions", model.functions}};
}

Json run_json(const DumpOptions& options, const DumpReport& report,
              const ManifestContent& content) {
  return {{"library_version", report.library_version},
          {"api_version", content.api_version},
          {"provider", options.provider},
          {"optimize", to_string(options.optimization)},
          {"precision", to_string(options.precision)},
          {"seed", options.inputs.seed},
          {"only", options.only},
          {"threads", options.threads},
          {"time_us", content.time_us},
          {"estimated_bytes", report.estimated_bytes}};
}

Json inputs_json(const ManifestContent& content) {
  Json inputs = Json::array();
  for (const ManifestInput& input : content.inputs) {
    inputs.push_back(value_json(input.value));
    inputs.back()["source"] = input.source;
  }
  return inputs;
}

Json operators_json(const ManifestContent& content) {
  Json operators = Json::array();
  for (const ManifestOperator& op : content.operators) {
    Json outputs = Json::array();
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (!op.outputs[i].tensor.empty()) {
        outputs.push_back(value_json(op.outputs[i]));
        outputs.back()["index"] = i;
      }
    }
    Json attributes = Json::object();
    for (const onnx::Attribute& attribute : op.node->attributes) {
      attributes[attribute.name] = attribute_json(attribute, content.model_folder);
    }
    operators.push_back({{"order", operators.size() + 1},
                         {"name", op.node->name},
                         {"type", op.node->op_type},
                         {"domain", op.node->domain},
                         {"inputs", op.node->inputs},
                         {"outputs", std::move(outputs)},
                         {"attributes", std::move(attributes)},
                         {"originals", op.originals}});
  }
  return operators;
}

Json constants_json(const onnx::Graph& graph) {
  Json constants = Json::array();
  for (const onnx::Tensor& tensor : graph.initializers) {
    constants.push_back(
        {{"name", tensor.name}, {"dtype", dtype_name(tensor.data_type)}, {"shape", tensor.dims}});
  }
  return constants;
}

Json observer_json(const DumpReport& report) {
  Json outputs = Json::array();
  for (const OutputCheck& check : report.checks) {
    outputs.push_back({{"tensor", check.tensor},
                       {"equal", check.equal},
                       {"max_abs_difference", check.max_abs_difference}});
  }
  return {{"checked", !report.checks.empty()},
          {"outputs_equal", report.outputs_equal()},
          {"outputs", std::move(outputs)}};
}

Json skipped_json(const DumpReport& report) {
  Json skipped = Json::array();
  for (const SkippedOutput& output : report.skipped) {
    skipped.push_back(
        {{"operator", output.operator_name}, {"tensor", output.tensor}, {"reason", output.reason}});
  }
  return skipped;
}

}  // namespace

std::string render_manifest(const DumpOptions& options, const DumpReport& report,
                            const ManifestContent& content) {
  Json outputs = Json::array();
  for (const onnx::ValueInfo& output : content.given->graph.outputs) {
    outputs.push_back(output.name);
  }
  const Json manifest{{"schema", "opdrift.dump"},
                      {"schema_version", 1},
                      {"opdrift_version", options.opdrift_version},
                      {"complete", report.complete},
                      {"model", model_json(content)},
                      {"run", run_json(options, report, content)},
                      {"inputs", inputs_json(content)},
                      {"operators", operators_json(content)},
                      {"constants", constants_json(content.run->graph)},
                      {"outputs", std::move(outputs)},
                      {"observer", observer_json(report)},
                      {"skipped", skipped_json(report)},
                      {"notes", report.notes}};
  // Names in a model need not be UTF-8; JSON has to be.
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::engine
