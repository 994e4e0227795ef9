#include <bit>
#include <utility>

#include "opdrift/io/onnx/model.hpp"

namespace opdrift::io::onnx {

namespace {

// A part takes a few hundred bytes in memory however few it takes in the file. The largest models
// known have some hundred thousand nodes.
constexpr std::uint64_t kMaxParts = 4'000'000;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxAttributeIntegers = std::size_t{1} << 24;

/// Turns messages into parts. Field numbers are those of the grammar in the header.
class Reader {
 public:
  explicit Reader(std::shared_ptr<const void> owner) : owner_(std::move(owner)) {}

  Status read(const Bytes& bytes, Model& model) {
    bool found_graph = false;
    return for_each_field(ProtobufCursor(bytes.span), [&](const ProtobufField& field) -> Status {
      if (!field.is(7, WireType::bytes)) {
        return read_model_field(field, model);
      }
      if (std::exchange(found_graph, true)) {
        return Error{ErrorCode::malformed, "expected one graph, found another", {}, field.offset};
      }
      return read_graph(field, model.graph);
    });
  }

 private:
  Bytes part(const ProtobufField& field) const { return {field.bytes, owner_}; }

  static std::string text(const ProtobufField& field) { return std::string(as_text(field.bytes)); }

  void keep(const ProtobufField& field, std::vector<RawField>& unknown) const {
    unknown.push_back({field, owner_});
  }

  Status count_part(const ProtobufField& field) {
    if (++parts_ > kMaxParts) {
      return Error{ErrorCode::limit,
                   "expected at most " + std::to_string(kMaxParts) + " nodes, names and tensors",
                   {},
                   field.offset};
    }
    return Unit{};
  }

  Status read_model_field(const ProtobufField& field, Model& model) {
    OPDRIFT_CHECK_OK(count_part(field));
    keep(field, model.unknown);
    if (field.is(1, WireType::varint)) {
      model.ir_version = field.as_i64();
    } else if (field.is(2, WireType::bytes)) {
      model.producer = text(field);
    } else if (field.is(8, WireType::bytes)) {
      OpsetImport opset;
      OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(field), [&](const ProtobufField& f) -> Status {
        if (f.is(1, WireType::bytes)) {
          opset.domain = text(f);
        } else if (f.is(2, WireType::varint)) {
          opset.version = f.as_i64();
        }
        return Unit{};
      }));
      model.opsets.push_back(std::move(opset));
    } else if (field.is(25, WireType::bytes)) {
      OPDRIFT_TRY(std::string name, read_name(field, 1));
      model.functions.push_back(std::move(name));
    }
    return Unit{};
  }

  static Result<std::string> read_name(const ProtobufField& message, std::uint32_t number) {
    std::string name;
    OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(message), [&](const ProtobufField& f) -> Status {
      if (f.is(number, WireType::bytes)) {
        name = text(f);
      }
      return Unit{};
    }));
    return name;
  }

  Status read_graph(const ProtobufField& message, Graph& graph) {
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      OPDRIFT_CHECK_OK(count_part(field));
      if (field.type != WireType::bytes) {
        keep(field, graph.unknown);
        return Unit{};
      }
      return read_graph_field(field, graph);
    });
  }

  Status read_graph_field(const ProtobufField& field, Graph& graph) {
    switch (field.number) {
      case 1: return read_node(field, graph.nodes.emplace_back());
      case 5: return read_tensor(field, graph.initializers.emplace_back());
      case 11: return read_value_info(field, graph.inputs.emplace_back());
      case 12: return read_value_info(field, graph.outputs.emplace_back());
      case 13: return read_value_info(field, graph.value_infos.emplace_back());
      case 2: graph.name = text(field); break;
      case 15: OPDRIFT_CHECK_OK(read_sparse(field, graph)); break;
      default: break;
    }
    keep(field, graph.unknown);
    return Unit{};
  }

  // SparseTensorProto: 1 values, a TensorProto that carries the name.
  Status read_sparse(const ProtobufField& message, Graph& graph) {
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      if (field.is(1, WireType::bytes)) {
        OPDRIFT_TRY(std::string name, read_name(field, 8));
        graph.sparse_initializers.push_back(std::move(name));
      }
      return Unit{};
    });
  }

  Status read_node(const ProtobufField& message, Node& node) {
    node.message = part(message);
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      OPDRIFT_CHECK_OK(count_part(field));
      if (field.type != WireType::bytes) {
        keep(field, node.unknown);
        return Unit{};
      }
      switch (field.number) {
        case 1: node.inputs.push_back(text(field)); break;
        case 2: node.outputs.push_back(text(field)); break;
        case 3: node.name = text(field); break;
        case 4: node.op_type = text(field); break;
        case 5: return read_attribute(field, node.attributes.emplace_back());
        case 7: node.domain = text(field); break;
        default: keep(field, node.unknown);
      }
      return Unit{};
    });
  }

  Status read_attribute(const ProtobufField& message, Attribute& attribute) {
    attribute.message = part(message);
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      return field.type == WireType::bytes ? read_attribute_bytes(field, attribute)
                                           : read_attribute_number(field, attribute);
    });
  }

  Status read_attribute_bytes(const ProtobufField& field, Attribute& attribute) {
    switch (field.number) {
      case 1: attribute.name = text(field); break;
      case 4: attribute.text = text(field); break;
      case 5: return read_tensor(field, attribute.tensor.emplace());
      case 6:
      case 11: return read_body(field, attribute);
      case 7: return read_packed_reals(field, attribute.reals);
      case 8: return read_integers(field, attribute.integers);
      case 9:
        OPDRIFT_CHECK_OK(count_part(field));
        attribute.texts.push_back(text(field));
        break;
      default: keep(field, attribute.unknown);
    }
    return Unit{};
  }

  Status read_attribute_number(const ProtobufField& field, Attribute& attribute) {
    if (field.is(2, WireType::fixed32)) {
      attribute.real = field.as_float();
    } else if (field.is(3, WireType::varint)) {
      attribute.integer = field.as_i64();
    } else if (field.is(7, WireType::fixed32)) {
      attribute.reals.push_back(field.as_float());
    } else if (field.is(8, WireType::varint)) {
      attribute.integers.push_back(field.as_i64());
    } else if (field.is(20, WireType::varint)) {
      attribute.type = static_cast<AttributeType>(field.as_i32());
    } else {
      keep(field, attribute.unknown);
    }
    return Unit{};
  }

  Status read_body(const ProtobufField& field, Attribute& attribute) {
    auto body = std::make_shared<Graph>();
    OPDRIFT_CHECK_OK(read_graph(field, *body));
    attribute.graphs.push_back(std::move(body));
    return Unit{};
  }

  static Status read_packed_reals(const ProtobufField& field, std::vector<float>& out) {
    ByteCursor cursor(field.bytes, field.offset);
    while (cursor.remaining() > 0) {
      OPDRIFT_TRY(const std::uint32_t bits, cursor.u32("packed float"));
      out.push_back(std::bit_cast<float>(bits));
    }
    return Unit{};
  }

  static Status read_integers(const ProtobufField& field, std::vector<std::int64_t>& out) {
    std::vector<std::uint64_t> numbers;
    OPDRIFT_CHECK_OK(append_varints(field, numbers, kMaxAttributeIntegers));
    out.reserve(out.size() + numbers.size());
    for (const std::uint64_t number : numbers) {
      out.push_back(static_cast<std::int64_t>(number));
    }
    return Unit{};
  }

  Status read_tensor(const ProtobufField& message, Tensor& tensor) {
    tensor.message = part(message);
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      if (field.number == 1) {
        return append_varints(field, tensor.dims, kMaxRank);
      }
      if (field.is(2, WireType::varint)) {
        tensor.data_type = field.as_i32();
      } else if (field.is(8, WireType::bytes)) {
        tensor.name = text(field);
      } else if (field.is(13, WireType::bytes)) {
        return read_external(field, tensor);
      } else if (field.is(14, WireType::varint)) {
        tensor.external = field.value == 1;
      }
      return Unit{};
    });
  }

  // StringStringEntryProto: 1 key, 2 value.
  static Status read_external(const ProtobufField& message, Tensor& tensor) {
    OPDRIFT_TRY(const std::string key, read_name(message, 1));
    OPDRIFT_TRY(const std::string value, read_name(message, 2));
    if (key == "location") {
      tensor.location = value;
      return Unit{};
    }
    if (key != "offset" && key != "length") {
      return Unit{};
    }
    const std::optional<std::uint64_t> number = parse_number(value);
    if (!number) {
      return Error{
          ErrorCode::malformed,
          "external data of a tensor: expected a number as " + key + ", found '" + value + "'",
          {},
          message.offset};
    }
    if (key == "offset") {
      tensor.offset = *number;
    } else {
      tensor.length = number;
    }
    return Unit{};
  }

  static std::optional<std::uint64_t> parse_number(const std::string& digits) {
    std::uint64_t number = 0;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9' || number > (std::uint64_t{1} << 58)) {
        return std::nullopt;
      }
      number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return digits.empty() ? std::nullopt : std::optional(number);
  }

  Status read_value_info(const ProtobufField& message, ValueInfo& info) {
    info.message = part(message);
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      if (field.is(1, WireType::bytes)) {
        info.name = text(field);
      } else if (field.is(2, WireType::bytes)) {
        return read_type(field, info);
      }
      return Unit{};
    });
  }

  // TypeProto: 1 tensor, 4 sequence, 5 map, 8 sparse tensor, 9 optional.
  static Status read_type(const ProtobufField& message, ValueInfo& info) {
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      if (field.type != WireType::bytes) {
        return Unit{};
      }
      switch (field.number) {
        case 1: info.kind = ValueKind::tensor; return read_tensor_type(field, info);
        case 4: info.kind = ValueKind::sequence; break;
        case 5: info.kind = ValueKind::map; break;
        case 8: info.kind = ValueKind::sparse_tensor; break;
        case 9: info.kind = ValueKind::optional; break;
        default: break;
      }
      return Unit{};
    });
  }

  // TypeProto.Tensor: 1 elem_type, 2 shape {1 dim*}.
  static Status read_tensor_type(const ProtobufField& message, ValueInfo& info) {
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      if (field.is(1, WireType::varint)) {
        info.element_type = field.as_i32();
      } else if (field.is(2, WireType::bytes)) {
        auto& dims = info.shape.emplace();
        return for_each_field(ProtobufCursor(field), [&](const ProtobufField& dim) -> Status {
          if (!dim.is(1, WireType::bytes)) {
            return Unit{};
          }
          if (dims.size() >= kMaxRank) {
            return Error{ErrorCode::limit, "expected at most 64 axes", {}, dim.offset};
          }
          return read_dim(dim, dims.emplace_back());
        });
      }
      return Unit{};
    });
  }

  static Status read_dim(const ProtobufField& message, Dim& dim) {
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      // Exporters also write -1 for an extent that is not known.
      if (field.is(1, WireType::varint) && field.as_i64() >= 0) {
        dim.value = field.value;
      } else if (field.is(2, WireType::bytes)) {
        dim.symbol = text(field);
      }
      return Unit{};
    });
  }

  std::shared_ptr<const void> owner_;
  std::uint64_t parts_ = 0;
};

}  // namespace

std::string_view to_string(ValueKind kind) {
  switch (kind) {
    case ValueKind::tensor: return "tensor";
    case ValueKind::sparse_tensor: return "sparse tensor";
    case ValueKind::sequence: return "sequence";
    case ValueKind::map: return "map";
    case ValueKind::optional: return "optional";
    case ValueKind::unknown: break;
  }
  return "unknown";
}

const Attribute* Node::attribute(std::string_view wanted) const {
  for (const Attribute& candidate : attributes) {
    if (candidate.name == wanted) {
      return &candidate;
    }
  }
  return nullptr;
}

Result<Model> read_model(const Bytes& bytes) {
  Model model;
  model.size_bytes = bytes.size();
  OPDRIFT_CHECK_OK(Reader(bytes.owner).read(bytes, model));
  if (model.graph.nodes.empty() && model.graph.inputs.empty()) {
    return Error{ErrorCode::malformed,
                 "expected an ONNX model with nodes or inputs, found a message without them"};
  }
  return model;
}

Result<Model> open_model(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  Result<Model> model = read_model(bytes);
  if (!model) {
    Error error = std::move(model).error();
    error.path = path;
    error.message = "not a readable ONNX model: " + error.message;
    return error;
  }
  model->path = path;
  return model;
}

std::vector<std::string_view> initializer_names(const Graph& graph) {
  std::vector<std::string_view> names;
  names.reserve(graph.initializers.size() + graph.sparse_initializers.size());
  for (const Tensor& tensor : graph.initializers) {
    names.emplace_back(tensor.name);
  }
  for (const std::string& name : graph.sparse_initializers) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace opdrift::io::onnx
