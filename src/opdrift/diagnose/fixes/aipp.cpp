#include "opdrift/diagnose/fixes/aipp.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::fixes {

namespace {

/// Words of protobuf text: braces and colons stand alone, quoted texts keep their quotes.
class AippWords {
 public:
  explicit AippWords(std::string_view text) : text_(text) {}

  /// The next word, "" at the end.
  std::string_view next() {
    skip();
    const std::size_t start = at_;
    if (at_ >= text_.size()) {
      return {};
    }
    if (std::string_view("{}:").find(text_[at_]) != std::string_view::npos) {
      return text_.substr(at_++, 1);
    }
    if (text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
      return text_.substr(start, at_ - start);
    }
    at_ = std::min(text_.find_first_of("{}:#,; \t\r\n\"", at_), text_.size());
    return text_.substr(start, at_ - start);
  }

  std::string_view peek() {
    const std::size_t at = at_;
    const std::string_view word = next();
    at_ = at;
    return word;
  }

  std::string line() const {
    const auto lines =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return "line " + std::to_string(lines + 1);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n,;").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        break;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_word(std::string_view word) {
  return !word.empty() && word != "{" && word != "}" && word != ":";
}

Error malformed(const AippWords& words, const char* wanted, std::string_view found) {
  return Error{ErrorCode::malformed,
               words.line() + ": expected " + wanted + ", found " +
                   (found.empty() ? "the end of the file" : "'" + printable(found) + "'")};
}

Result<AippOp> parse_op(AippWords& words) {
  AippOp op;
  while (words.peek() != "}") {
    const std::string_view key = words.next();
    if (!is_word(key)) {
      return malformed(words, "a key or '}'", key);
    }
    if (const std::string_view colon = words.next(); colon != ":") {
      return malformed(words, "':'", colon);
    }
    const std::string_view value = words.next();
    if (!is_word(value)) {
      return malformed(words, "a value", value);
    }
    op.keys.emplace_back(key, value);
  }
  words.next();
  return op;
}

}  // namespace

std::optional<std::string> AippOp::get(std::string_view key) const {
  const auto found =
      std::find_if(keys.rbegin(), keys.rend(), [&](const auto& one) { return one.first == key; });
  return found == keys.rend() ? std::nullopt : std::optional(found->second);
}

std::optional<double> AippOp::number(std::string_view key) const {
  const auto text = get(key);
  return text ? parse_double(*text) : std::nullopt;
}

bool AippOp::flag(std::string_view key) const {
  const auto text = get(key);
  return text && (to_lower(*text) == "true" || *text == "1");
}

void AippOp::set(const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(keys.rbegin(), keys.rend(), [&](const auto& one) { return one.first == key; });
  if (found == keys.rend()) {
    keys.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

std::string write_aipp(const std::vector<AippOp>& operators) {
  std::string text;
  for (const AippOp& op : operators) {
    text += "aipp_op {\n";
    for (const auto& [key, value] : op.keys) {
      text += "    " + key + ": " + value + "\n";
    }
    text += "}\n";
  }
  return text;
}

Result<std::vector<AippOp>> parse_aipp(std::string_view text) {
  AippWords words(text);
  std::vector<AippOp> operators;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word != "aipp_op") {
      return malformed(words, "aipp_op", word);
    }
    std::string_view brace = words.next();
    brace = brace == ":" ? words.next() : brace;
    if (brace != "{") {
      return malformed(words, "'{'", brace);
    }
    OPDRIFT_TRY(AippOp op, parse_op(words));
    operators.push_back(std::move(op));
  }
  return operators;
}

}  // namespace opdrift::diagnose::fixes
