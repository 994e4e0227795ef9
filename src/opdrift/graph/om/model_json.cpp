#include "opdrift/graph/om/model_json.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/om/model_graph.hpp"

namespace opdrift::graph {

namespace {

namespace number = field_number;

constexpr std::string_view kFusionModel = "fm";
constexpr std::string_view kFusionScope = "fusion_scope";
constexpr std::string_view kGroupName = "group_op_name";
constexpr std::uint64_t kListOfTexts = 1;
constexpr std::uint64_t kMostExpandedBytes = 1'000'000'000;

/// A field found in a message, with its rule.
struct Found {
  const FieldRule* rule = nullptr;
  ProtobufField field;
};

using FoundFields = std::vector<Found>;

std::string enum_text(const FieldRule& rule, std::uint64_t value) {
  if (rule.kind == FieldKind::dtype) {
    return proto_dtype_text(value);
  }
  const std::string_view name = list_type_name(value);
  return name.empty() ? "UNKNOWN_ENUM_VALUE_ListValueType_" +
                            std::to_string(static_cast<std::int32_t>(value))
                      : std::string(name);
}

bool is_default(const FieldRule& rule, const ProtobufField& field) {
  if (rule.kind == FieldKind::message || rule.one_of) {
    return false;
  }
  return field.type == WireType::bytes ? field.bytes.empty() : field.value == 0;
}

/// True when the message would be serialised to nothing: all its fields are at their default.
Result<bool> is_empty(MessageKind kind, const ProtobufField& message) {
  bool empty = true;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        const FieldRule* rule = find_rule(kind, field);
        empty = empty && rule != nullptr && is_default(*rule, field);
        return Unit{};
      }));
  return empty;
}

class ModelRenderer {
 public:
  ModelRenderer(const ModelDef& model, JsonWriter& out) : model_(model), out_(out) {}

  Status render() {
    OPDRIFT_CHECK_OK(read_fusion_scopes());
    FoundFields fields;
    for (const ProtobufField& field : model_.fields()) {
      fields.push_back({find_rule(MessageKind::model, field), field});
    }
    out_.begin_object();
    OPDRIFT_CHECK_OK(write_fields(fields, MessageKind::model, 0, true));
    out_.end_object();
    return Unit{};
  }

 private:
  /// `expand`: attributes of operators in here may be compressed.
  Status write_message(MessageKind kind, const ProtobufField& message, unsigned depth,
                       bool expand) {
    if (depth > kMostModelDepth) {
      out_.null();
      return Unit{};
    }
    FoundFields fields;
    OPDRIFT_CHECK_OK(collect(kind, message, fields));
    out_.begin_object();
    OPDRIFT_CHECK_OK(write_fields(fields, kind, depth, expand));
    out_.end_object();
    return Unit{};
  }

  static Status collect(MessageKind kind, const ProtobufField& message, FoundFields& fields) {
    std::optional<std::size_t> chosen;
    return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
      const FieldRule* rule = find_rule(kind, field);
      if (rule == nullptr) {
        return Unit{};
      }
      if (rule->one_of && chosen) {
        fields[*chosen] = {rule, field};
        return Unit{};
      }
      if (fields.size() >= kMostFields) {
        return Error{ErrorCode::limit, "too many elements in one message", {}, field.offset};
      }
      if (rule->one_of) {
        chosen = fields.size();
      }
      fields.push_back({rule, field});
      return Unit{};
    });
  }

  Status write_fields(FoundFields& fields, MessageKind kind, unsigned depth, bool expand) {
    // Rules of one message lie in the order of their names.
    std::stable_sort(fields.begin(), fields.end(),
                     [](const Found& a, const Found& b) { return a.rule < b.rule; });
    const std::string group = kind == MessageKind::op && expand ? next_group(fields) : "";
    if (!group.empty() && (fields.empty() || !fields.front().rule->is_map())) {
      out_.key("attr");
      OPDRIFT_CHECK_OK(write_attributes({}, group, depth));
    }
    for (auto first = fields.begin(); first != fields.end();) {
      const auto last = std::find_if(
          first, fields.end(), [first](const Found& found) { return found.rule != first->rule; });
      OPDRIFT_CHECK_OK(write_field({&*first, static_cast<std::size_t>(last - first)}, kind, group,
                                   depth, expand));
      first = last;
    }
    return Unit{};
  }

  /// All occurrences of one field.
  Status write_field(std::span<const Found> found, MessageKind kind, const std::string& group,
                     unsigned depth, bool expand) {
    const FieldRule& rule = *found.front().rule;
    if (rule.left_out) {
      return Unit{};
    }
    if (rule.is_map()) {
      return write_map(found, kind, group, depth, expand);
    }
    if (rule.repeated) {
      return write_repeated(rule, found, depth, expand);
    }
    const ProtobufField& field = found.back().field;
    if (is_default(rule, field)) {
      return Unit{};
    }
    if (rule.kind == FieldKind::message) {
      OPDRIFT_TRY(const bool empty, is_empty(rule.message, field));
      if (empty) {
        return Unit{};
      }
      out_.key(rule.name);
      return write_message(rule.message, field, depth + 1, false);
    }
    out_.key(rule.name);
    write_scalar(rule, field);
    return Unit{};
  }

  void write_scalar(const FieldRule& rule, const ProtobufField& field) {
    switch (rule.kind) {
      case FieldKind::text: out_.text(as_text(field.bytes)); break;
      case FieldKind::bytes: out_.text(escape_c(as_text(field.bytes))); break;
      case FieldKind::integer: out_.integer(field.as_i64()); break;
      case FieldKind::boolean: out_.boolean(field.value != 0); break;
      case FieldKind::real: write_real(field.as_float()); break;
      case FieldKind::dtype:
      case FieldKind::list_type: out_.text(enum_text(rule, field.value)); break;
      case FieldKind::message: break;
    }
  }

  void write_real(float value) {
    const std::string text = short_real(value);
    if (text.empty()) {
      out_.real(static_cast<double>(value));
    } else {
      out_.text(text);
    }
  }

  Status write_repeated(const FieldRule& rule, std::span<const Found> found, unsigned depth,
                        bool expand) {
    const bool numbers = rule.kind != FieldKind::text && rule.kind != FieldKind::bytes &&
                         rule.kind != FieldKind::message;
    const bool nothing = std::all_of(found.begin(), found.end(), [&](const Found& one) {
      return numbers && one.field.type == WireType::bytes && one.field.bytes.empty();
    });
    if (nothing) {
      return Unit{};
    }
    out_.key(rule.name);
    out_.begin_array();
    for (const Found& one : found) {
      if (rule.kind == FieldKind::message) {
        OPDRIFT_CHECK_OK(write_message(rule.message, one.field, depth + 1, expand));
      } else if (!numbers) {
        out_.text(as_text(one.field.bytes));
      } else {
        OPDRIFT_CHECK_OK(for_each_number(rule, one.field,
                                         [&](std::uint64_t item) { write_number(rule, item); }));
      }
    }
    out_.end_array();
    return Unit{};
  }

  void write_number(const FieldRule& rule, std::uint64_t item) {
    if (rule.kind == FieldKind::real) {
      out_.real(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(item))));
    } else if (rule.kind == FieldKind::boolean) {
      out_.boolean(item != 0);
    } else {
      out_.integer(static_cast<std::int64_t>(item));
    }
  }

  Status write_map(std::span<const Found> found, MessageKind kind, const std::string& group,
                   unsigned depth, bool expand) {
    std::vector<ModelAttribute> attributes;
    if (kind == MessageKind::model) {
      OPDRIFT_TRY(attributes, model_.model_attributes());
    } else {
      const bool compressed =
          expand && (kind == MessageKind::op || kind == MessageKind::tensor_descriptor);
      std::vector<ProtobufField> entries;
      entries.reserve(found.size());
      for (const Found& one : found) {
        entries.push_back(one.field);
      }
      OPDRIFT_TRY(attributes, model_.attributes(entries, compressed));
    }
    if (attributes.empty() && group.empty()) {
      return Unit{};
    }
    out_.key(found.front().rule->name);
    return write_attributes(attributes, group, depth);
  }

  Status write_attributes(const std::vector<ModelAttribute>& attributes, const std::string& group,
                          unsigned depth) {
    out_.begin_array();
    for (const ModelAttribute& attribute : attributes) {
      if (group.empty() || attribute.key != kGroupName) {
        OPDRIFT_CHECK_OK(write_attribute(attribute, depth + 1));
      }
    }
    if (!group.empty()) {
      out_.begin_object();
      out_.key("key");
      out_.text(kGroupName);
      out_.key("value");
      out_.begin_object();
      out_.key("s");
      out_.text(group);
      out_.end_object();
      out_.end_object();
    }
    out_.end_array();
    return Unit{};
  }

  Status write_attribute(const ModelAttribute& attribute, unsigned depth) {
    if (depth > kMostModelDepth) {
      out_.null();
      return Unit{};
    }
    out_.begin_object();
    if (!attribute.key.empty()) {
      out_.key("key");
      out_.text(attribute.key);
    }
    OPDRIFT_TRY(const bool empty, is_empty(MessageKind::attribute, attribute.value));
    if (!empty) {
      out_.key("value");
      OPDRIFT_CHECK_OK(attribute.numbered ? write_numbered(attribute, depth + 1)
                                          : write_message(MessageKind::attribute, attribute.value,
                                                          depth + 1, false));
    }
    out_.end_object();
    return Unit{};
  }

  /// An attribute whose integers stand for texts.
  Status write_numbered(const ModelAttribute& attribute, unsigned depth) {
    OPDRIFT_TRY(const ProtobufField chosen, chosen_field(MessageKind::attribute, attribute.value));
    if (chosen.number != number::kInteger && chosen.number != number::kAttrList) {
      return write_message(MessageKind::attribute, attribute.value, depth, false);
    }
    out_.begin_object();
    if (chosen.number == number::kInteger) {
      out_.key("s");
      OPDRIFT_CHECK_OK(count_expanded(chosen.value, chosen.offset));
      out_.text(model_.numbered_text(chosen.value));
    } else if (!chosen.bytes.empty()) {
      out_.key("list");
      OPDRIFT_CHECK_OK(write_numbered_list(chosen));
    }
    out_.end_object();
    return Unit{};
  }

  Status write_numbered_list(const ProtobufField& list) {
    FoundFields fields;
    OPDRIFT_CHECK_OK(collect(MessageKind::list, list, fields));
    out_.begin_object();
    bool begun = false;
    for (const Found& found : fields) {
      if (found.rule->number != number::kInteger) {
        continue;
      }
      if (!begun) {
        out_.key("s");
        out_.begin_array();
        begun = true;
      }
      Status status = Unit{};
      OPDRIFT_CHECK_OK(for_each_number(*found.rule, found.field, [&](std::uint64_t item) {
        status = status ? count_expanded(item, found.field.offset) : status;
        if (status) {
          out_.text(model_.numbered_text(item));
        }
      }));
      OPDRIFT_CHECK_OK(status);
    }
    if (begun) {
      out_.end_array();
    }
    const bool typed = std::any_of(fields.begin(), fields.end(), [](const Found& found) {
      return found.rule->kind == FieldKind::list_type && found.field.value != 0;
    });
    if (typed) {
      out_.key("val_type");
      out_.text(list_type_name(kListOfTexts));
    }
    out_.end_object();
    return Unit{};
  }

  /// A byte of the file may stand for a long text: the rendering stays in some proportion.
  Status count_expanded(std::uint64_t text_number, std::uint64_t offset) {
    expanded_bytes_ += model_.numbered_text(text_number).size();
    if (expanded_bytes_ > kMostExpandedBytes) {
      return Error{ErrorCode::limit,
                   "expected at most 1 GB of texts out of the tables of the model",
                   {},
                   offset};
    }
    return Unit{};
  }

  /// The fusion scopes of very old models: one serialised OpDef per operator.
  Status read_fusion_scopes() {
    OPDRIFT_TRY(const std::vector<ModelAttribute> attributes, model_.model_attributes());
    const auto fusion =
        std::find_if(attributes.begin(), attributes.end(),
                     [](const ModelAttribute& one) { return one.key == kFusionModel; });
    if (fusion == attributes.end()) {
      return Unit{};
    }
    OPDRIFT_TRY(const ProtobufField list, chosen_field(MessageKind::attribute, fusion->value));
    if (list.number != number::kAttrList) {
      return Unit{};
    }
    bool ended = false;
    return for_each_field(ProtobufCursor(list), [&](const ProtobufField& entry) -> Status {
      ended = ended || (entry.number == number::kBytes && entry.bytes.empty());
      if (ended || !entry.is(number::kBytes, WireType::bytes)) {
        return Unit{};
      }
      const Result<std::uint64_t> scope = fusion_scope(entry);
      scopes_.push_back(scope.value_or(0));  // an entry that is no OpDef names no group
      return Unit{};
    });
  }

  Result<std::uint64_t> fusion_scope(const ProtobufField& op) const {
    ProtobufField content = op;
    content.nested_depth = 0;
    OPDRIFT_TRY(const std::vector<ModelAttribute> attributes,
                model_.attributes(content, number::kOpAttr, false));
    for (const ModelAttribute& attribute : attributes) {
      if (attribute.key == kFusionScope) {
        OPDRIFT_TRY(const ProtobufField value,
                    chosen_field(MessageKind::attribute, attribute.value));
        return value.number == number::kInteger ? value.value : std::uint64_t{0};
      }
    }
    return std::uint64_t{0};
  }

  /// The group of the next operator; "" when it has none.
  std::string next_group(const FoundFields& op) {
    if (next_scope_ >= scopes_.size()) {
      return "";
    }
    const std::uint64_t scope = scopes_[next_scope_++];
    const std::uint64_t l1 = scope >> 16 & 0xFFFF;
    const std::uint64_t ub = scope & 0xFFFF;
    if (l1 == 0 && ub == 0) {
      return "";
    }
    std::int64_t stream = 0;
    for (const Found& found : op) {
      stream = found.field.number == number::kOpStream ? found.field.as_i64() : stream;
    }
    return (l1 != 0 ? "group_op_l1_" + std::to_string(l1) : "group_op_ub_" + std::to_string(ub)) +
           "_" + std::to_string(stream);
  }

  const ModelDef& model_;
  JsonWriter& out_;
  std::vector<std::uint64_t> scopes_;  // of operators in file order
  std::size_t next_scope_ = 0;
  std::uint64_t expanded_bytes_ = 0;
};

}  // namespace

Status write_model_json(const ModelDef& model, const TextSink& sink) {
  JsonWriter out(sink);
  OPDRIFT_CHECK_OK(ModelRenderer(model, out).render());
  OPDRIFT_CHECK_OK(out.finish());
  return sink("\n");
}

}  // namespace opdrift::graph
