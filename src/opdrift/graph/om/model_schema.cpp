#include "opdrift/graph/om/model_schema.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace opdrift::graph {

namespace {

using Kind = FieldKind;
using Message = MessageKind;

constexpr FieldRule one(std::uint32_t number, std::string_view name, Kind kind) {
  return {.number = number, .name = name, .kind = kind};
}

constexpr FieldRule one(std::uint32_t number, std::string_view name, Message message) {
  return {.number = number, .name = name, .kind = Kind::message, .message = message};
}

constexpr FieldRule many(std::uint32_t number, std::string_view name, Kind kind) {
  return {.number = number, .name = name, .kind = kind, .repeated = true};
}

constexpr FieldRule many(std::uint32_t number, std::string_view name, Message message) {
  return {
      .number = number, .name = name, .kind = Kind::message, .repeated = true, .message = message};
}

template <typename Type>
constexpr FieldRule choice(std::uint32_t number, std::string_view name, Type type) {
  FieldRule rule = one(number, name, type);
  rule.one_of = true;
  return rule;
}

constexpr FieldRule hidden(FieldRule rule) {
  rule.left_out = true;
  return rule;
}

constexpr auto kModel = std::to_array<FieldRule>({
    many(11, "attr", Message::attribute_entry),
    one(3, "custom_version", Kind::text),
    many(7, "graph", Message::graph),
    one(1, "name", Kind::text),
    one(2, "version", Kind::integer),
});

constexpr auto kGraph = std::to_array<FieldRule>({
    many(11, "attr", Message::attribute_entry),
    many(4, "input", Kind::text),
    one(1, "name", Kind::text),
    many(6, "op", Message::op),
    hidden(many(5, "output", Kind::text)),
});

constexpr auto kOp = std::to_array<FieldRule>({
    many(10, "attr", Message::attribute_entry),
    many(27, "dst_index", Kind::integer),
    many(26, "dst_name", Kind::text),
    one(20, "has_out_attr", Kind::boolean),
    one(21, "id", Kind::integer),
    many(5, "input", Kind::text),
    many(33, "input_desc", Message::tensor_descriptor),
    many(28, "input_i", Kind::integer),
    many(23, "input_name", Kind::text),
    many(32, "is_input_const", Kind::boolean),
    one(1, "name", Kind::text),
    many(34, "output_desc", Message::tensor_descriptor),
    many(29, "output_i", Kind::integer),
    many(25, "src_index", Kind::integer),
    many(24, "src_name", Kind::text),
    one(22, "stream_id", Kind::integer),
    many(35, "subgraph_name", Kind::text),
    one(2, "type", Kind::text),
    hidden(many(30, "workspace", Kind::integer)),
    hidden(many(31, "workspace_bytes", Kind::integer)),
});

constexpr auto kTensorDescriptor = std::to_array<FieldRule>({
    many(5, "attr", Message::attribute_entry),
    one(19, "cmps_size", Kind::integer),
    one(20, "cmps_tab", Kind::text),
    one(21, "cmps_tab_offset", Kind::integer),
    hidden(one(18, "data_offset", Kind::integer)),
    one(14, "device_type", Kind::text),
    one(2, "dtype", Kind::dtype),
    one(9, "has_out_attr", Kind::boolean),
    one(15, "input_tensor", Kind::boolean),
    one(4, "layout", Kind::text),
    one(1, "name", Kind::text),
    one(13, "output_tensor", Kind::boolean),
    one(16, "real_dim_cnt", Kind::integer),
    one(12, "reuse_input", Kind::boolean),
    one(17, "reuse_input_index", Kind::integer),
    one(3, "shape", Message::shape),
    hidden(one(10, "size", Kind::integer)),
    hidden(one(11, "weight_size", Kind::integer)),
});

constexpr auto kShape = std::to_array<FieldRule>({many(1, "dim", Kind::integer)});

constexpr auto kTensor = std::to_array<FieldRule>({
    hidden(one(2, "data", Kind::bytes)),
    one(1, "desc", Message::tensor_descriptor),
});

constexpr auto kNamedAttributes = std::to_array<FieldRule>({
    many(2, "attr", Message::attribute_entry),
    one(1, "name", Kind::text),
});

constexpr auto kAttribute = std::to_array<FieldRule>({
    choice(5, "b", Kind::boolean),
    hidden(choice(7, "bt", Kind::bytes)),
    choice(15, "dt", Kind::integer),
    choice(17, "expression", Kind::bytes),
    choice(4, "f", Kind::real),
    choice(10, "func", Message::named_attributes),
    choice(13, "g", Message::graph),
    choice(3, "i", Kind::integer),
    choice(1, "list", Message::list),
    choice(16, "list_list_float", Message::real_lists),
    choice(14, "list_list_int", Message::integer_lists),
    choice(2, "s", Kind::bytes),
    choice(12, "t", Message::tensor),
    choice(11, "td", Message::tensor_descriptor),
});

constexpr auto kList = std::to_array<FieldRule>({
    many(5, "b", Kind::boolean),
    hidden(many(7, "bt", Kind::bytes)),
    many(12, "dt", Kind::integer),
    many(4, "f", Kind::real),
    many(10, "g", Message::graph),
    many(3, "i", Kind::integer),
    many(11, "na", Message::named_attributes),
    many(2, "s", Kind::bytes),
    many(9, "t", Message::tensor),
    many(8, "td", Message::tensor_descriptor),
    one(20, "val_type", Kind::list_type),
});

constexpr auto kEntry = std::to_array<FieldRule>({
    one(1, "key", Kind::text),
    one(2, "value", Message::attribute),
});

constexpr auto kIntegerLists =
    std::to_array<FieldRule>({many(1, "list_list_i", Message::integer_list)});
constexpr auto kIntegerList = std::to_array<FieldRule>({many(1, "list_i", Kind::integer)});
constexpr auto kRealLists = std::to_array<FieldRule>({many(1, "list_list_f", Message::real_list)});
constexpr auto kRealList = std::to_array<FieldRule>({many(1, "list_f", Kind::real)});

constexpr std::size_t kMostNumber = 35;

/// Position of each field number in its table, plus one.
using NumberIndex = std::array<std::uint8_t, kMostNumber + 1>;

template <std::size_t N>
constexpr NumberIndex index_of(const std::array<FieldRule, N>& rules) {
  NumberIndex index{};
  for (std::size_t i = 0; i < N; ++i) {
    index[rules[i].number] = static_cast<std::uint8_t>(i + 1);
  }
  return index;
}

struct MessageTable {
  std::span<const FieldRule> fields;
  NumberIndex index;
};

template <std::size_t N>
constexpr MessageTable table(const std::array<FieldRule, N>& rules) {
  return {rules, index_of(rules)};
}

/// In the order of MessageKind.
constexpr auto kMessages = std::to_array<MessageTable>({
    table(kModel),
    table(kGraph),
    table(kOp),
    table(kTensorDescriptor),
    table(kShape),
    table(kTensor),
    table(kNamedAttributes),
    table(kAttribute),
    table(kList),
    table(kEntry),
    table(kIntegerLists),
    table(kIntegerList),
    table(kRealLists),
    table(kRealList),
});

constexpr auto kDtypes = std::to_array<std::string_view>(
    {"UNDEFINED",      "FLOAT",       "FLOAT16",     "INT8",        "UINT8",
     "INT16",          "UINT16",      "INT32",       "INT64",       "UINT32",
     "UINT64",         "BOOL",        "DOUBLE",      "STRING",      "DUAL_SUB_INT8",
     "DUAL_SUB_UINT8", "COMPLEX64",   "COMPLEX128",  "QINT8",       "QINT16",
     "QINT32",         "QUINT8",      "QUINT16",     "RESOURCE",    "STRING_REF",
     "DUAL",           "VARIANT",     "BF16",        "INT4",        "UINT1",
     "INT2",           "UINT2",       "COMPLEX32",   "HIFLOAT8",    "FLOAT8_E5M2",
     "FLOAT8_E4M3FN",  "FLOAT8_E8M0", "FLOAT6_E3M2", "FLOAT6_E2M3", "FLOAT4_E2M1",
     "FLOAT4_E1M2",    "HIFLOAT4"});

constexpr auto kListTypes = std::to_array<std::string_view>(
    {"VT_LIST_NONE", "VT_LIST_STRING", "VT_LIST_INT", "VT_LIST_FLOAT", "VT_LIST_BOOL",
     "VT_LIST_BYTES", "VT_LIST_TENSOR_DESC", "VT_LIST_TENSOR", "VT_LIST_GRAPH",
     "VT_LIST_NAMED_ATTRS", "VT_LIST_DATA_TYPE"});

const MessageTable& table_of(MessageKind kind) {
  return kMessages[static_cast<std::size_t>(kind)];
}

}  // namespace

bool FieldRule::fits(const ProtobufField& field) const {
  switch (kind) {
    case Kind::text:
    case Kind::bytes:
    case Kind::message: return field.type == WireType::bytes;
    case Kind::real:
      return field.type == WireType::fixed32 || (repeated && field.type == WireType::bytes);
    case Kind::integer:
    case Kind::boolean:
    case Kind::dtype:
    case Kind::list_type: break;
  }
  return field.type == WireType::varint || (repeated && field.type == WireType::bytes);
}

std::span<const FieldRule> fields_of(MessageKind kind) {
  return table_of(kind).fields;
}

const FieldRule* find_rule(MessageKind kind, const ProtobufField& field) {
  const MessageTable& messages = table_of(kind);
  if (field.number > kMostNumber || messages.index[field.number] == 0) {
    return nullptr;
  }
  const FieldRule& rule = messages.fields[messages.index[field.number] - 1U];
  return rule.fits(field) ? &rule : nullptr;
}

const FieldRule* find_rule(MessageKind kind, std::string_view name) {
  const std::span<const FieldRule> fields = fields_of(kind);
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const FieldRule& rule) { return rule.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view proto_dtype_name(std::uint64_t number) {
  return number < kDtypes.size() ? kDtypes[static_cast<std::size_t>(number)] : std::string_view();
}

std::string_view list_type_name(std::uint64_t number) {
  return number < kListTypes.size() ? kListTypes[static_cast<std::size_t>(number)]
                                    : std::string_view();
}

std::optional<std::uint64_t> enum_number(FieldKind kind, std::string_view name) {
  constexpr std::string_view kDtypePrefix = "DT_";
  if (kind == FieldKind::list_type) {
    const auto* const found = std::find(kListTypes.begin(), kListTypes.end(), name);
    return found == kListTypes.end() ? std::nullopt
                                     : std::optional<std::uint64_t>(found - kListTypes.begin());
  }
  if (kind != FieldKind::dtype || !name.starts_with(kDtypePrefix)) {
    return std::nullopt;
  }
  const auto* const found =
      std::find(kDtypes.begin(), kDtypes.end(), name.substr(kDtypePrefix.size()));
  return found == kDtypes.end() ? std::nullopt
                                : std::optional<std::uint64_t>(found - kDtypes.begin());
}

}  // namespace opdrift::graph
