#include "variants.hpp"

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;
using verdict::Assumptions;
using verdict::FindingKind;

constexpr int kFloat = 1;  // TensorProto.DataType
constexpr int kFloat16 = 10;

constexpr Arithmetic kFp16 = {.storage = Format::fp16};
constexpr Arithmetic kBf16 = {.storage = Format::bf16};

const Variant kVariants[] = {
    {.name = "fp16", .what = "fp16 between operators, fp16 weights", .arithmetic = kFp16},
    {.name = "bf16", .what = "the same in bf16", .arithmetic = kBf16},
    {.name = "e4m3",
     .what = "the same in fp8 e4m3, saturating",
     .arithmetic = {.storage = Format::e4m3}},
    {.name = "fp16 constants",
     .what = "fp16 with every constant narrowed, as `opdrift dump --precision fp16` does",
     .arithmetic = {.storage = Format::fp16, .narrowed = Narrowed::all}},
    {.name = "fp32 fused", .what = "graph fused by the optimiser", .making = Making::fused},
    {.name = "fp16 fused",
     .what = "the same graph in fp16",
     .making = Making::fused,
     .arithmetic = kFp16},
    {.name = "fp16 typed",
     .what = "model of f16 tensors, the runtime's own casts and kernels, fused",
     .making = Making::typed,
     .arithmetic = kFp16},
    {.name = "fp16 truncating",
     .what = "fp16, results cut off towards zero",
     .arithmetic = {.storage = Format::fp16_truncated},
     .expected = FindingKind::truncation},
    {.name = "fp16 flushing",
     .what = "fp16, subnormal results become 0",
     .arithmetic = {.storage = Format::fp16_flushed}},
    {.name = "fp16 loose",
     .what = "fp16, functions one more u off",
     .arithmetic = {.storage = Format::fp16, .loose_functions = true}},
    {.name = "TF32 declared",
     .what = "f32, operands of products rounded to TF32, declared",
     .arithmetic = {.operands = Format::tf32},
     .assume = Assumptions{.operands = 0x1p-11}},
    {.name = "TF32",
     .what = "the same, not declared",
     .arithmetic = {.operands = Format::tf32},
     .expected = FindingKind::tf32_products},
    {.name = "bf16 products",
     .what = "f32, operands of products rounded to bf16, not declared",
     .arithmetic = {.operands = Format::bf16},
     .expected = FindingKind::bf16_products},
    {.name = "fp16 sums declared",
     .what = "fp16, sums of products kept in fp16, declared",
     .arithmetic = {.storage = Format::fp16, .half_accumulators = true},
     .assume = Assumptions{.half_accumulators = true}},
    {.name = "fp16 sums",
     .what = "the same, not declared",
     .arithmetic = {.storage = Format::fp16, .half_accumulators = true},
     .expected = FindingKind::half_accumulators},
    {.name = "fp16 half dumped",
     .what = "fp16, half of the tensors not dumped",
     .arithmetic = kFp16,
     .half_dumped = true},
    {.name = "bf16 half dumped",
     .what = "bf16, half of the tensors not dumped",
     .arithmetic = kBf16,
     .half_dumped = true},
};

/// Brings constants that the runtime put beside the model into it.
Status bring_in_constants(onnx::Graph& graph, const std::string& folder) {
  for (onnx::Tensor& constant : graph.initializers) {
    if (constant.external) {
      OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(constant, folder));
      constant =
          onnx::make_tensor(constant.name, loaded.desc.dtype, loaded.desc.shape, loaded.bytes.span);
    }
  }
  return Unit{};
}

/// The model as the optimiser leaves it, nothing of it in a file.
Result<onnx::Model> fused_model(engine::Runtime& runtime, const onnx::Model& model,
                                const std::filesystem::path& folder) {
  const std::string path = (folder / "fused.onnx").string();
  OPDRIFT_TRY(
      const auto session,
      engine::open_model(
          runtime, {model, "."},
          {.optimization = engine::Optimization::extended, .threads = 1, .save_optimized = path}));
  OPDRIFT_TRY(onnx::Model fused, onnx::open_model(path));
  OPDRIFT_CHECK_OK(bring_in_constants(fused.graph, folder.string()));
  OPDRIFT_TRY(const onnx::EncodedModel encoded, onnx::encode(fused));
  OPDRIFT_TRY(onnx::Model read, onnx::read_model(own_bytes(encoded.flatten())));
  engine::name_nodes(read);
  return read;
}

/// The same, by way of a folder that is gone afterwards.
Result<onnx::Model> fused_model(engine::Runtime& runtime, const onnx::Model& model) {
  std::string pattern = (std::filesystem::temp_directory_path() / "opdrift-fused-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error{ErrorCode::io, "no temporary folder can be made", pattern};
  }
  Result<onnx::Model> fused = fused_model(runtime, model, pattern);
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  return fused;
}

/// Values of a run of another form of the network, by name and where the shapes agree.
Values matched(const Network& network, const Network& other, const Values& values) {
  Values result(network.problem().values.size());
  for (ValueId id = 0; id < values.size(); ++id) {
    const auto own = network.find(other.problem().values[id].name);
    if (own && values[id] && network.golden()[*own] &&
        network.golden()[*own]->desc.shape == values[id]->desc.shape) {
      result[*own] = values[id];
    }
  }
  return result;
}

Result<Values> run_fused(engine::Runtime& runtime, const Network& network,
                         const Arithmetic& arithmetic) {
  OPDRIFT_TRY(onnx::Model model, fused_model(runtime, network.model()));
  OPDRIFT_TRY(const auto fused, Network::open(runtime, std::move(model), network.inputs()));
  if (arithmetic.storage == Format::fp32) {
    return matched(network, *fused, fused->golden());
  }
  OperatorRunner runner(runtime, *fused);
  Target target(runner, *fused, arithmetic);
  OPDRIFT_TRY(const Values values, target.run());
  return matched(network, *fused, values);
}

/// Names that stay f32 in a model of f16 tensors.
std::unordered_set<std::string> wide_names(const onnx::Graph& graph) {
  std::unordered_set<std::string> names;
  for (const onnx::Node& node : graph.nodes) {
    if (node.op_type == "Resize") {
      names.insert(node.inputs.begin() + 1, node.inputs.end());
    }
  }
  return names;
}

Result<onnx::Tensor> as_f16(const onnx::Tensor& constant) {
  OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(constant, "."));
  const tensor::Tensor narrow = stored(aligned_copy(loaded), Format::fp16);
  return onnx::make_tensor(constant.name, tensor::DType::f16, constant.dims, narrow.bytes.span);
}

Status make_f16(onnx::Attribute& attribute) {
  if (attribute.name == "to" && attribute.integer == kFloat) {
    attribute.integer = kFloat16;
  } else if (attribute.tensor && attribute.tensor->data_type == kFloat) {
    OPDRIFT_TRY(attribute.tensor, as_f16(*attribute.tensor));
  } else {
    return Unit{};
  }
  attribute.message = {};
  return Unit{};
}

Status make_f16(onnx::Graph& graph) {
  const std::unordered_set<std::string> wide = wide_names(graph);
  for (onnx::Node& node : graph.nodes) {
    if (node.op_type == "Cast" || node.op_type == "ConstantOfShape") {
      for (onnx::Attribute& attribute : node.attributes) {
        OPDRIFT_CHECK_OK(make_f16(attribute));
      }
      if (node.op_type == "ConstantOfShape" && node.attributes.empty()) {
        const std::vector<std::byte> zero(2);
        node.attributes.push_back(
            onnx::make_attribute("value", onnx::make_tensor("", tensor::DType::f16, {1}, zero)));
      }
      node.message = {};
    }
  }
  for (onnx::Tensor& constant : graph.initializers) {
    if (constant.data_type == kFloat && !wide.contains(constant.name)) {
      OPDRIFT_TRY(constant, as_f16(constant));
    }
  }
  for (onnx::ValueInfo& input : graph.inputs) {
    if (input.element_type == kFloat) {
      input = onnx::make_value_info(input.name, kFloat16,
                                    input.shape.value_or(std::vector<onnx::Dim>()));
    }
  }
  return Unit{};
}

Result<Values> run_typed(engine::Runtime& runtime, const Network& network) {
  onnx::Model model = network.model();
  OPDRIFT_CHECK_OK(make_f16(model.graph));
  Values values(network.problem().values.size());
  std::vector<engine::NamedTensor> inputs;
  for (const engine::NamedTensor& input : network.inputs()) {
    if (const auto id = network.find(input.name)) {
      inputs.push_back({input.name, stored(input.tensor, Format::fp16)});
      values[*id] = rounded(input.tensor, Format::fp16);
    }
  }
  std::vector<std::string> names;
  for (const ValueId id : network.computed()) {
    names.push_back(network.problem().values[id].name);
  }
  OPDRIFT_TRY(const auto results,
              run_whole(runtime, std::move(model), inputs, names, engine::Optimization::all));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (results[i]) {
      values[network.computed()[i]] = widened(*results[i]);
    }
  }
  return values;
}

void hide_half(const Network& network, Values& values) {
  Random random("hidden");
  for (const ValueId id : network.computed()) {
    if (random.uniform() >= 0.5 && !network.problem().values[id].network_output) {
      values[id].reset();
    }
  }
}

Result<Values> make(engine::Runtime& runtime, OperatorRunner& runner, const Network& network,
                    const Variant& variant) {
  switch (variant.making) {
    case Making::fused: return run_fused(runtime, network, variant.arithmetic);
    case Making::typed: return run_typed(runtime, network);
    case Making::emulated: break;
  }
  Target target(runner, network, variant.arithmetic);
  return target.run();
}

}  // namespace

std::span<const Variant> variants() {
  return kVariants;
}

Values stored_values(const Values& wide, Format format) {
  Values result(wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wide[i]) {
      result[i] = stored(*wide[i], format);
    }
  }
  return result;
}

Result<TargetRun> run_variant(engine::Runtime& runtime, OperatorRunner& runner,
                              const Network& network, const Variant& variant) {
  OPDRIFT_TRY(Values wide, make(runtime, runner, network, variant));
  if (variant.half_dumped) {
    hide_half(network, wide);
  }
  Values narrow = stored_values(wide, variant.arithmetic.storage);
  return TargetRun{std::move(wide), std::move(narrow)};
}

}  // namespace opdrift::evaluation
