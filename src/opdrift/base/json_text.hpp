#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "opdrift/base/result.hpp"

/// JSON of files, as values of the nlohmann library but without its exceptions.
///
///   text = one JSON value in UTF-8, nested at most 256 levels
namespace opdrift {

/// Levels of lists and objects that parse_json accepts; walks over a value may recurse that deep.
inline constexpr int kMaxJsonDepth = 256;

/// Fails with limit when `text` is nested deeper than that.
Status check_json_depth(std::string_view text);

/// The value of `text`; instantiated for nlohmann::json and nlohmann::ordered_json. `keep` is the
/// library's callback, which may drop values on the way. Fails with bad_json and the offset of the
/// first byte that does not belong, or as check_json_depth.
template <typename Json>
Result<Json> parse_json(std::string_view text, const std::string& path = {},
                        const typename Json::parser_callback_t& keep = nullptr);

/// What the library reports as an Error: bad_json, the offset being that of the last of
/// `bytes_read`, the byte that does not belong.
Error json_error(std::size_t bytes_read, const std::exception& report);

/// A member's text; "" when it is absent or something else. Any kind of nlohmann value.
template <typename Json>
std::string json_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->template get<std::string>()
                                                     : std::string();
}

/// The list under a key; an empty one when there is none.
template <typename Json>
const Json& json_list(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

}  // namespace opdrift
