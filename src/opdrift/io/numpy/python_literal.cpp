#include "opdrift/io/numpy/python_literal.hpp"

#include <charconv>

#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

constexpr unsigned kMaxDepth = 8;
constexpr std::size_t kMaxValues = 10000;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<PythonLiteral> parse_all() {
    OPDRIFT_TRY(PythonLiteral value, parse_value(0));
    skip_blanks();
    if (position_ != text_.size()) {
      return expected("the end of the literal");
    }
    return value;
  }

 private:
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_blanks() {
    while (position_ < text_.size() && is_blank(text_[position_])) {
      ++position_;
    }
  }

  bool take(char c) {
    skip_blanks();
    if (position_ < text_.size() && text_[position_] == c) {
      ++position_;
      return true;
    }
    return false;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(position_).starts_with(word)) {
      position_ += word.size();
      return true;
    }
    return false;
  }

  Error expected(std::string_view what) const {
    const std::string found =
        position_ < text_.size() ? "'" + printable(text_.substr(position_, 12)) + "'" : "the end";
    return Error{
        ErrorCode::malformed, "expected " + std::string(what) + ", found " + found, {}, position_};
  }

  Result<PythonLiteral> parse_value(unsigned depth) {
    if (depth > kMaxDepth) {
      return Error{ErrorCode::limit, "expected at most 8 nested levels", {}, position_};
    }
    if (++values_ > kMaxValues) {
      return Error{ErrorCode::limit, "expected at most 10000 values", {}, position_};
    }
    skip_blanks();
    const char c = peek();
    if (c == '(' || c == '[') {
      return parse_sequence(depth, c);
    }
    if (c == '{') {
      return parse_dict(depth);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
      return parse_integer();
    }
    return parse_word();
  }

  Result<PythonLiteral> parse_word() {
    PythonLiteral value;
    value.kind = PythonLiteral::Kind::boolean;
    if (take_word("True")) {
      value.boolean = true;
      return value;
    }
    if (take_word("False")) {
      return value;
    }
    if (take_word("None")) {
      return PythonLiteral{};
    }
    value.kind = PythonLiteral::Kind::text;
    OPDRIFT_TRY(value.text, parse_string());
    return value;
  }

  Result<PythonLiteral> parse_sequence(unsigned depth, char open) {
    PythonLiteral value;
    value.kind = open == '(' ? PythonLiteral::Kind::tuple : PythonLiteral::Kind::list;
    const char close = open == '(' ? ')' : ']';
    ++position_;
    bool comma = true;
    while (!take(close)) {
      if (!comma) {
        return expected("',' or a closing bracket");
      }
      OPDRIFT_TRY(PythonLiteral item, parse_value(depth + 1));
      value.items.push_back(std::move(item));
      comma = take(',');
    }
    // In Python "(3)" is just 3.
    if (open == '(' && value.items.size() == 1 && !comma) {
      PythonLiteral inner = std::move(value.items.front());
      return inner;
    }
    return value;
  }

  Result<PythonLiteral> parse_dict(unsigned depth) {
    PythonLiteral value;
    value.kind = PythonLiteral::Kind::dict;
    ++position_;
    bool comma = true;
    while (!take('}')) {
      if (!comma) {
        return expected("',' or '}'");
      }
      skip_blanks();
      OPDRIFT_TRY(std::string key, parse_string());
      if (value.find(key) != nullptr) {
        return Error{
            ErrorCode::malformed, "key '" + printable(key) + "' occurs twice", {}, position_};
      }
      if (!take(':')) {
        return expected("':'");
      }
      OPDRIFT_TRY(PythonLiteral item, parse_value(depth + 1));
      value.keys.push_back(std::move(key));
      value.items.push_back(std::move(item));
      comma = take(',');
    }
    return value;
  }

  Result<PythonLiteral> parse_integer() {
    PythonLiteral value;
    value.kind = PythonLiteral::Kind::integer;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value.integer);
    if (error != std::errc{}) {
      return expected("an integer of at most 63 bits");
    }
    position_ += static_cast<std::size_t>(end - begin);
    if (peek() == 'L') {
      ++position_;
    }
    return value;
  }

  Result<std::string> parse_string() {
    const std::size_t start = position_;
    if (peek() == 'b' || peek() == 'u') {
      ++position_;
    }
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      position_ = start;
      return expected("a value");
    }
    ++position_;
    std::string text;
    while (peek() != quote) {
      if (position_ >= text_.size() || peek() == '\n') {
        return expected("a closing quote");
      }
      OPDRIFT_TRY(const char c, parse_char());
      text += c;
    }
    ++position_;
    return text;
  }

  Result<char> parse_char() {
    const char c = text_[position_++];
    if (c != '\\') {
      return c;
    }
    const char escape = peek();
    ++position_;
    switch (escape) {
      case '\\':
      case '\'':
      case '"': return escape;
      case 'n': return '\n';
      case 't': return '\t';
      case 'x': return parse_hex();
      default: --position_; return expected("a known escape");
    }
  }

  Result<char> parse_hex() {
    unsigned value = 0;
    const std::string_view digits = text_.substr(position_, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + 2) {
      return expected("two hexadecimal digits");
    }
    position_ += 2;
    return static_cast<char>(static_cast<unsigned char>(value));
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) {
      return &items[i];
    }
  }
  return nullptr;
}

Result<PythonLiteral> parse_python_literal(std::string_view text) {
  return Parser(text).parse_all();
}

}  // namespace opdrift::io
