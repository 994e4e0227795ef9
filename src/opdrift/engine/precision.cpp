#include "opdrift/engine/precision.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "opdrift/engine/import_domain.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/tensor/bulk_convert.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using tensor::DType;

constexpr std::uint64_t kMaxInlineBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMinSpooledBytes = 1024;
constexpr std::size_t kBlock = 1 << 16;  // bytes, whole elements
constexpr int kFloat = 1;                // TensorProto.FLOAT

struct PrecisionRow {
  Precision precision;
  std::string_view name;
  DType dtype;
  std::int64_t cast_since;  ///< first operator set whose Cast knows the type
};

constexpr PrecisionRow kPrecisions[] = {
    {Precision::fp32, "fp32", DType::f32, 1},
    {Precision::fp16, "fp16", DType::f16, 6},
    {Precision::bf16, "bf16", DType::bf16, 13},
};

const PrecisionRow& row_of(Precision precision) {
  for (const PrecisionRow& row : kPrecisions) {
    if (row.precision == precision) {
      return row;
    }
  }
  return kPrecisions[0];
}

/// Inputs that are f32 whatever the precision of the model.
struct WideInput {
  std::string_view op_type;
  std::size_t index;
};

constexpr WideInput kWideInputs[] = {
    {"Resize", 1},
    {"Resize", 2},
    {"Upsample", 1},
    {"NonMaxSuppression", 3},
    {"NonMaxSuppression", 4},
    {"QuantizeLinear", 1},
    {"DequantizeLinear", 1},
    {"QLinearConv", 1},
    {"QLinearConv", 4},
    {"QLinearConv", 6},
    {"QLinearMatMul", 1},
    {"QLinearMatMul", 4},
    {"QLinearMatMul", 6},
};

bool is_wide_input(std::string_view op_type, std::size_t index) {
  return std::any_of(std::begin(kWideInputs), std::end(kWideInputs), [&](const WideInput& row) {
    return row.op_type == op_type && row.index == index;
  });
}

std::int64_t default_opset(const onnx::Model& model) {
  for (const onnx::OpsetImport& opset : model.opsets) {
    if (opset.domain.empty() || opset.domain == "ai.onnx") {
      return opset.version;
    }
  }
  return 1;
}

/// Constants that must stay f32: read by nothing but wide inputs and operators that are kept.
std::unordered_set<std::string> wide_constants(const onnx::Graph& graph,
                                               const KeptOperators& keep) {
  std::unordered_set<std::string> wide;
  std::unordered_set<std::string> other;
  for (const onnx::ValueInfo& output : graph.outputs) {
    other.insert(output.name);
  }
  for (const onnx::Node& node : graph.nodes) {
    const bool kept = keep.contains(node.name);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      (kept || is_wide_input(node.op_type, i) ? wide : other).insert(node.inputs[i]);
    }
    for (std::string& name : captured_values(node)) {
      (kept ? wide : other).insert(std::move(name));
    }
  }
  std::erase_if(wide, [&](const std::string& name) { return other.contains(name); });
  return wide;
}

bool has_external_data(const onnx::Graph& graph) {
  return std::any_of(graph.initializers.begin(), graph.initializers.end(),
                     [](const onnx::Tensor& tensor) { return tensor.external; });
}

std::uint64_t constant_bytes(const onnx::Graph& graph) {
  std::uint64_t total = 0;
  for (const onnx::Tensor& tensor : graph.initializers) {
    total += tensor.stored_bytes();
  }
  return total;
}

/// Rounds constants, leaving them in the model or moving them to one file.
class ConstantRounder {
 public:
  ConstantRounder(PlacedModel& placed, Precision precision, const KeptOperators& keep)
      : placed_(placed), precision_(precision), wide_(wide_constants(placed.model.graph, keep)) {}

  Status run(const std::string& work_folder) {
    onnx::Graph& graph = placed_.model.graph;
    const bool spool = has_external_data(graph) || constant_bytes(graph) > kMaxInlineBytes;
    if (spool) {
      OPDRIFT_CHECK_OK(spool_all(work_folder));
    } else {
      for (onnx::Tensor& tensor : graph.initializers) {
        OPDRIFT_CHECK_OK(round_inline(tensor, tensor.name));
      }
    }
    for (onnx::Node& node : graph.nodes) {
      OPDRIFT_CHECK_OK(round_constant_node(node));
    }
    return Unit{};
  }

 private:
  bool is_rounded(const onnx::Tensor& tensor, const std::string& value) const {
    return tensor.data_type == kFloat && !wide_.contains(value);
  }

  Result<std::vector<std::byte>> rounded(const onnx::Tensor& tensor) const {
    OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(tensor, placed_.folder));
    std::vector<std::byte> floats(loaded.bytes.span.begin(), loaded.bytes.span.end());
    round_values(precision_, floats);
    return floats;
  }

  Status round_inline(onnx::Tensor& tensor, const std::string& value) const {
    if (is_rounded(tensor, value)) {
      OPDRIFT_TRY(const std::vector<std::byte> floats, rounded(tensor));
      tensor = onnx::make_tensor(tensor.name, DType::f32, tensor.dims, floats);
    }
    return Unit{};
  }

  Status round_constant_node(onnx::Node& node) const {
    if (node.op_type != "Constant" || node.outputs.empty()) {
      return Unit{};
    }
    for (onnx::Attribute& attribute : node.attributes) {
      if (attribute.name == "value" && attribute.tensor &&
          is_rounded(*attribute.tensor, node.outputs.front())) {
        OPDRIFT_CHECK_OK(round_inline(*attribute.tensor, node.outputs.front()));
        attribute.message = {};
        node.message = {};
      }
    }
    return Unit{};
  }

  Status spool_all(const std::string& work_folder) {
    OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(work_folder + "/weights.bin"));
    for (onnx::Tensor& tensor : placed_.model.graph.initializers) {
      if (!tensor.external && tensor.stored_bytes() < kMinSpooledBytes) {
        OPDRIFT_CHECK_OK(round_inline(tensor, tensor.name));
        continue;
      }
      Result<tensor::Tensor> loaded = onnx::load(tensor, placed_.folder);
      if (!loaded && !tensor.external) {
        continue;  // text: stays where it is
      }
      OPDRIFT_TRY(const tensor::Tensor source, std::move(loaded));
      const std::uint64_t offset = file.position();
      OPDRIFT_CHECK_OK(spool(source, is_rounded(tensor, tensor.name), file));
      tensor = onnx::make_external_tensor(tensor, "weights.bin", offset, source.bytes.size());
    }
    placed_.folder = work_folder;
    return file.commit();
  }

  Status spool(const tensor::Tensor& source, bool round, io::FileWriter& file) const {
    std::vector<std::byte> block;
    for (std::size_t at = 0; at < source.bytes.size(); at += kBlock) {
      const ByteSpan part =
          source.bytes.span.subspan(at, std::min(kBlock, source.bytes.size() - at));
      block.assign(part.begin(), part.end());
      if (round) {
        round_values(precision_, block);
      }
      OPDRIFT_CHECK_OK(file.write(block));
    }
    return Unit{};
  }

  PlacedModel& placed_;
  Precision precision_;
  std::unordered_set<std::string> wide_;
};

// A block of f32 values to narrow ones and back; sizes are whole elements.
void to_narrow(Precision precision, ByteSpan floats, std::byte* out) {
  std::vector<float> wide(floats.size() / sizeof(float));
  std::memcpy(wide.data(), floats.data(), wide.size() * sizeof(float));
  if (precision == Precision::fp16) {
    tensor::f32_to_f16(wide.data(), wide.size(), out);
  } else {
    tensor::f32_to_bf16(wide.data(), wide.size(), out);
  }
}

void to_wide(Precision precision, ByteSpan narrow, std::byte* out) {
  std::vector<float> wide(narrow.size() / 2);
  if (precision == Precision::fp16) {
    tensor::f16_to_f32(narrow.data(), wide.size(), wide.data());
  } else {
    tensor::bf16_to_f32(narrow.data(), wide.size(), wide.data());
  }
  std::memcpy(out, wide.data(), wide.size() * sizeof(float));
}

void append_casts(std::vector<onnx::Node>& nodes, const std::string& wide, const std::string& value,
                  DType dtype) {
  const std::string narrow = value + "/opdrift_narrow";
  nodes.push_back(
      onnx::make_node("Cast", narrow, {wide}, {narrow},
                      {onnx::make_attribute("to", std::int64_t{onnx::data_type_of(dtype)})}));
  nodes.push_back(onnx::make_node("Cast", value + "/opdrift_back", {narrow}, {value},
                                  {onnx::make_attribute("to", std::int64_t{kFloat})}));
}

void append_round(std::vector<onnx::Node>& nodes, const std::string& wide, const std::string& value,
                  DType dtype) {
  nodes.push_back(
      onnx::make_node("Round", value + "/opdrift_round", {wide}, {value},
                      {onnx::make_attribute("to", std::int64_t{onnx::data_type_of(dtype)})}));
  nodes.back().domain = "opdrift";
}

}  // namespace

std::string_view to_string(Precision precision) {
  return row_of(precision).name;
}

std::optional<Precision> precision_by_name(std::string_view name) {
  for (const PrecisionRow& row : kPrecisions) {
    if (row.name == name) {
      return row.precision;
    }
  }
  return std::nullopt;
}

DType dtype_of(Precision precision) {
  return row_of(precision).dtype;
}

void round_values(Precision precision, std::span<std::byte> floats) {
  std::vector<std::byte> narrow;
  for (std::size_t at = 0; at < floats.size(); at += kBlock) {
    const std::span<std::byte> block = floats.subspan(at, std::min(kBlock, floats.size() - at));
    narrow.resize(block.size() / 2);
    to_narrow(precision, block, narrow.data());
    to_wide(precision, narrow, block.data());
  }
}

std::optional<Bytes> narrow_exactly(Precision precision, ByteSpan floats) {
  if (precision == Precision::fp32) {
    return std::nullopt;
  }
  std::vector<std::byte> narrow(floats.size() / 2);
  std::vector<std::byte> back(kBlock);
  for (std::size_t at = 0; at < floats.size(); at += kBlock) {
    const ByteSpan block = floats.subspan(at, std::min(kBlock, floats.size() - at));
    std::byte* out = narrow.data() + at / 2;
    to_narrow(precision, block, out);
    to_wide(precision, {out, block.size() / 2}, back.data());
    if (std::memcmp(back.data(), block.data(), block.size()) != 0) {
      return std::nullopt;
    }
  }
  return own_bytes(std::move(narrow));
}

void round_inputs(Precision precision, std::span<NamedTensor> inputs) {
  for (NamedTensor& input : inputs) {
    if (precision != Precision::fp32 && input.tensor.desc.dtype == DType::f32) {
      const ByteSpan given = input.tensor.bytes.span;
      std::vector<std::byte> floats(given.begin(), given.end());
      round_values(precision, floats);
      input.tensor.bytes = own_bytes(std::move(floats));
    }
  }
}

namespace {

/// Inserts roundings into the list of nodes.
class BorderRounder {
 public:
  BorderRounder(onnx::Model& model, Precision precision, const KeptOperators& keep)
      : model_(model),
        row_(row_of(precision)),
        has_cast_(default_opset(model) >= row_.cast_since),
        keep_(keep) {}

  void run(const std::unordered_set<std::string>& wide_outputs) {
    std::vector<onnx::Node> given = std::move(model_.graph.nodes);
    for (onnx::Node& node : given) {
      const bool rounded_already = node.op_type == "Constant";
      const bool kept = keep_.contains(node.name);
      if (!kept) {
        read_rounded(node);
      }
      const std::size_t own = nodes_.size();
      nodes_.push_back(std::move(node));
      for (std::size_t i = 0; !rounded_already && i < nodes_[own].outputs.size(); ++i) {
        const std::string value = nodes_[own].outputs[i];
        if (wide_outputs.contains(value)) {
          kept ? round_beside(value) : round_in_place(own, i);
        }
      }
    }
    model_.graph.nodes = std::move(nodes_);
    if (!has_cast_) {
      import_domain(model_, "opdrift");
    }
  }

 private:
  /// The value keeps its name once it is rounded: readers need no change.
  void round_in_place(std::size_t node, std::size_t output) {
    const std::string value = nodes_[node].outputs[output];
    nodes_[node].outputs[output] = value + "/opdrift_wide";
    nodes_[node].message = {};
    append(value + "/opdrift_wide", value);
  }

  /// Operators that are not kept read another value.
  void round_beside(const std::string& value) {
    beside_.insert(value);
    append(value, value + "/opdrift_rounded");
  }

  void read_rounded(onnx::Node& node) const {
    for (std::string& input : node.inputs) {
      if (beside_.contains(input)) {
        input += "/opdrift_rounded";
        node.message = {};
      }
    }
  }

  void append(const std::string& wide, const std::string& value) {
    has_cast_ ? append_casts(nodes_, wide, value, row_.dtype)
              : append_round(nodes_, wide, value, row_.dtype);
  }

  onnx::Model& model_;
  const PrecisionRow& row_;
  bool has_cast_;
  const KeptOperators& keep_;
  std::vector<onnx::Node> nodes_;
  std::unordered_set<std::string> beside_;
};

}  // namespace

void round_borders(onnx::Model& model, Precision precision,
                   const std::unordered_set<std::string>& wide_outputs, const KeptOperators& keep) {
  BorderRounder(model, precision, keep).run(wide_outputs);
}

Status round_constants(PlacedModel& placed, Precision precision, const std::string& work_folder,
                       const KeptOperators& keep) {
  return ConstantRounder(placed, precision, keep).run(work_folder);
}

}  // namespace opdrift::engine
