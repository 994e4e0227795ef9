#include "opdrift/graph/om/model_text.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/om/model_schema.hpp"
#include "opdrift/graph/text_format.hpp"

namespace opdrift::graph {

namespace {

/// A decimal, hexadecimal or octal number of 64 bits, negative ones as two's complement.
std::optional<std::uint64_t> parse_number(const std::string& text) {
  const bool negative = text.starts_with('-');
  const char* digits = text.c_str() + (negative ? 1 : 0);
  if (*digits < '0' || *digits > '9') {
    return std::nullopt;
  }
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(digits, &end, 0);
  if (errno != 0 || *end != '\0') {
    return std::nullopt;
  }
  return negative ? std::uint64_t{0} - value : std::uint64_t{value};
}

std::optional<std::uint64_t> parse_boolean(const std::string& text) {
  if (text == "true" || text == "True" || text == "t" || text == "1") {
    return 1;
  }
  if (text == "false" || text == "False" || text == "f" || text == "0") {
    return 0;
  }
  return std::nullopt;
}

std::optional<float> parse_real(const std::string& text) {
  const std::string lower = to_lower(text);
  const bool negative = lower.starts_with('-');
  const std::string word = lower.substr(negative ? 1 : 0);
  if (word == "inf" || word == "infinity" || word == "inff") {
    const float infinity = std::numeric_limits<float>::infinity();
    return negative ? -infinity : infinity;
  }
  if (word == "nan" || word == "nanf") {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const auto value = parse_double(lower.ends_with('f') ? lower.substr(0, lower.size() - 1) : lower);
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

/// The number of an enumerator, or the number itself.
std::optional<std::uint64_t> parse_enum(FieldKind kind, const std::string& text) {
  const auto number = enum_number(kind, text);
  return number ? number : parse_number(text);
}

std::string_view expectation(FieldKind kind) {
  switch (kind) {
    case FieldKind::text:
    case FieldKind::bytes: return "a text in quotes";
    case FieldKind::integer: return "a whole number";
    case FieldKind::boolean: return "true or false";
    case FieldKind::real: return "a number";
    case FieldKind::dtype: return "a data type such as DT_FLOAT16";
    case FieldKind::list_type: return "a list type such as VT_LIST_INT";
    case FieldKind::message: break;
  }
  return "a message in braces";
}

class ModelTextEncoder : public TextFormatHandler {
 public:
  ModelTextEncoder() { levels_.push_back({MessageKind::model, 0, {}}); }

  Status begin_message(std::string_view field) override {
    const FieldRule* rule = skipped_ > 0 ? nullptr : rule_of(field);
    if (rule == nullptr) {
      ++skipped_;
      return Unit{};
    }
    if (rule->kind != FieldKind::message) {
      return Error{ErrorCode::malformed, std::string(field) + ": expected " +
                                             std::string(expectation(rule->kind)) +
                                             ", found a message"};
    }
    graph_seen_ = graph_seen_ || rule->message == MessageKind::graph;
    levels_.push_back({rule->message, rule->number, {}});
    return Unit{};
  }

  Status end_message() override {
    if (skipped_ > 0) {
      --skipped_;
      return Unit{};
    }
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    ProtobufWriter& parent =
        levels_.size() == 1 && level.kind == MessageKind::op ? loose_graph_ : levels_.back().writer;
    parent.message(level.number, level.writer);
    return Unit{};
  }

  bool wants(std::string_view field) const override {
    const FieldRule* rule = skipped_ > 0 ? nullptr : rule_of(field);
    return rule != nullptr &&
           (rule->number != kTensorData || levels_.back().kind != MessageKind::tensor);
  }

  Status value(std::string_view field, std::string value, bool quoted) override {
    const FieldRule& rule = *rule_of(field);
    const bool loose = levels_.size() == 1 && rule.repeated;
    ProtobufWriter& writer = loose ? loose_graph_ : levels_.back().writer;
    if (levels_.size() == 1 && field == "name") {
      name_ = value;
    }
    if (!write(rule, value, quoted, writer)) {
      return Error{ErrorCode::malformed, std::string(field) + ": expected " +
                                             std::string(expectation(rule.kind)) + ", found \"" +
                                             printable(value.substr(0, 40)) + "\""};
    }
    return Unit{};
  }

  Result<std::vector<std::byte>> take() {
    ProtobufWriter& model = levels_.front().writer;
    if (!loose_graph_.view().empty()) {
      if (!name_.empty()) {
        loose_graph_.text(field_number::kName, name_);
      }
      model.message(field_number::kModelGraph, loose_graph_);
    } else if (!graph_seen_) {
      return Error{ErrorCode::malformed,
                   "expected the text of a GE graph with 'graph' or 'op', found neither (an ONNX "
                   "text, ge_onnx_*.pbtxt, is not one)"};
    }
    return model.take();
  }

 private:
  static constexpr std::uint32_t kTensorData = 2;

  struct Level {
    MessageKind kind;
    std::uint32_t number;  // of the field it becomes
    ProtobufWriter writer;
  };

  /// At the top the fields of a graph may stand without one around them.
  const FieldRule* rule_of(std::string_view field) const {
    const FieldRule* rule = find_rule(levels_.back().kind, field);
    if (levels_.size() > 1) {
      return rule;
    }
    return rule != nullptr ? rule : find_rule(MessageKind::graph, field);
  }

  static bool write(const FieldRule& rule, const std::string& value, bool quoted,
                    ProtobufWriter& writer) {
    const bool text = rule.kind == FieldKind::text || rule.kind == FieldKind::bytes;
    if (text != quoted || rule.kind == FieldKind::message) {
      return false;
    }
    if (text) {
      writer.text(rule.number, value);
      return true;
    }
    if (rule.kind == FieldKind::real) {
      const auto real = parse_real(value);
      writer.real(rule.number, real.value_or(0.0F));
      return real.has_value();
    }
    const auto number = rule.kind == FieldKind::integer   ? parse_number(value)
                        : rule.kind == FieldKind::boolean ? parse_boolean(value)
                                                          : parse_enum(rule.kind, value);
    writer.varint(rule.number, number.value_or(0));
    return number.has_value();
  }

  std::vector<Level> levels_;
  ProtobufWriter loose_graph_;
  std::string name_;
  std::size_t skipped_ = 0;
  bool graph_seen_ = false;
};

}  // namespace

Result<std::vector<std::byte>> encode_model_text(std::string_view text) {
  ModelTextEncoder encoder;
  OPDRIFT_CHECK_OK(scan_text_format(text, encoder));
  return encoder.take();
}

}  // namespace opdrift::graph
