#include "opdrift/graph/text_format.hpp"

#include <cstddef>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

constexpr int kMaxDepth = 128;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

class TextFormatScanner {
 public:
  TextFormatScanner(std::string_view text, TextFormatHandler& handler)
      : text_(text), handler_(handler) {}

  Status scan() {
    if (text_.starts_with(kByteOrderMark)) {
      position_ = kByteOrderMark.size();
    }
    Status status = message('\0', 0);
    if (!status && !status.error().offset) {
      status.error().offset = position_;
    }
    return status;
  }

 private:
  Error failure(ErrorCode code, std::string message) const {
    Error error{code, std::move(message)};
    error.offset = position_;
    return error;
  }

  Error expected(const std::string& what) const {
    if (position_ >= text_.size()) {
      return failure(ErrorCode::truncated, "expected " + what + ", found the end of the file");
    }
    return failure(ErrorCode::malformed,
                   "expected " + what + ", found '" + printable(text_.substr(position_, 1)) + "'");
  }

  void skip_blank() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#') {
        const std::size_t end = text_.find('\n', position_);
        position_ = end == std::string_view::npos ? text_.size() : end;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++position_;
      } else {
        return;
      }
    }
  }

  char peek() {
    skip_blank();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool take(char c) {
    if (peek() != c || position_ >= text_.size()) {
      return false;
    }
    ++position_;
    return true;
  }

  /// Fields up to `close`, or up to the end of the text at the top.
  Status message(char close, int depth) {
    if (depth > kMaxDepth) {
      return failure(ErrorCode::limit, "nested deeper than 128 levels");
    }
    while (true) {
      skip_blank();
      if (position_ >= text_.size() && close == '\0') {
        return Unit{};
      }
      if (close != '\0' && take(close)) {
        return Unit{};
      }
      OPDRIFT_CHECK_OK(field(depth));
      if (!take(',')) {
        take(';');
      }
    }
  }

  Status field(int depth) {
    OPDRIFT_TRY(const std::string_view name, field_name());
    const bool colon = take(':');
    const char next = peek();
    if (next == '{' || next == '<') {
      return inner_message(name, depth);
    }
    if (!colon) {
      return expected("':' or '{' behind " + std::string(name));
    }
    return next == '[' ? list(name, depth) : scalar(name);
  }

  Status inner_message(std::string_view name, int depth) {
    const char open = text_[position_++];
    OPDRIFT_CHECK_OK(handler_.begin_message(name));
    OPDRIFT_CHECK_OK(message(open == '{' ? '}' : '>', depth + 1));
    return handler_.end_message();
  }

  /// A word, or an extension in brackets.
  Result<std::string_view> field_name() {
    skip_blank();
    const std::size_t start = position_;
    if (take('[')) {
      const std::size_t end = text_.find(']', position_);
      if (end == std::string_view::npos) {
        return expected("']'");
      }
      position_ = end + 1;
      return text_.substr(start, position_ - start);
    }
    while (position_ < text_.size() && is_word(text_[position_])) {
      ++position_;
    }
    if (position_ == start) {
      return expected("a field name");
    }
    return text_.substr(start, position_ - start);
  }

  Status list(std::string_view name, int depth) {
    take('[');
    while (!take(']')) {
      const char next = peek();
      OPDRIFT_CHECK_OK(next == '{' || next == '<' ? inner_message(name, depth) : scalar(name));
      if (!take(',') && peek() != ']') {
        return expected("',' or ']'");
      }
    }
    return Unit{};
  }

  Status scalar(std::string_view name) {
    const bool wanted = handler_.wants(name);
    const char next = peek();
    if (next == '"' || next == '\'') {
      std::string value;
      while (peek() == '"' || peek() == '\'') {
        OPDRIFT_CHECK_OK(quoted(wanted ? &value : nullptr));
      }
      return wanted ? handler_.value(name, std::move(value), true) : Status(Unit{});
    }
    const std::size_t start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) {
      ++position_;
    }
    if (position_ == start) {
      return expected("a value of " + std::string(name));
    }
    return wanted ? handler_.value(name, std::string(text_.substr(start, position_ - start)), false)
                  : Status(Unit{});
  }

  /// One quoted text; its content is appended when `out` is given.
  Status quoted(std::string* out) {
    const char quote = text_[position_++];
    while (position_ < text_.size() && text_[position_] != quote) {
      if (text_[position_] == '\n') {
        return failure(ErrorCode::malformed, "a text is not closed on its line");
      }
      if (text_[position_] == '\\') {
        OPDRIFT_CHECK_OK(escape(out));
        continue;
      }
      const std::size_t end = text_.find_first_of(quote == '"' ? "\"\\\n" : "'\\\n", position_);
      const std::size_t stop = end == std::string_view::npos ? text_.size() : end;
      if (out != nullptr) {
        out->append(text_, position_, stop - position_);
      }
      position_ = stop;
    }
    if (position_ >= text_.size()) {
      return failure(ErrorCode::truncated, "the file ends inside a text");
    }
    ++position_;
    return Unit{};
  }

  Status escape(std::string* out) {
    ++position_;
    if (position_ >= text_.size()) {
      return failure(ErrorCode::truncated, "the file ends inside a text");
    }
    const char c = text_[position_++];
    constexpr std::string_view kNames = "abfnrtv";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v";
    const std::size_t simple = kNames.find(c);
    char value = c;
    if (simple != std::string_view::npos) {
      value = kValues[simple];
    } else if (c >= '0' && c <= '7') {
      value = static_cast<char>(digits(static_cast<unsigned>(c - '0'), 8, 2));
    } else if (c == 'x' || c == 'X') {
      value = static_cast<char>(digits(0, 16, 2));
    } else if (std::string_view("\\'\"?").find(c) == std::string_view::npos) {
      return failure(ErrorCode::malformed, "unknown escape in a text");
    }
    if (out != nullptr) {
      out->push_back(value);
    }
    return Unit{};
  }

  unsigned digits(unsigned value, unsigned base, int most) {
    for (; most > 0 && position_ < text_.size(); --most) {
      const char c = text_[position_];
      unsigned digit = base;
      if (c >= '0' && c <= '9') {
        digit = static_cast<unsigned>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<unsigned>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<unsigned>(c - 'A') + 10;
      }
      if (digit >= base) {
        break;
      }
      value = value * base + digit;
      ++position_;
    }
    return value & 0xFFU;
  }

  std::string_view text_;
  TextFormatHandler& handler_;
  std::size_t position_ = 0;
};

}  // namespace

Status scan_text_format(std::string_view text, TextFormatHandler& handler) {
  return TextFormatScanner(text, handler).scan();
}

}  // namespace opdrift::graph
