#include "opdrift/io/onnx/writer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "opdrift/base/mapped_read.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::io::onnx {

namespace {

// Shorter runs are copied: a run costs more than its bytes.
constexpr std::size_t kCopyBelow = 512;
constexpr std::uint64_t kPartBytes = std::uint64_t{4} << 20;

/// Byte runs under construction.
class Rope {
 public:
  std::uint64_t size() const { return size_ + pending_.size(); }

  void add(const Bytes& bytes) {
    if (bytes.size() < kCopyBelow) {
      pending_.insert(pending_.end(), bytes.span.begin(), bytes.span.end());
      return;
    }
    flush();
    size_ += bytes.size();
    runs_.push_back(bytes);
  }

  void add(const ProtobufWriter& writer) {
    const ByteSpan bytes = writer.view();
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }

  void text(std::uint32_t number, std::string_view value) {
    ProtobufWriter writer;
    writer.text(number, value);
    add(writer);
  }

  void message(std::uint32_t number, const Bytes& bytes) {
    head(number, bytes.size());
    add(bytes);
  }

  void message(std::uint32_t number, Rope&& rope) {
    rope.flush();
    head(number, rope.size());
    for (const Bytes& run : rope.runs_) {
      add(run);
    }
  }

  void field(const RawField& raw) {
    const ProtobufField& field = raw.field;
    ProtobufWriter writer;
    switch (field.type) {
      case WireType::varint: writer.varint(field.number, field.value); break;
      case WireType::fixed64: writer.fixed64(field.number, field.value); break;
      case WireType::fixed32:
        writer.fixed32(field.number, static_cast<std::uint32_t>(field.value));
        break;
      case WireType::bytes: message(field.number, Bytes{field.bytes, raw.owner}); return;
      case WireType::group:
        varint(std::uint64_t{field.number} << 3 | 3);
        add(Bytes{field.bytes, raw.owner});
        varint(std::uint64_t{field.number} << 3 | 4);
        return;
      case WireType::end_group: return;
    }
    add(writer);
  }

  std::vector<Bytes> take() {
    flush();
    return std::move(runs_);
  }

 private:
  void flush() {
    if (!pending_.empty()) {
      size_ += pending_.size();
      runs_.push_back(own_bytes(std::exchange(pending_, {})));
    }
  }

  void head(std::uint32_t number, std::uint64_t length) {
    varint(std::uint64_t{number} << 3 | 2);
    varint(length);
  }

  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      pending_.push_back(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    pending_.push_back(static_cast<std::byte>(value));
  }

  std::vector<Bytes> runs_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> pending_;
};

Rope encode_graph(const Graph& graph);

void encode_tensor(std::uint32_t number, const Tensor& tensor, Rope& rope) {
  if (tensor.data.size() == 0) {
    rope.message(number, tensor.message);
    return;
  }
  Rope whole;
  whole.add(tensor.message);
  whole.message(9, tensor.data);
  rope.message(number, std::move(whole));
}

void encode_attribute_value(const Attribute& attribute, ProtobufWriter& writer) {
  switch (attribute.type) {
    case AttributeType::real: writer.real(2, attribute.real); break;
    case AttributeType::integer: writer.signed_varint(3, attribute.integer); break;
    case AttributeType::text: writer.text(4, attribute.text); break;
    case AttributeType::reals:
      for (const float value : attribute.reals) {
        writer.real(7, value);
      }
      break;
    case AttributeType::integers:
      for (const std::int64_t value : attribute.integers) {
        writer.signed_varint(8, value);
      }
      break;
    case AttributeType::texts:
      for (const std::string& value : attribute.texts) {
        writer.text(9, value);
      }
      break;
    default: break;
  }
}

void encode_attribute(const Attribute& attribute, Rope& node) {
  if (attribute.message.size() > 0) {
    node.message(5, attribute.message);
    return;
  }
  ProtobufWriter writer;
  writer.text(1, attribute.name);
  encode_attribute_value(attribute, writer);
  writer.signed_varint(20, static_cast<std::int64_t>(attribute.type));
  Rope rope;
  rope.add(writer);
  if (attribute.tensor) {
    encode_tensor(5, *attribute.tensor, rope);
  }
  for (const auto& graph : attribute.graphs) {
    rope.message(attribute.type == AttributeType::graphs ? 11 : 6, encode_graph(*graph));
  }
  for (const RawField& field : attribute.unknown) {
    rope.field(field);
  }
  node.message(5, std::move(rope));
}

void encode_node(const Node& node, Rope& graph) {
  if (node.message.size() > 0) {
    graph.message(1, node.message);
    return;
  }
  Rope rope;
  for (const std::string& input : node.inputs) {
    rope.text(1, input);
  }
  for (const std::string& output : node.outputs) {
    rope.text(2, output);
  }
  rope.text(3, node.name);
  rope.text(4, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    encode_attribute(attribute, rope);
  }
  if (!node.domain.empty()) {
    rope.text(7, node.domain);
  }
  for (const RawField& field : node.unknown) {
    rope.field(field);
  }
  graph.message(1, std::move(rope));
}

Rope encode_graph(const Graph& graph) {
  Rope rope;
  for (const Node& node : graph.nodes) {
    encode_node(node, rope);
  }
  for (const Tensor& tensor : graph.initializers) {
    encode_tensor(5, tensor, rope);
  }
  for (const ValueInfo& input : graph.inputs) {
    rope.message(11, input.message);
  }
  for (const ValueInfo& output : graph.outputs) {
    rope.message(12, output.message);
  }
  for (const ValueInfo& info : graph.value_infos) {
    rope.message(13, info.message);
  }
  for (const RawField& field : graph.unknown) {
    rope.field(field);
  }
  return rope;
}

ProtobufWriter encode_shape(const std::vector<Dim>& shape) {
  ProtobufWriter dims;
  for (const Dim& dim : shape) {
    ProtobufWriter extent;
    if (dim.value) {
      extent.varint(1, *dim.value);
    } else if (!dim.symbol.empty()) {
      extent.text(2, dim.symbol);
    }
    dims.message(1, extent);
  }
  return dims;
}

ValueInfo tensor_value(std::string name, int element_type, std::optional<std::vector<Dim>> shape) {
  ProtobufWriter tensor_type;
  tensor_type.signed_varint(1, element_type);
  if (shape) {
    tensor_type.message(2, encode_shape(*shape));
  }
  ProtobufWriter type;
  type.message(1, tensor_type);
  ProtobufWriter writer;
  writer.text(1, name);
  writer.message(2, type);
  ValueInfo info;
  info.name = std::move(name);
  info.kind = ValueKind::tensor;
  info.element_type = element_type;
  info.shape = std::move(shape);
  info.message = own_bytes(writer.take());
  return info;
}

}  // namespace

/// Fills an EncodedModel.
class ModelEncoder {
 public:
  static EncodedModel run(const Model& model) {
    Rope rope;
    for (const RawField& field : model.unknown) {
      rope.field(field);
    }
    rope.message(7, encode_graph(model.graph));
    EncodedModel encoded;
    encoded.size_ = rope.size();
    encoded.runs_ = rope.take();
    return encoded;
  }
};

std::vector<std::byte> EncodedModel::flatten() const {
  std::vector<std::byte> all;
  all.reserve(static_cast<std::size_t>(size_));
  for (const Bytes& run : runs_) {
    all.insert(all.end(), run.span.begin(), run.span.end());
  }
  return all;
}

Result<EncodedModel> encode(const Model& model) {
  EncodedModel encoded = ModelEncoder::run(model);
  if (encoded.size() > kMaxModelBytes) {
    return Error{ErrorCode::limit,
                 "a model of " + human_bytes(encoded.size()) +
                     " is beyond protobuf's 2 GiB; store its weights as external data"};
  }
  return encoded;
}

Status write_bytes(FileWriter& writer, const Bytes& bytes) {
  for (std::uint64_t at = 0; at < bytes.size(); at += kPartBytes) {
    const Bytes part = bytes.part(at, std::min<std::uint64_t>(kPartBytes, bytes.size() - at));
    const std::optional<Bytes> read =
        part.size() < kPartBytes / 8 ? std::nullopt : read_mapped(part);
    OPDRIFT_CHECK_OK(writer.write((read ? *read : part).span));
  }
  return Unit{};
}

Status write_model(const std::string& path, const Model& model) {
  OPDRIFT_TRY(const EncodedModel encoded, encode(model));
  OPDRIFT_TRY(FileWriter writer, FileWriter::create(path));
  for (const Bytes& run : encoded.runs()) {
    OPDRIFT_CHECK_OK(write_bytes(writer, run));
  }
  return writer.commit();
}

ValueInfo make_value_info(std::string name) {
  ProtobufWriter writer;
  writer.text(1, name);
  ValueInfo info;
  info.name = std::move(name);
  info.message = own_bytes(writer.take());
  return info;
}

ValueInfo make_value_info(std::string name, int element_type) {
  return tensor_value(std::move(name), element_type, std::nullopt);
}

ValueInfo make_value_info(std::string name, int element_type, const std::vector<Dim>& shape) {
  return tensor_value(std::move(name), element_type, shape);
}

Attribute make_attribute(std::string name, std::int64_t value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = AttributeType::integer;
  attribute.integer = value;
  return attribute;
}

Attribute make_attribute(std::string name, std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = AttributeType::integers;
  attribute.integers = std::move(values);
  return attribute;
}

Attribute make_attribute(std::string name, Tensor value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = AttributeType::tensor;
  attribute.tensor = std::move(value);
  return attribute;
}

Node make_node(std::string op_type, std::string name, std::vector<std::string> inputs,
               std::vector<std::string> outputs, std::vector<Attribute> attributes) {
  Node node;
  node.op_type = std::move(op_type);
  node.name = std::move(name);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

}  // namespace opdrift::io::onnx
