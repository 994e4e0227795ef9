#include "opdrift/diagnose/flow/json_fields.hpp"

#include <cmath>
#include <limits>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::flow {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Error wrong_type(const std::string& name, const char* wanted, const Json& found) {
  return Error{ErrorCode::bad_json,
               printable(name) + ": expected " + wanted + ", found " + found.type_name()};
}

std::optional<double> number_of_word(const std::string& text) {
  const std::string word = to_lower(trim(text));
  if (word == "nan") {
    return kNan;
  }
  if (word == "inf" || word == "infinity" || word == "+inf") {
    return kInfinity;
  }
  if (word == "-inf" || word == "-infinity") {
    return -kInfinity;
  }
  return parse_double(word);
}

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  return value.is_string() ? number_of_word(value.get_ref<const std::string&>()) : std::nullopt;
}

std::optional<std::string> text_of(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_number() ? std::optional<std::string>(value.dump()) : std::nullopt;
}

constexpr std::string_view kBareNumbers[] = {"-Infinity", "Infinity", "NaN"};

std::string_view bare_number_at(std::string_view text, std::size_t position) {
  for (const std::string_view word : kBareNumbers) {
    if (text.substr(position, word.size()) == word) {
      return word;
    }
  }
  return {};
}

}  // namespace

const Json* JsonObject::find(const char* key) const {
  const auto found = value.find(key);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

std::string JsonObject::name_of(const char* key) const {
  return where.empty() ? key : where + "." + key;
}

Result<JsonObject> as_object(const Json& value, const std::string& where) {
  if (!value.is_object()) {
    return wrong_type(where.empty() ? "the facts" : where, "an object", value);
  }
  return JsonObject{value, where};
}

Status read_text(const JsonObject& object, const char* key, std::string& out) {
  const Json* const value = object.find(key);
  if (value == nullptr) {
    return Unit{};
  }
  const auto text = text_of(*value);
  if (!text) {
    return wrong_type(object.name_of(key), "a text", *value);
  }
  out = *text;
  return Unit{};
}

Status read_flag(const JsonObject& object, const char* key, bool& out) {
  const Json* const value = object.find(key);
  if (value == nullptr) {
    return Unit{};
  }
  if (value->is_boolean()) {
    out = value->get<bool>();
    return Unit{};
  }
  if (value->is_number()) {
    out = value->get<double>() != 0.0;
    return Unit{};
  }
  return wrong_type(object.name_of(key), "true or false", *value);
}

Status read_number(const JsonObject& object, const char* key, std::optional<double>& out) {
  const Json* const value = object.find(key);
  if (value == nullptr) {
    return Unit{};
  }
  const auto number = number_of(*value);
  if (!number) {
    return wrong_type(object.name_of(key), "a number", *value);
  }
  out = number;
  return Unit{};
}

Status read_texts(const JsonObject& object, const char* key, std::vector<std::string>& out) {
  const Json* const value = object.find(key);
  if (value == nullptr) {
    return Unit{};
  }
  std::vector<std::string> texts;
  for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
    const auto text = text_of(one);
    if (!text) {
      return wrong_type(object.name_of(key), "texts", one);
    }
    texts.push_back(*text);
  }
  out = std::move(texts);
  return Unit{};
}

Status read_numbers(const JsonObject& object, const char* key, std::vector<double>& out) {
  const Json* const value = object.find(key);
  if (value == nullptr) {
    return Unit{};
  }
  std::vector<double> numbers;
  for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
    const auto number = one.is_null() ? std::optional<double>(kNan) : number_of(one);
    if (!number) {
      return wrong_type(object.name_of(key), "numbers", one);
    }
    numbers.push_back(*number);
  }
  out = std::move(numbers);
  return Unit{};
}

std::string quote_bare_numbers(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size());
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view word = inside ? std::string_view{} : bare_number_at(text, i);
    if (!word.empty()) {
      quoted += '"' + std::string(word) + '"';
      i += word.size() - 1;
      continue;
    }
    quoted += text[i];
    if (inside && text[i] == '\\' && i + 1 < text.size()) {
      quoted += text[++i];
    } else if (text[i] == '"') {
      inside = !inside;
    }
  }
  return quoted;
}

nlohmann::ordered_json number_json(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace opdrift::diagnose::flow
