#include "opdrift/diagnose/check_op/piece_model.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;

constexpr std::uint64_t kMaxEmbeddedBytes = std::uint64_t{1} << 30;

std::vector<onnx::Dim> dims_of(const tensor::Shape& shape) {
  std::vector<onnx::Dim> dims;
  for (const std::uint64_t extent : shape) {
    dims.push_back({extent, ""});
  }
  return dims;
}

class ModelMaker {
 public:
  ModelMaker(const onnx::Model& model, const std::unordered_map<std::string, GivenInput>& given,
             PieceNames names)
      : model_(model), given_(given), marked_(names == PieceNames::marked) {}

  onnx::Model make(std::span<const Piece* const> pieces) {
    made_ = frame();
    for (const Piece* piece : pieces) {
      add(*piece);
    }
    add_constants();
    return std::move(made_);
  }

 private:
  /// Everything but the graph's parts.
  onnx::Model frame() const {
    onnx::Model made;
    made.path = model_.path;
    made.ir_version = model_.ir_version;
    made.producer = model_.producer;
    made.opsets = model_.opsets;
    made.functions = model_.functions;
    made.unknown = model_.unknown;
    made.graph.name = model_.graph.name;
    made.graph.sparse_initializers = model_.graph.sparse_initializers;
    made.graph.unknown = model_.graph.unknown;
    return made;
  }

  std::string input_name(const PieceInput& input) const {
    return marked_ ? input.name : input.value;
  }

  void add(const Piece& piece) {
    std::unordered_map<std::string, std::string> renamed;
    for (const PieceInput& input : piece.inputs) {
      const std::string name = input_name(input);
      if (inputs_.insert(name).second) {
        const GivenInput& given = given_.at(input.name);
        made_.graph.inputs.push_back(
            onnx::make_value_info(name, given.element_type, dims_of(given.shape)));
      }
    }
    for (const std::size_t n : piece.nodes) {
      made_.graph.nodes.push_back(rename(model_.graph.nodes[n], n, piece, renamed));
    }
    for (const PieceOutput& output : piece.outputs) {
      made_.graph.outputs.push_back(onnx::make_value_info(marked_ ? output.name : output.value));
    }
  }

  /// A copy of a node that reads the inputs of its piece and what earlier nodes of it made.
  onnx::Node rename(const onnx::Node& original, std::size_t n, const Piece& piece,
                    std::unordered_map<std::string, std::string>& renamed) {
    onnx::Node node = original;
    node.message = {};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      std::string& value = node.inputs[i];
      used_.insert(value);
      const std::string own = value + piece.mark + "_" + std::to_string(i);
      const bool reads_own = n == piece.node && reads(piece, own);
      const auto made = renamed.find(value);
      if (marked_ && reads_own) {
        value = own;
      } else if (made != renamed.end()) {
        value = made->second;
      }
    }
    for (const std::string& value : engine::captured_values(original)) {
      used_.insert(value);
    }
    for (std::string& value : node.outputs) {
      if (marked_ && !value.empty()) {
        value = renamed.emplace(value, value + piece.mark).first->second;
      }
    }
    return node;
  }

  static bool reads(const Piece& piece, const std::string& name) {
    return std::any_of(piece.inputs.begin(), piece.inputs.end(),
                       [&](const PieceInput& input) { return input.name == name; });
  }

  /// The initialisers and Constant nodes that are read, each once.
  void add_constants() {
    for (const onnx::Tensor& tensor : model_.graph.initializers) {
      if (used_.contains(tensor.name)) {
        made_.graph.initializers.push_back(tensor);
      }
    }
    for (const onnx::ValueInfo& input : model_.graph.inputs) {
      const bool constant =
          std::any_of(made_.graph.initializers.begin(), made_.graph.initializers.end(),
                      [&](const onnx::Tensor& tensor) { return tensor.name == input.name; });
      if (constant) {
        made_.graph.inputs.push_back(input);  // files before IR 4 list them
      }
    }
    std::vector<onnx::Node> constants;
    for (const onnx::Node& node : model_.graph.nodes) {
      if (node.op_type == "Constant" && !node.outputs.empty() && used_.contains(node.outputs[0])) {
        constants.push_back(node);
      }
    }
    made_.graph.nodes.insert(made_.graph.nodes.begin(), constants.begin(), constants.end());
  }

  const onnx::Model& model_;
  const std::unordered_map<std::string, GivenInput>& given_;
  bool marked_;
  onnx::Model made_;
  std::unordered_set<std::string> inputs_;
  std::unordered_set<std::string> used_;
};

void add_types_of_file(const onnx::Graph& graph, ElementTypes& types) {
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const onnx::ValueInfo& info : *infos) {
      if (info.kind == onnx::ValueKind::tensor && info.element_type != 0) {
        types.emplace(info.name, info.element_type);
      }
    }
  }
}

}  // namespace

ElementTypes element_types(const engine::PlacedModel& placed, engine::Runtime& runtime,
                           std::vector<std::string>& notes) {
  ElementTypes types;
  add_types_of_file(placed.model.graph, types);
  std::vector<std::string> open;
  for (const engine::NodeOutput& output : engine::node_outputs(placed.model.graph)) {
    if (!types.contains(output.tensor)) {
      open.push_back(output.tensor);
    }
  }
  if (open.empty()) {
    return types;
  }
  engine::PlacedModel exposed = placed;
  engine::expose(exposed.model, open);
  const auto session = engine::open_model(runtime, exposed, {});
  if (!session) {
    notes.push_back("types of values are taken from the dump: " + session.error().to_string());
    return types;
  }
  for (const onnx::ValueInfo& info : (*session)->outputs()) {
    types.emplace(info.name, info.kind == onnx::ValueKind::tensor ? info.element_type : 0);
  }
  return types;
}

Status embed_external_data(engine::PlacedModel& placed) {
  std::uint64_t bytes = 0;
  for (onnx::Tensor& constant : placed.model.graph.initializers) {
    if (!constant.external) {
      continue;
    }
    OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(constant, placed.folder));
    bytes += loaded.bytes.size();
    if (bytes > kMaxEmbeddedBytes) {
      return Error{ErrorCode::limit, "the weights of the operator are larger than 1 GiB"};
    }
    constant =
        onnx::make_tensor(constant.name, loaded.desc.dtype, loaded.desc.shape, loaded.bytes.span);
  }
  return Unit{};
}

onnx::Model model_of_pieces(const onnx::Model& model, std::span<const Piece* const> pieces,
                            const std::unordered_map<std::string, GivenInput>& given,
                            PieceNames names) {
  return ModelMaker(model, given, names).make(pieces);
}

}  // namespace opdrift::diagnose
