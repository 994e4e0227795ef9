#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

/// An ONNX file, read without loss and without copying weights. Fields by number (see
/// protobuf_cursor.hpp for the wire format):
///
///   ModelProto     = 1 ir_version | 2 producer_name | 7 graph | 8 opset_import* | 25 functions*
///   ... GraphProto     = 1 node* | 2 name | 5 initializer* | 11 input* | 12 output* | 13
///   value_info*
///                  | 15 sparse_initializer* ...
///   NodeProto      = 1 input* | 2 output* | 3 name | 4 op_type | 5 attribute* | 7 domain ...
///   AttributeProto = 1 name | 2 f | 3 i | 4 s | 5 t | 6 g | 7 floats* | 8 ints* | 9 strings*
///                  | 11 graphs* | 20 type ...
///   TensorProto    = 1 dims* | 2 data_type | 8 name | 9 raw_data | 13 external_data*
///                  | 14 data_location ...
///   ValueInfoProto = 1 name | 2 type
///
/// Every part keeps its `message`, the encoded bytes it was read from, and writing passes these on
/// unchanged. To edit a node or an attribute, change its fields and clear `message`; it is then
/// encoded from its fields and `unknown`, which holds the fields this description does not name.
/// Tensors and value infos are replaced as a whole (writer.hpp, tensor_data.hpp make new ones).
namespace opdrift::io {

// Part of the model's own fields, so they go by the room's name as well.
using opdrift::ProtobufField;
using opdrift::ProtobufWriter;
using opdrift::WireType;

}  // namespace opdrift::io

namespace opdrift::io::onnx {

/// AttributeProto.AttributeType.
enum class AttributeType : std::int32_t {
  undefined = 0,
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8,
  tensors = 9,
  graphs = 10,
};

/// A field kept as found.
struct RawField {
  ProtobufField field;
  std::shared_ptr<const void> owner;
};

/// Extent of one axis: a number, a symbol ("batch"), or neither.
struct Dim {
  std::optional<std::uint64_t> value;
  std::string symbol;
};

enum class ValueKind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, map, optional };

std::string_view to_string(ValueKind kind);

/// Type and shape of a named value.
struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::unknown;
  int element_type = 0;  ///< TensorProto.DataType of a tensor, else 0
  std::optional<std::vector<Dim>> shape;
  Bytes message;
};

/// A constant tensor. Its data stays in `message`, in `data` or in an external file; see
/// tensor_data.hpp.
struct Tensor {
  std::string name;
  int data_type = 0;  ///< TensorProto.DataType
  tensor::Shape dims;
  bool external = false;
  std::string location;  ///< of external data, relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  Bytes message;
  Bytes data;  ///< raw_data (field 9) when it is kept apart from `message`; encoded behind it

  /// Bytes it takes in the model file.
  std::uint64_t stored_bytes() const { return message.size() + data.size(); }
};

struct Graph;

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::undefined;
  float real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::optional<Tensor> tensor;
  std::vector<std::shared_ptr<const Graph>> graphs;  ///< bodies of If, Loop, Scan
  std::vector<RawField> unknown;
  Bytes message;
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;
  std::vector<std::string> inputs;   ///< "" stands for an absent optional input
  std::vector<std::string> outputs;  ///< "" stands for an output nobody wants
  std::vector<Attribute> attributes;
  std::vector<RawField> unknown;
  Bytes message;

  const Attribute* attribute(std::string_view wanted) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<std::string> sparse_initializers;  ///< names; the data is among `unknown`
  std::vector<ValueInfo> inputs;                 ///< may repeat initializers (files before IR 4)
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
  std::vector<RawField> unknown;
};

struct OpsetImport {
  std::string domain;
  std::int64_t version = 0;
};

struct Model {
  std::string path;  ///< "" when read from memory
  std::uint64_t size_bytes = 0;
  std::int64_t ir_version = 0;
  std::string producer;
  std::vector<OpsetImport> opsets;
  std::vector<std::string> functions;  ///< names of model-local functions
  Graph graph;
  std::vector<RawField> unknown;  ///< everything but the graph, opsets and functions included
};

/// Reads a model file. Fails like MappedFile::open, with `truncated` or `malformed` for bytes that
/// are no ModelProto with nodes or inputs, and with `limit` for more than four million parts.
Result<Model> open_model(const std::string& path);

/// The same for bytes in memory; `bytes.owner` is kept by the model.
Result<Model> read_model(const Bytes& bytes);

/// Names of all initialisers, sparse ones included.
std::vector<std::string_view> initializer_names(const Graph& graph);

}  // namespace opdrift::io::onnx
