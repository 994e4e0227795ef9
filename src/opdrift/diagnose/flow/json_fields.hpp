#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/result.hpp"

/// Reading members of a JSON object that may be missing or null: those leave `out` as it was.
namespace opdrift::diagnose::flow {

using Json = nlohmann::json;

/// An object and what it is called in errors ("compare.base.vs.high[3]").
struct JsonObject {
  const Json& value;
  std::string where;

  /// The member, null when it is missing or null.
  const Json* find(const char* key) const;
  std::string name_of(const char* key) const;
};

/// Fails with bad_json when `value` is no object.
Result<JsonObject> as_object(const Json& value, const std::string& where);

/// Fail with bad_json when the member has another type. A number is taken for a text too.
Status read_text(const JsonObject& object, const char* key, std::string& out);
Status read_flag(const JsonObject& object, const char* key, bool& out);
Status read_number(const JsonObject& object, const char* key, std::optional<double>& out);
/// One or a list; null within a list of numbers is NaN.
Status read_texts(const JsonObject& object, const char* key, std::vector<std::string>& out);
Status read_numbers(const JsonObject& object, const char* key, std::vector<double>& out);

/// Python's NaN, Infinity and -Infinity outside of strings, put into quotes.
std::string quote_bare_numbers(std::string_view text);

/// A finite number as it is, others as "nan", "inf" and "-inf".
nlohmann::ordered_json number_json(double value);

}  // namespace opdrift::diagnose::flow
