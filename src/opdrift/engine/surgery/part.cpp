#include "opdrift/engine/surgery/part.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using Names = std::unordered_set<std::string>;

constexpr int kFloat = 1;  // TensorProto.FLOAT
constexpr std::string_view kGraphName = "extracted graph";

bool says_type(const onnx::ValueInfo& info) {
  return info.kind != onnx::ValueKind::unknown &&
         (info.kind != onnx::ValueKind::tensor || info.element_type != 0);
}

class PartMaker {
 public:
  PartMaker(const Workpiece& piece, const PartRequest& request)
      : piece_(piece), source_(piece.placed.model.graph), request_(request) {
    for (const auto* infos : {&source_.inputs, &source_.outputs, &source_.value_infos}) {
      for (const onnx::ValueInfo& info : *infos) {
        if (says_type(info)) {
          stated_.emplace(info.name, &info);
        }
      }
    }
  }

  Part run() {
    const onnx::Model& model = piece_.placed.model;
    onnx::Model& made = part_.placed.model;
    part_.placed.folder = piece_.placed.folder;
    made.ir_version = model.ir_version;
    made.producer = model.producer;
    made.opsets = model.opsets;
    made.functions = model.functions;
    for (const onnx::RawField& raw : model.unknown) {
      if (raw.field.number != 20) {  // training_info speaks of the whole graph
        made.unknown.push_back(raw);
      }
    }
    add_nodes();
    add_initializers();
    add_ends();
    add_value_infos();
    add_unknown();
    return std::move(part_);
  }

 private:
  onnx::Graph& graph() { return part_.placed.model.graph; }

  void add_nodes() {
    for (const std::size_t node : piece_.graph.order()) {
      if (request_.nodes[node]) {
        graph().nodes.push_back(source_.nodes[node]);
        made_.insert(source_.nodes[node].outputs.begin(), source_.nodes[node].outputs.end());
        order_.push_back(node);
      }
    }
    made_.erase("");
    for (const std::size_t node : order_) {
      for (const std::string& value : piece_.graph.reads(node)) {
        if (read_.insert(value).second && !made_.contains(value)) {
          outside_.push_back(value);
        }
      }
    }
  }

  void add_initializers() {
    Names constants;
    for (const onnx::Tensor& tensor : source_.initializers) {
      if (read_.contains(tensor.name)) {
        graph().initializers.push_back(tensor);
      }
    }
    for (const std::string_view name : initializer_names(source_)) {
      constants.emplace(name);
    }
    std::erase_if(outside_, [&](const std::string& value) { return constants.contains(value); });
  }

  void add_ends() {
    for (const std::string& value : outside_) {
      graph().inputs.push_back(input_info(value));
    }
    for (const std::string& value : request_.outputs) {
      graph().outputs.push_back(request_.bare_outputs ? onnx::make_value_info(value)
                                                      : known_info(value));
    }
    part_.inputs = outside_;
    part_.outputs = request_.outputs;
  }

  onnx::ValueInfo input_info(const std::string& value) {
    const auto type = request_.input_types.find(value);
    const auto shape = request_.input_shapes.find(value);
    if (type == request_.input_types.end() && shape == request_.input_shapes.end()) {
      return known_info(value);
    }
    onnx::ValueInfo info = known_info(value);
    const int element_type = type == request_.input_types.end() ? info.element_type : type->second;
    if (shape != request_.input_shapes.end()) {
      info.shape = shape->second;
    }
    return info.shape ? onnx::make_value_info(value, element_type, *info.shape)
                      : onnx::make_value_info(value, element_type);
  }

  onnx::ValueInfo known_info(const std::string& value) {
    const auto stated = stated_.find(value);
    const auto known = request_.known.find(value);
    const bool more_known = known != request_.known.end() && known->second.shape;
    if (stated != stated_.end() && (stated->second->shape || !more_known)) {
      return *stated->second;
    }
    if (known != request_.known.end() && known->second.kind == onnx::ValueKind::tensor) {
      const onnx::ValueInfo& info = known->second;
      return info.shape ? onnx::make_value_info(value, info.element_type, *info.shape)
                        : onnx::make_value_info(value, info.element_type);
    }
    part_.assumed.push_back(value);
    return onnx::make_value_info(value, kFloat);
  }

  /// With other shapes at the inputs, those stated for values inside need not hold any more.
  void add_value_infos() {
    if (!request_.input_shapes.empty()) {
      return;
    }
    Names ends(request_.outputs.begin(), request_.outputs.end());
    for (const auto* infos : {&source_.value_infos, &source_.outputs}) {
      for (const onnx::ValueInfo& info : *infos) {
        if (made_.contains(info.name) && ends.insert(info.name).second) {
          graph().value_infos.push_back(info);
        }
      }
    }
  }

  void add_unknown() {
    io::ProtobufWriter name;
    name.text(2, kGraphName);
    const Bytes bytes = own_bytes(name.take());
    onnx::RawField field;
    field.owner = bytes.owner;
    field.field.number = 2;
    field.field.type = io::WireType::bytes;
    field.field.bytes = bytes.span.subspan(2);  // behind tag and length, one byte each
    graph().name = kGraphName;
    graph().unknown.push_back(field);
    std::size_t sparse = 0;
    for (const onnx::RawField& raw : source_.unknown) {
      if (raw.field.number == 15) {
        keep_sparse(raw, sparse++);
      } else if (raw.field.number == 14) {
        keep_annotation(raw);
      } else if (raw.field.number != 2) {
        graph().unknown.push_back(raw);
      }
    }
  }

  void keep_sparse(const onnx::RawField& raw, std::size_t position) {
    if (position < source_.sparse_initializers.size() &&
        read_.contains(source_.sparse_initializers[position])) {
      graph().sparse_initializers.push_back(source_.sparse_initializers[position]);
      graph().unknown.push_back(raw);
    }
  }

  // TensorAnnotation: 1 tensor_name.
  void keep_annotation(const onnx::RawField& raw) {
    std::string value;
    const Status read =
        for_each_field(ProtobufCursor(raw.field), [&](const io::ProtobufField& field) -> Status {
          if (field.is(1, io::WireType::bytes)) {
            value = as_text(field.bytes);
          }
          return Unit{};
        });
    if (read && (read_.contains(value) || made_.contains(value))) {
      graph().unknown.push_back(raw);
    }
  }

  const Workpiece& piece_;
  const onnx::Graph& source_;
  const PartRequest& request_;
  std::unordered_map<std::string_view, const onnx::ValueInfo*> stated_;
  Part part_;
  std::vector<std::size_t> order_;
  Names made_;
  Names read_;
  std::vector<std::string> outside_;
};

}  // namespace

Part make_part(const Workpiece& piece, const PartRequest& request) {
  return PartMaker(piece, request).run();
}

std::vector<std::string> border_values(const Workpiece& piece, const NodeSet& nodes) {
  Names wanted;
  for (const onnx::ValueInfo& output : piece.placed.model.graph.outputs) {
    wanted.insert(output.name);
  }
  for (std::size_t node = 0; node < piece.graph.size(); ++node) {
    if (!nodes[node]) {
      wanted.insert(piece.graph.reads(node).begin(), piece.graph.reads(node).end());
    }
  }
  std::vector<std::string> border;
  for (const std::size_t node : piece.graph.order()) {
    for (const std::string& value : piece.node(node).outputs) {
      if (nodes[node] && !value.empty() && wanted.contains(value)) {
        border.push_back(value);
      }
    }
  }
  return border;
}

}  // namespace opdrift::engine
