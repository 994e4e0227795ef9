#include "opdrift/graph/om/visual_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/om/inout_info.hpp"
#include "opdrift/graph/om/model_schema.hpp"

namespace opdrift::graph {

namespace {

using nlohmann::json;
namespace number = field_number;

constexpr int kMostLevels = 64;
constexpr std::int64_t kMostTypeNumber = 64;

/// The values of `type` and the field of AttrDef each stands for; for lists the field of ListValue
/// and its val_type.
struct ValueType {
  std::string_view name;
  std::string_view field;
  std::uint64_t list_type = 0;  ///< 0: no list
};

constexpr auto kValueTypes = std::to_array<ValueType>({
    {"string", "s"},
    {"int", "i"},
    {"float", "f"},
    {"bool", "b"},
    {"bytes", "bt"},
    {"expression", "expression"},
    {"func", "func"},
    {"tensor_desc", "td"},
    {"tensor", "t"},
    {"graph", "g"},
    {"data_type", "dt"},
    {"list_list_int", "list_list_int"},
    {"list_list_float", "list_list_float"},
    {"list_string", "s", 1},
    {"list_int", "i", 2},
    {"list_float", "f", 3},
    {"list_bool", "b", 4},
    {"list_bytes", "bt", 5},
    {"list_tensor_desc", "td", 6},
    {"list_tensor", "t", 7},
    {"list_graph", "g", 8},
    {"list_named_attrs", "na", 9},
    {"list_data_type", "dt", 10},
});

Error wrong_kind(std::string_view field, std::string_view wanted, const json& found) {
  return Error{ErrorCode::bad_json, "expected " + std::string(wanted) + " as \"" +
                                        printable(field) + "\", found " + found.type_name()};
}

/// Whole numbers stand as numbers, those of 64 bits also as text.
std::optional<std::uint64_t> whole_number(const json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  if (value.is_number_integer()) {
    return static_cast<std::uint64_t>(value.get<std::int64_t>());
  }
  if (!value.is_string()) {
    return std::nullopt;
  }
  const std::string& text = value.get_ref<const std::string&>();
  const auto digits = parse_u64(std::string_view(text).substr(text.starts_with('-') ? 1 : 0));
  return digits && text.starts_with('-') ? std::uint64_t{0} - *digits : digits;
}

/// The number of a type that an attribute names: another list than that of descriptors.
std::optional<std::uint64_t> attribute_type(const json& value) {
  if (!value.is_string()) {
    return whole_number(value);
  }
  std::string_view name = value.get_ref<const std::string&>();
  name.remove_prefix(name.starts_with("DT_") ? 3 : 0);
  for (std::int64_t type = 0; type < kMostTypeNumber; ++type) {
    if (attribute_dtype_name(type) == name) {
      return static_cast<std::uint64_t>(type);
    }
  }
  return whole_number(value);
}

class VisualEncoder {
 public:
  /// All fields of a message.
  Status fields(MessageKind kind, const json& object, ProtobufWriter& out) const {
    if (kind == MessageKind::shape && object.is_array()) {
      return field(*find_rule(kind, std::string_view("dim")), object, out);
    }
    if (!object.is_object()) {
      return wrong_kind("message", "an object", object);
    }
    for (const auto& [key, value] : object.items()) {
      const FieldRule* rule = find_rule(kind, std::string_view(key));
      if (rule != nullptr && !value.is_null()) {
        OPDRIFT_CHECK_OK(field(*rule, value, out));
      }
    }
    return Unit{};
  }

 private:
  Status field(const FieldRule& rule, const json& value, ProtobufWriter& out) const {
    if (rule.is_map()) {
      return attributes(rule, value, out);
    }
    if (!rule.repeated) {
      return item(rule, value, out);
    }
    if (!value.is_array()) {
      return wrong_kind(rule.name, "an array", value);
    }
    for (const json& one : value) {
      OPDRIFT_CHECK_OK(item(rule, one, out));
    }
    return Unit{};
  }

  Status item(const FieldRule& rule, const json& value, ProtobufWriter& out) const {
    switch (rule.kind) {
      case FieldKind::text:
      case FieldKind::bytes:
        if (!value.is_string()) {
          return wrong_kind(rule.name, "a text", value);
        }
        out.text(rule.number, value.get_ref<const std::string&>());
        return Unit{};
      case FieldKind::real: return real(rule, value, out);
      case FieldKind::message: {
        ProtobufWriter message;
        if (!value.is_null()) {
          OPDRIFT_CHECK_OK(fields(rule.message, value, message));
        }
        out.message(rule.number, message);
        return Unit{};
      }
      default: return whole(rule, value, out);
    }
  }

  static Status real(const FieldRule& rule, const json& value, ProtobufWriter& out) {
    const auto text =
        value.is_string() ? parse_double(value.get_ref<const std::string&>()) : std::nullopt;
    if (!value.is_number() && !text) {
      return wrong_kind(rule.name, "a number", value);
    }
    out.real(rule.number, static_cast<float>(text ? *text : value.get<double>()));
    return Unit{};
  }

  static Status whole(const FieldRule& rule, const json& value, ProtobufWriter& out) {
    std::optional<std::uint64_t> found;
    if (value.is_boolean()) {
      found = value.get<bool>() ? 1 : 0;
    } else if (rule.name == "dt") {
      found = attribute_type(value);
    } else if ((rule.kind == FieldKind::dtype || rule.kind == FieldKind::list_type) &&
               value.is_string()) {
      found = enum_number(rule.kind, value.get_ref<const std::string&>());
    } else {
      found = whole_number(value);
    }
    if (!found) {
      return wrong_kind(rule.name, "a whole number or a name that is known", value);
    }
    out.varint(rule.number, *found);
    return Unit{};
  }

  Status attributes(const FieldRule& rule, const json& value, ProtobufWriter& out) const {
    if (value.is_array()) {  // as the JSON of atc --mode=1 has them
      for (const json& entry : value) {
        ProtobufWriter message;
        OPDRIFT_CHECK_OK(fields(MessageKind::attribute_entry, entry, message));
        out.message(rule.number, message);
      }
      return Unit{};
    }
    if (!value.is_object()) {
      return wrong_kind(rule.name, "an object", value);
    }
    for (const auto& [key, content] : value.items()) {
      ProtobufWriter attribute;
      OPDRIFT_CHECK_OK(attribute_value(content, attribute));
      ProtobufWriter entry;
      entry.text(number::kEntryKey, key);
      entry.message(number::kEntryValue, attribute);
      out.message(rule.number, entry);
    }
    return Unit{};
  }

  Status attribute_value(const json& value, ProtobufWriter& out) const {
    switch (value.type()) {
      case json::value_t::string: return typed("string", value, out);
      case json::value_t::number_integer:
      case json::value_t::number_unsigned: return typed("int", value, out);
      case json::value_t::number_float: return typed("float", value, out);
      case json::value_t::boolean: return typed("bool", value, out);
      case json::value_t::array: return bare_list(value, out);
      case json::value_t::object: break;
      default: return Unit{};
    }
    const auto type = value.find("type");
    const auto content = value.find("value");
    if (type == value.end() || !type->is_string()) {
      return fields(MessageKind::attribute, value, out);
    }
    return typed(type->get_ref<const std::string&>(), content == value.end() ? json() : *content,
                 out);
  }

  /// A list that does not say of what: its elements do.
  Status bare_list(const json& list, ProtobufWriter& out) const {
    const auto is_real = [](const json& one) { return one.is_number_float(); };
    if (!list.empty() && list.front().is_array()) {
      const bool reals = std::any_of(list.begin(), list.end(), [&](const json& inner) {
        return inner.is_array() && std::any_of(inner.begin(), inner.end(), is_real);
      });
      return typed(reals ? "list_list_float" : "list_list_int", list, out);
    }
    if (!list.empty() && list.front().is_string()) {
      return typed("list_string", list, out);
    }
    if (!list.empty() && list.front().is_boolean()) {
      return typed("list_bool", list, out);
    }
    return typed(std::any_of(list.begin(), list.end(), is_real) ? "list_float" : "list_int", list,
                 out);
  }

  Status typed(std::string_view type, const json& value, ProtobufWriter& out) const {
    const auto* const known =
        std::find_if(kValueTypes.begin(), kValueTypes.end(),
                     [type](const ValueType& one) { return one.name == type; });
    if (known == kValueTypes.end()) {
      return Unit{};
    }
    if (known->list_type != 0) {
      ProtobufWriter list;
      if (!value.is_null()) {
        OPDRIFT_CHECK_OK(field(*find_rule(MessageKind::list, known->field), value, list));
      }
      list.varint(number::kListType, known->list_type);
      out.message(number::kAttrList, list);
      return Unit{};
    }
    const FieldRule& rule = *find_rule(MessageKind::attribute, known->field);
    if (rule.message == MessageKind::integer_lists || rule.message == MessageKind::real_lists) {
      return nested(rule, value, out);
    }
    return value.is_null() ? Status(Unit{}) : item(rule, value, out);
  }

  /// [[1, 2], [3]] as a message of messages.
  Status nested(const FieldRule& rule, const json& value, ProtobufWriter& out) const {
    if (!value.is_array()) {
      return wrong_kind(rule.name, "an array of arrays", value);
    }
    const FieldRule& inner = fields_of(rule.message).front();
    ProtobufWriter lists;
    for (const json& one : value) {
      ProtobufWriter list;
      OPDRIFT_CHECK_OK(field(fields_of(inner.message).front(), one, list));
      lists.message(inner.number, list);
    }
    out.message(rule.number, lists);
    return Unit{};
  }
};

/// Takes the operators out of the growing tree as they end, so that no whole graph stands in it.
class OperatorStream {
 public:
  /// What was wrong with the events so far.
  const std::optional<Error>& problem() const { return problem_; }

  /// False: the part is not kept.
  bool event(int depth, json::parse_event_t event, json& part) {
    if (problem_ || depth > kMostLevels) {
      if (!problem_) {
        problem_ = Error{ErrorCode::limit,
                         "expected at most " + std::to_string(kMostLevels) + " levels, found more"};
      }
      return false;
    }
    const auto level = static_cast<std::size_t>(depth);
    if (event == json::parse_event_t::key) {
      path_.resize(std::max(path_.size(), level + 1));
      path_[level] = part.get_ref<const std::string&>();
    } else if (event == json::parse_event_t::object_end) {
      return keep(level, part);
    }
    return true;
  }

  Result<std::vector<std::byte>> finish(const json& file) {
    if (problem_) {
      return *problem_;
    }
    const auto found = file.is_object() ? file.find("model") : file.end();
    if (!file.is_object() || (found == file.end() && graphs_ == 0)) {
      return Error{ErrorCode::bad_json, "expected element \"model\", found none"};
    }
    OPDRIFT_CHECK_OK(
        encoder_.fields(MessageKind::model, found == file.end() ? file : *found, model_));
    return model_.take();
  }

 private:
  /// The levels of a model at `base`: its "graph" stands at base + 1, operators below base + 3.
  bool keep(std::size_t level, json& part) {
    const std::size_t base = !path_.empty() && path_.size() > 1 && path_[1] == "model" ? 1 : 0;
    const auto on = [&](std::size_t at, std::string_view key) {
      return at < path_.size() && path_[at] == key;
    };
    const bool in_graph = on(base + 1, "graph");
    if (in_graph && level == base + 4 && on(base + 3, "op")) {
      ProtobufWriter op;
      note(encoder_.fields(MessageKind::op, part, op));
      graph_.message(number::kGraphOp, op);
      return false;
    }
    if (in_graph && level == base + 2) {
      note(encoder_.fields(MessageKind::graph, part, graph_));
      model_.message(number::kModelGraph, graph_);
      graph_ = {};
      ++graphs_;
      return false;
    }
    return true;
  }

  void note(const Status& status) {
    if (!status && !problem_) {
      problem_ = status.error();
    }
  }

  VisualEncoder encoder_;
  ProtobufWriter model_;
  ProtobufWriter graph_;  // the one being read
  std::vector<std::string> path_;
  std::size_t graphs_ = 0;
  std::optional<Error> problem_;
};

}  // namespace

Result<std::vector<std::byte>> encode_visual_json(ByteSpan text) {
  if (text.size() > kMostVisualJson) {
    return Error{ErrorCode::limit,
                 "expected at most 1 GiB of JSON, found " + std::to_string(text.size()) + " bytes"};
  }
  OperatorStream stream;
  const auto* const first = reinterpret_cast<const char*>(text.data());
  try {
    const json file = json::parse(first, first + text.size(),
                                  [&stream](int depth, json::parse_event_t event, json& part) {
                                    return stream.event(depth, event, part);
                                  });
    return stream.finish(file);
  } catch (const json::parse_error& error) {
    if (stream.problem()) {
      return *stream.problem();
    }
    return json_error(error.byte, error);
  } catch (const json::exception& error) {  // a number beyond double
    return json_error(0, error);
  }
}

}  // namespace opdrift::graph
