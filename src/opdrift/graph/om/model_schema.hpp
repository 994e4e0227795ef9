#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "opdrift/base/protobuf_cursor.hpp"

/// The messages of a compiled model (proto3, package ge.proto), as tables:
///
///   ModelDef = 1 name | 2 version | 3 custom_version | 7 graph* | 11 attr{}
///   GraphDef = 1 name | 4 input* | 5 output* | 6 op* | 11 attr{}
///   OpDef    = 1 name | 2 type | 5 input* | 10 attr{} | 20 has_out_attr | 21 id | 22 stream_id
///            | 23 input_name* | 24 src_name* | 25 src_index* | 26 dst_name* | 27 dst_index*
///            | 28 input_i* | 29 output_i* | 30 workspace* | 31 workspace_bytes*
///            | 32 is_input_const* | 33 input_desc* | 34 output_desc* | 35 subgraph_name*
///   TensorDescriptor = 1 name | 2 dtype | 3 shape | 4 layout | 5 attr{} | 9 .. 21 memory
///   ShapeDef = 1 dim*          TensorDef = 1 desc | 2 data      NamedAttrs = 1 name | 2 attr{}
///   AttrDef  = 1 list | 2 s | 3 i | 4 f | 5 b | 7 bt | 10 func | 11 td | 12 t | 13 g
///            | 14 list_list_int | 15 dt | 16 list_list_float | 17 expression     one of these
///   ListValue = 2 s* | 3 i* | 4 f* | 5 b* | 7 bt* | 8 td* | 9 t* | 10 g* | 11 na* | 12 dt*
///             | 20 val_type
///   attr{}   = entries 1 key | 2 value (AttrDef); the last entry of a key counts
///
/// `*` repeated; numbers may be packed. Fields not named here are passed over.
namespace opdrift::graph {

enum class MessageKind : std::uint8_t {
  model,
  graph,
  op,
  tensor_descriptor,
  shape,
  tensor,
  named_attributes,
  attribute,
  list,
  attribute_entry,
  integer_lists,
  integer_list,
  real_lists,
  real_list,
};

enum class FieldKind : std::uint8_t {
  text,
  bytes,
  integer,
  boolean,
  real,
  dtype,
  list_type,
  message
};

/// One field of a message.
struct FieldRule {
  std::uint32_t number = 0;
  std::string_view name;
  FieldKind kind = FieldKind::integer;
  bool repeated = false;
  bool one_of = false;    ///< setting it unsets the other such fields
  bool left_out = false;  ///< not part of the JSON rendering
  MessageKind message = MessageKind::model;

  bool is_map() const {
    return kind == FieldKind::message && message == MessageKind::attribute_entry;
  }
  /// True when the wire type is one this field may come in.
  bool fits(const ProtobufField& field) const;
};

/// The fields of a message in the order of their names.
std::span<const FieldRule> fields_of(MessageKind kind);

/// The rule for a field as found; null for an unknown number or another wire type.
const FieldRule* find_rule(MessageKind kind, const ProtobufField& field);
const FieldRule* find_rule(MessageKind kind, std::string_view name);

/// "FLOAT16" of the proto's DataType 2; "" for a number without a name.
std::string_view proto_dtype_name(std::uint64_t number);
/// "VT_LIST_INT" of 2; "" for a number without a name.
std::string_view list_type_name(std::uint64_t number);
/// The number of a name of these two kinds, "DT_FLOAT16" or "VT_LIST_INT"; nothing for others.
std::optional<std::uint64_t> enum_number(FieldKind kind, std::string_view name);

/// Numbers of fields that are read by hand, where a name says more than a table.
namespace field_number {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kModelGraph = 7;
inline constexpr std::uint32_t kModelAttr = 11;
inline constexpr std::uint32_t kGraphOp = 6;
inline constexpr std::uint32_t kOpType = 2;
inline constexpr std::uint32_t kOpInput = 5;
inline constexpr std::uint32_t kOpAttr = 10;
inline constexpr std::uint32_t kOpId = 21;
inline constexpr std::uint32_t kOpStream = 22;
inline constexpr std::uint32_t kOpInputDesc = 33;
inline constexpr std::uint32_t kOpOutputDesc = 34;
inline constexpr std::uint32_t kOpSubgraph = 35;
inline constexpr std::uint32_t kDescDtype = 2;
inline constexpr std::uint32_t kDescShape = 3;
inline constexpr std::uint32_t kDescLayout = 4;
inline constexpr std::uint32_t kDescAttr = 5;
inline constexpr std::uint32_t kEntryKey = 1;
inline constexpr std::uint32_t kEntryValue = 2;
inline constexpr std::uint32_t kAttrList = 1;
inline constexpr std::uint32_t kText = 2;  // s, i, f and b count alike in AttrDef and ListValue
inline constexpr std::uint32_t kInteger = 3;
inline constexpr std::uint32_t kReal = 4;
inline constexpr std::uint32_t kBoolean = 5;
inline constexpr std::uint32_t kBytes = 7;
inline constexpr std::uint32_t kAttrIntegerLists = 14;
inline constexpr std::uint32_t kListType = 20;
}  // namespace field_number

}  // namespace opdrift::graph
