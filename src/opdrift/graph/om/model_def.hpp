#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/graph/om/model_schema.hpp"

/// A serialised ModelDef (model_schema.hpp), checked and ready to be walked over, with its
/// compressed attributes made readable:
///
///   model attributes  om_compress_version = 1, and tables attr_name_enum (texts),
///                     attrs_use_string_value (booleans), attr_value_enum (texts)
///   key               0x00 c0 c1 ...   number = sum of (c_k - 1) * 127^k, a name of the first
///   table value             i, or list of i, is a position in the third table where the second
///   says so
///
/// Keys and values are compressed in the attributes of operators and of their input_desc and
/// output_desc, nowhere else.
namespace opdrift::graph {

/// One attribute under its readable name.
struct ModelAttribute {
  std::string_view key;
  ProtobufField value;    ///< the AttrDef; empty bytes when the entry has none
  bool numbered = false;  ///< integers in it stand for texts: ModelDef::numbered_text
};

struct ModelDefOptions {
  bool salvage = false;  ///< end at the first damaged operator, instead of failing
};

class ModelDef {
 public:
  /// Checks the whole message down to 20 levels. `offset` is its position in the file. Fails with
  /// malformed, truncated or limit.
  static Result<ModelDef> read(ByteSpan message, std::uint64_t offset,
                               const ModelDefOptions& options = {});

  std::string_view name() const { return name_; }
  /// All known fields of the message; graphs hold whole operators only.
  const std::vector<ProtobufField>& fields() const { return fields_; }
  std::vector<ProtobufField> graphs() const { return fields_of_number(field_number::kModelGraph); }
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// The attributes of a message, sorted by key, the last of several entries of one key.
  /// `expand`: they may be compressed. Attributes that cannot be expanded are left out, with a
  /// warning. `rule` is the number of the attr field.
  Result<std::vector<ModelAttribute>> attributes(const ProtobufField& message, std::uint32_t rule,
                                                 bool expand) const;
  /// The same from entries that were found already.
  Result<std::vector<ModelAttribute>> attributes(const std::vector<ProtobufField>& entries,
                                                 bool expand) const;
  /// Attributes of the model itself, without the tables of the compression.
  Result<std::vector<ModelAttribute>> model_attributes() const;
  /// The text a number of a `numbered` attribute stands for; attributes() made sure there is one.
  std::string_view numbered_text(std::uint64_t number) const;
  void warn(std::string text) const;

 private:
  Status read_fields(ByteSpan message, std::uint64_t offset, const ModelDefOptions& options);
  Status take_field(const ProtobufField& field, bool cut, const ModelDefOptions& options);
  Result<ProtobufField> whole_operators(const ProtobufField& graph, bool cut);
  Status read_tables();
  Result<bool> texts_known(const ModelAttribute& attribute) const;
  std::vector<ProtobufField> fields_of_number(std::uint32_t number) const;
  std::optional<std::string_view> expanded_key(std::string_view key, bool& numbered) const;

  std::string_view name_;
  std::vector<ProtobufField> fields_;
  bool compressed_ = false;
  std::vector<std::string_view> names_;
  std::vector<std::uint64_t> use_text_;
  std::vector<std::string_view> texts_;
  mutable std::vector<std::string> warnings_;
};

/// Most elements believed of one message; keeps memory in proportion to honest files.
inline constexpr std::size_t kMostFields = std::size_t{1} << 22;
/// Deepest message looked at, the model being 0.
inline constexpr unsigned kMostModelDepth = 20;

/// Checks a message and all messages in it, down to kMostModelDepth.
Status check_message(MessageKind kind, const ProtobufField& message, unsigned depth);

/// The field of an AttrDef or another one-of message that is set; number 0 when none is.
Result<ProtobufField> chosen_field(MessageKind kind, const ProtobufField& message);

/// Calls `visit(value)` for the numbers of a repeated field, packed or not. Reals come as bits.
template <typename Visitor>
Status for_each_number(const FieldRule& rule, const ProtobufField& field, Visitor visit) {
  if (field.type != WireType::bytes) {
    visit(field.value);
    return Unit{};
  }
  ByteCursor cursor(field.bytes, field.offset);
  while (cursor.remaining() > 0) {
    if (rule.kind == FieldKind::real) {
      OPDRIFT_TRY(const std::uint32_t bits, cursor.u32("packed number"));
      visit(std::uint64_t{bits});
    } else {
      OPDRIFT_TRY(const std::uint64_t number, cursor.varint("packed number"));
      visit(number);
    }
  }
  return Unit{};
}

}  // namespace opdrift::graph
