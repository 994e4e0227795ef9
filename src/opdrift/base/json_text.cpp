#include "opdrift/base/json_text.hpp"

#include <nlohmann/json.hpp>

namespace opdrift {

// The library's own callback knows the depth too, but walks over the elements before at the end of
// each.
Status check_json_depth(std::string_view text) {
  int depth = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      inside = !inside;
    } else if (inside) {
      i += c == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) {
        return Error{ErrorCode::limit,
                     "expected JSON nested at most " + std::to_string(kMaxJsonDepth) + " levels",
                     {},
                     i};
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return Unit{};
}

Error json_error(std::size_t bytes_read, const std::exception& report) {
  // The library's text opens with its own error number, and with a line and column that the offset
  // says better.
  std::string_view problem = report.what();
  const std::size_t number = problem.find("] ");
  problem.remove_prefix(number == std::string_view::npos ? 0 : number + 2);
  const std::size_t place =
      problem.starts_with("parse error") ? problem.find(": ") : std::string_view::npos;
  problem.remove_prefix(place == std::string_view::npos ? 0 : place + 2);
  Error error{ErrorCode::bad_json, "expected JSON, found " + std::string(problem)};
  if (bytes_read != 0) {
    error.offset = bytes_read - 1;
  }
  return error;
}

namespace {

template <typename Json>
Result<Json> parse(std::string_view text, const typename Json::parser_callback_t& keep) {
  OPDRIFT_CHECK_OK(check_json_depth(text));
  try {
    return Json::parse(text.begin(), text.end(), keep);
  } catch (const typename Json::parse_error& problem) {
    return json_error(problem.byte, problem);
  } catch (const typename Json::exception& problem) {  // a number beyond double
    return json_error(0, problem);
  }
}

}  // namespace

template <typename Json>
Result<Json> parse_json(std::string_view text, const std::string& path,
                        const typename Json::parser_callback_t& keep) {
  Result<Json> value = parse<Json>(text, keep);
  if (!value) {
    value.error().path = path;
  }
  return value;
}

template Result<nlohmann::json> parse_json(std::string_view text, const std::string& path,
                                           const nlohmann::json::parser_callback_t& keep);
template Result<nlohmann::ordered_json> parse_json(
    std::string_view text, const std::string& path,
    const nlohmann::ordered_json::parser_callback_t& keep);

}  // namespace opdrift
