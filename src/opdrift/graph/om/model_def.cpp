#include "opdrift/graph/om/model_def.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

constexpr std::string_view kVersionKey = "om_compress_version";
constexpr std::string_view kNamesKey = "attr_name_enum";
constexpr std::string_view kUseTextKey = "attrs_use_string_value";
constexpr std::string_view kTextsKey = "attr_value_enum";
constexpr std::uint64_t kDigits = 127;
constexpr std::size_t kMostWarnings = 100;

bool is_compression_table(std::string_view key) {
  return key == kVersionKey || key == kNamesKey || key == kUseTextKey || key == kTextsKey;
}

Error too_many(std::uint64_t offset) {
  return Error{ErrorCode::limit,
               "expected at most " + std::to_string(kMostFields) + " elements in one message",
               {},
               offset};
}

/// Key and value of a map entry.
Result<ModelAttribute> entry_of(const ProtobufField& entry) {
  ModelAttribute attribute;
  attribute.value.type = WireType::bytes;
  attribute.value.offset = entry.offset;
  attribute.value.nested_depth = entry.nested_depth + 1;
  OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(entry), [&](const ProtobufField& field) -> Status {
    if (field.is(field_number::kEntryKey, WireType::bytes)) {
      attribute.key = as_text(field.bytes);
    } else if (field.is(field_number::kEntryValue, WireType::bytes)) {
      attribute.value = field;
    }
    return Unit{};
  }));
  return attribute;
}

/// The texts of an attribute that is a list of texts.
Result<std::vector<std::string_view>> texts_of(const ProtobufField& value) {
  std::vector<std::string_view> texts;
  OPDRIFT_TRY(const ProtobufField list, chosen_field(MessageKind::attribute, value));
  if (list.number != field_number::kAttrList) {
    return texts;
  }
  OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(list), [&](const ProtobufField& field) -> Status {
    if (field.is(field_number::kText, WireType::bytes)) {
      if (texts.size() >= kMostFields) {
        return too_many(field.offset);
      }
      texts.push_back(as_text(field.bytes));
    }
    return Unit{};
  }));
  return texts;
}

Result<std::vector<std::uint64_t>> booleans_of(const ProtobufField& value) {
  std::vector<std::uint64_t> numbers;
  OPDRIFT_TRY(const ProtobufField list, chosen_field(MessageKind::attribute, value));
  if (list.number != field_number::kAttrList) {
    return numbers;
  }
  OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(list), [&](const ProtobufField& field) -> Status {
    return field.number == field_number::kBoolean ? append_varints(field, numbers, kMostFields)
                                                  : Status(Unit{});
  }));
  return numbers;
}

}  // namespace

Status check_message(MessageKind kind, const ProtobufField& message, unsigned depth) {
  if (depth > kMostModelDepth) {
    return Unit{};
  }
  return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
    const FieldRule* rule = find_rule(kind, field);
    if (rule == nullptr) {
      return Unit{};
    }
    if (rule->kind == FieldKind::message) {
      return check_message(rule->message, field, depth + 1);
    }
    if (rule->repeated && rule->kind != FieldKind::text && rule->kind != FieldKind::bytes) {
      return for_each_number(*rule, field, [](std::uint64_t) {});
    }
    return Unit{};
  });
}

Result<ProtobufField> chosen_field(MessageKind kind, const ProtobufField& message) {
  ProtobufField chosen;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        const FieldRule* rule = find_rule(kind, field);
        if (rule != nullptr && rule->one_of) {
          chosen = field;
        }
        return Unit{};
      }));
  return chosen;
}

Result<ModelDef> ModelDef::read(ByteSpan message, std::uint64_t offset,
                                const ModelDefOptions& options) {
  ModelDef model;
  OPDRIFT_CHECK_OK(model.read_fields(message, offset, options));
  Status tables = model.read_tables();
  if (!tables) {
    if (!options.salvage) {
      return tables.error();
    }
    model.warn(tables.error().to_string());
  }
  return model;
}

Status ModelDef::read_fields(ByteSpan message, std::uint64_t offset,
                             const ModelDefOptions& options) {
  ProtobufCursor cursor(message, offset);
  if (options.salvage) {
    cursor.accept_cut();
  }
  while (true) {
    Result<bool> more = cursor.next();
    Status taken = !more   ? Status(more.error())
                   : *more ? take_field(cursor.field(), cursor.was_cut(), options)
                           : Status(Unit{});
    if (!taken) {
      if (!options.salvage) {
        return taken;
      }
      warn(taken.error().to_string());
    }
    if (!taken || !*more || cursor.was_cut()) {
      return Unit{};
    }
  }
}

Status ModelDef::take_field(const ProtobufField& field, bool cut, const ModelDefOptions& options) {
  const FieldRule* rule = find_rule(MessageKind::model, field);
  if (rule == nullptr) {
    return Unit{};
  }
  if (fields_.size() >= kMostFields) {
    return too_many(field.offset);
  }
  if (field.number == field_number::kModelGraph && options.salvage) {
    OPDRIFT_TRY(const ProtobufField graph, whole_operators(field, cut));
    fields_.push_back(graph);
    return Unit{};
  }
  if (rule->kind == FieldKind::message) {
    OPDRIFT_CHECK_OK(check_message(rule->message, field, 1));
  }
  if (field.number == field_number::kName) {
    name_ = as_text(field.bytes);
  }
  fields_.push_back(field);
  return Unit{};
}

/// The graph up to its first damaged element.
Result<ProtobufField> ModelDef::whole_operators(const ProtobufField& graph, bool cut) {
  ProtobufField whole = graph;
  ProtobufCursor cursor(graph);
  cursor.accept_cut();
  std::uint64_t end = graph.offset;
  std::size_t operators = 0;
  while (true) {
    const Result<bool> more = cursor.next();
    if (!more || !*more || cursor.was_cut()) {
      cut = cut || !more || cursor.was_cut();
      break;
    }
    const FieldRule* rule = find_rule(MessageKind::graph, cursor.field());
    if (rule != nullptr && rule->kind == FieldKind::message &&
        !check_message(rule->message, cursor.field(), 2)) {
      cut = true;
      break;
    }
    operators += cursor.field().number == field_number::kGraphOp ? 1U : 0U;
    end = cursor.next_offset();
  }
  whole.bytes = graph.bytes.first(static_cast<std::size_t>(end - graph.offset));
  if (cut) {
    warn("the description of the model is damaged behind operator " + std::to_string(operators) +
         " of a graph (offset " + std::to_string(end) + "); the rest is missing");
  }
  return whole;
}

std::vector<ProtobufField> ModelDef::fields_of_number(std::uint32_t number) const {
  std::vector<ProtobufField> chosen;
  for (const ProtobufField& field : fields_) {
    if (field.number == number) {
      chosen.push_back(field);
    }
  }
  return chosen;
}

Status ModelDef::read_tables() {
  OPDRIFT_TRY(const std::vector<ModelAttribute> own,
              attributes(fields_of_number(field_number::kModelAttr), false));
  for (const ModelAttribute& attribute : own) {
    if (attribute.key == kVersionKey) {
      OPDRIFT_TRY(const ProtobufField version,
                  chosen_field(MessageKind::attribute, attribute.value));
      compressed_ = version.number == field_number::kInteger && version.value == 1;
      if (!compressed_) {
        warn("expected attribute compression 1, found another; attributes stay as they are");
      }
    } else if (attribute.key == kNamesKey) {
      OPDRIFT_TRY(names_, texts_of(attribute.value));
    } else if (attribute.key == kUseTextKey) {
      OPDRIFT_TRY(use_text_, booleans_of(attribute.value));
    } else if (attribute.key == kTextsKey) {
      OPDRIFT_TRY(texts_, texts_of(attribute.value));
    }
  }
  if (compressed_ && use_text_.size() != names_.size()) {
    warn("expected attrs_use_string_value as long as attr_name_enum (" +
         std::to_string(names_.size()) + "), found " + std::to_string(use_text_.size()));
  }
  return Unit{};
}

std::optional<std::string_view> ModelDef::expanded_key(std::string_view key, bool& numbered) const {
  std::uint64_t number = 0;
  std::uint64_t scale = 1;
  for (const char c : key.substr(1)) {
    const auto digit = static_cast<unsigned char>(c);
    if (digit < 1 || digit > kDigits || scale > kMostFields * kDigits) {
      return std::nullopt;
    }
    number += (digit - 1U) * scale;
    scale *= kDigits;
  }
  if (key.size() < 2 || number >= names_.size()) {
    return std::nullopt;
  }
  const auto position = static_cast<std::size_t>(number);
  numbered = position < use_text_.size() && use_text_[position] != 0;
  return names_[position];
}

Result<std::vector<ModelAttribute>> ModelDef::attributes(const ProtobufField& message,
                                                         std::uint32_t rule, bool expand) const {
  std::vector<ProtobufField> entries;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        if (field.is(rule, WireType::bytes)) {
          if (entries.size() >= kMostFields) {
            return too_many(field.offset);
          }
          entries.push_back(field);
        }
        return Unit{};
      }));
  return attributes(entries, expand);
}

Result<std::vector<ModelAttribute>> ModelDef::attributes(const std::vector<ProtobufField>& entries,
                                                         bool expand) const {
  std::vector<ModelAttribute> found;
  found.reserve(entries.size());
  for (const ProtobufField& entry : entries) {
    OPDRIFT_TRY(ModelAttribute attribute, entry_of(entry));
    if (expand && compressed_ && attribute.key.starts_with('\0')) {
      const auto key = expanded_key(attribute.key, attribute.numbered);
      if (!key) {
        warn("an attribute at offset " + std::to_string(entry.offset) +
             " has a number beyond the " + std::to_string(names_.size()) +
             " names of the model; it is left out");
        continue;
      }
      attribute.key = *key;
      OPDRIFT_TRY(const bool known, texts_known(attribute));
      if (!known) {
        warn("attribute \"" + printable(attribute.key) + "\" at offset " +
             std::to_string(entry.offset) + " has a text number beyond the " +
             std::to_string(texts_.size()) + " texts of the model; it is left out");
        continue;
      }
    }
    found.push_back(attribute);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const ModelAttribute& a, const ModelAttribute& b) { return a.key < b.key; });
  std::vector<ModelAttribute> unique;
  unique.reserve(found.size());
  for (const ModelAttribute& attribute : found) {
    if (!unique.empty() && unique.back().key == attribute.key) {
      unique.back() = attribute;
    } else {
      unique.push_back(attribute);
    }
  }
  return unique;
}

Result<std::vector<ModelAttribute>> ModelDef::model_attributes() const {
  OPDRIFT_TRY(std::vector<ModelAttribute> own,
              attributes(fields_of_number(field_number::kModelAttr), false));
  if (compressed_) {
    std::erase_if(
        own, [](const ModelAttribute& attribute) { return is_compression_table(attribute.key); });
  }
  return own;
}

/// True when every number that stands for a text has one.
Result<bool> ModelDef::texts_known(const ModelAttribute& attribute) const {
  if (!attribute.numbered) {
    return true;
  }
  OPDRIFT_TRY(const ProtobufField chosen, chosen_field(MessageKind::attribute, attribute.value));
  if (chosen.number == field_number::kInteger) {
    return chosen.value < texts_.size();
  }
  bool known = true;
  if (chosen.number == field_number::kAttrList) {
    OPDRIFT_CHECK_OK(
        for_each_field(ProtobufCursor(chosen), [&](const ProtobufField& field) -> Status {
          const FieldRule* rule = find_rule(MessageKind::list, field);
          if (rule == nullptr || rule->number != field_number::kInteger) {
            return Unit{};
          }
          return for_each_number(
              *rule, field, [&](std::uint64_t number) { known = known && number < texts_.size(); });
        }));
  }
  return known;
}

std::string_view ModelDef::numbered_text(std::uint64_t number) const {
  OPDRIFT_CHECK(number < texts_.size());
  return texts_[static_cast<std::size_t>(number)];
}

void ModelDef::warn(std::string text) const {
  if (warnings_.size() < kMostWarnings) {
    warnings_.push_back(std::move(text));
  }
}

}  // namespace opdrift::graph
