#include "opdrift/io/msprobe/json_stream.hpp"

#include <simdjson.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace opdrift::io {

namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kMaxDepth = 512;

std::string_view trim_end(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= 0x20) {
    token.remove_suffix(1);
  }
  return token;
}

/// Number by the grammar of JSON, or one of Python's three words.
bool is_number(std::string_view token, bool& real) {
  real = true;
  if (token == "NaN" || token == "Infinity" || token == "-Infinity") {
    return true;
  }
  std::size_t i = token.front() == '-' ? 1 : 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < token.size() && token[i] >= '0' && token[i] <= '9') {
      ++i;
    }
    return i - start;
  };
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[first] == '0')) {
    return false;
  }
  real = i < token.size();
  if (i < token.size() && token[i] == '.') {
    ++i;
    if (digits() == 0) {
      return false;
    }
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) {
      ++i;
    }
    if (digits() == 0) {
      return false;
    }
  }
  return i == token.size();
}

class Streamer {
 public:
  Streamer(const JsonFile& file, graph::TextArena& arena, JsonVisitor& visitor)
      : text_(as_text(file.bytes.span)), arena_(arena), visitor_(visitor) {}

  Status run() {
    const auto error =
        parser_.iterate(text_.data(), text_.size(), text_.size() + simdjson::SIMDJSON_PADDING)
            .get(document_);
    if (error != simdjson::SUCCESS) {
      return json_error(error, false);
    }
    return top_level();
  }

  /// One value out of a larger file, with what stands around it in `text_` left out.
  Status single_value(std::string_view section, std::string_view key) {
    tree_.clear();
    const std::uint32_t root = tree_.add();
    if (text_.front() == '{' || text_.front() == '[') {
      const auto error =
          parser_.iterate(text_.data(), text_.size(), text_.size() + simdjson::SIMDJSON_PADDING)
              .get(document_);
      ondemand::value value;
      if (error != simdjson::SUCCESS || document_.get_value().get(value) != simdjson::SUCCESS) {
        return json_error(error, false);
      }
      OPDRIFT_CHECK_OK(read_value(value, root, 0));
    } else if (text_.front() == '"') {
      OPDRIFT_TRY(tree_[root].text, unescaped(text_));
      tree_[root].kind = JsonNode::Kind::text;
    } else {
      OPDRIFT_CHECK_OK(read_word(text_, root));
    }
    return visitor_.member(section, key, tree_);
  }

  /// A text with its quotes, without them and its escapes.
  Result<std::string_view> unescaped(std::string_view token) {
    text_ = token;
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (!simdjson::validate_utf8(inner.data(), inner.size())) {
      return json_error(simdjson::UTF8_ERROR, false);
    }
    if (std::memchr(inner.data(), '\\', inner.size()) == nullptr) {
      return inner;
    }
    std::string padded(token);
    padded.resize(token.size() + simdjson::SIMDJSON_PADDING);
    std::string_view text;
    const auto error = parser_.iterate(padded.data(), token.size(), padded.size()).get(document_);
    if (error != simdjson::SUCCESS || document_.get_string().get(text) != simdjson::SUCCESS) {
      return json_error(simdjson::STRING_ERROR, false);
    }
    return arena_.keep(text);
  }

  /// Turns to another text of the same file.
  void set_text(std::string_view text) { text_ = text; }

 private:
  Error json_error(simdjson::error_code code, bool located = true) {
    Error error{ErrorCode::bad_json, std::string("not valid JSON: ") + describe(code)};
    const char* place = nullptr;
    if (located && document_.current_location().get(place) == simdjson::SUCCESS &&
        place >= text_.data()) {
      error.offset = static_cast<std::uint64_t>(place - text_.data());
    } else {
      error.offset = text_.size();
    }
    return error;
  }

  Error at(const char* place, std::string message) const {
    Error error{ErrorCode::bad_json, std::move(message)};
    error.offset = static_cast<std::uint64_t>(place - text_.data());
    return error;
  }

  static std::string describe(simdjson::error_code code) {
    switch (code) {
      case simdjson::EMPTY: return "the file is empty";
      case simdjson::UNCLOSED_STRING: return "the file ends inside a text";
      case simdjson::INCOMPLETE_ARRAY_OR_OBJECT: return "the file ends inside a list or object";
      case simdjson::UTF8_ERROR: return "the text is not UTF-8";
      case simdjson::UNESCAPED_CHARS: return "a control character stands inside a text";
      case simdjson::INCORRECT_TYPE: return "expected an object";
      default: return "expected a value, a comma or a closing bracket";
    }
  }

  Status top_level() {
    ondemand::object object;
    if (const auto error = document_.get_object().get(object); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    OPDRIFT_CHECK_OK(members(object, {}));
    const char* place = nullptr;  // no location is left at the end
    return document_.current_location().get(place) == simdjson::OUT_OF_BOUNDS
               ? Status(Unit{})
               : Status(json_error(simdjson::TRAILING_CONTENT));
  }

  /// Delivers the members of the document or of an expanded section.
  Status members(ondemand::object& object, std::string_view section) {
    for (auto entry : object) {
      ondemand::field field;
      if (const auto error = std::move(entry).get(field); error != simdjson::SUCCESS) {
        return json_error(error);
      }
      OPDRIFT_TRY(const std::string_view key, key_of(field));
      if (section.empty() && visitor_.expands(key)) {
        OPDRIFT_CHECK_OK(expand(field.value(), key));
        continue;
      }
      tree_.clear();
      ondemand::value value = field.value();
      OPDRIFT_CHECK_OK(read_value(value, tree_.add(), 0));
      OPDRIFT_CHECK_OK(visitor_.member(section, key, tree_));
    }
    return Unit{};
  }

  Status expand(ondemand::value value, std::string_view key) {
    const std::string_view token = value.raw_json_token();
    if (token.empty() || token.front() != '{') {
      return visitor_.not_an_object(key);
    }
    ondemand::object object;
    if (const auto error = value.get_object().get(object); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    return members(object, key);
  }

  /// Keys without escapes are views of the file.
  Result<std::string_view> key_of(ondemand::field& field) {
    const char* raw = field.key().raw();
    const char* end = raw;
    while (*end != '"' && *end != '\\') {
      ++end;
    }
    if (*end == '"') {
      return std::string_view(raw, static_cast<std::size_t>(end - raw));
    }
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    return arena_.keep(key);
  }

  Status read_value(ondemand::value& value, std::uint32_t position, int depth) {
    const std::string_view token = value.raw_json_token();
    if (token.empty()) {
      return json_error(simdjson::INCOMPLETE_ARRAY_OR_OBJECT);
    }
    switch (token.front()) {
      case '{': return read_object(value, position, depth);
      case '[': return read_list(value, position, depth);
      case '"': return read_text(value, token, position);
      default: return read_word(trim_end(token), position);
    }
  }

  Status read_word(std::string_view token, std::uint32_t position) {
    JsonNode& node = tree_[position];
    if (token == "null") {
      node.kind = JsonNode::Kind::null;
    } else if (token == "true" || token == "false") {
      node.kind = JsonNode::Kind::boolean;
      node.boolean = token == "true";
    } else {
      bool real = false;
      if (token.empty() || !is_number(token, real)) {
        return at(token.data(), "not valid JSON: expected a value, found '" +
                                    std::string(token.substr(0, 40)) + "'");
      }
      node.kind = real ? JsonNode::Kind::real : JsonNode::Kind::integer;
      node.text = token;
    }
    return Unit{};
  }

  Status read_text(ondemand::value& value, std::string_view token, std::uint32_t position) {
    token = trim_end(token);
    tree_[position].kind = JsonNode::Kind::text;
    if (token.size() >= 2 && token.back() == '"' &&
        std::memchr(token.data(), '\\', token.size()) == nullptr) {
      // Taken, for a text that is passed over might as well be a key.
      ondemand::raw_json_string taken;
      if (const auto error = value.get_raw_json_string().get(taken); error != simdjson::SUCCESS) {
        return json_error(error);
      }
      tree_[position].text = token.substr(1, token.size() - 2);
      return Unit{};
    }
    std::string_view text;
    if (const auto error = value.get_string().get(text); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    tree_[position].text = arena_.keep(text);
    return Unit{};
  }

  Status check_depth(int depth) {
    if (depth >= kMaxDepth) {
      Error error = json_error(simdjson::DEPTH_ERROR);
      error.code = ErrorCode::limit;
      error.message = "nested deeper than " + std::to_string(kMaxDepth) + " levels";
      return error;
    }
    return Unit{};
  }

  Status read_list(ondemand::value& value, std::uint32_t position, int depth) {
    OPDRIFT_CHECK_OK(check_depth(depth));
    tree_[position].kind = JsonNode::Kind::list;
    ondemand::array array;
    if (const auto error = value.get_array().get(array); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    std::uint32_t last = JsonNode::kNone;
    for (auto entry : array) {
      ondemand::value element;
      if (const auto error = entry.get(element); error != simdjson::SUCCESS) {
        return json_error(error);
      }
      const std::uint32_t child = tree_.add();
      (last == JsonNode::kNone ? tree_[position].first_child : tree_[last].next) = child;
      last = child;
      OPDRIFT_CHECK_OK(read_value(element, child, depth + 1));
    }
    return Unit{};
  }

  Status read_object(ondemand::value& value, std::uint32_t position, int depth) {
    OPDRIFT_CHECK_OK(check_depth(depth));
    tree_[position].kind = JsonNode::Kind::object;
    ondemand::object object;
    if (const auto error = value.get_object().get(object); error != simdjson::SUCCESS) {
      return json_error(error);
    }
    std::uint32_t last = JsonNode::kNone;
    std::size_t count = 0;
    for (auto entry : object) {
      ondemand::field field;
      if (const auto error = std::move(entry).get(field); error != simdjson::SUCCESS) {
        return json_error(error);
      }
      OPDRIFT_TRY(const std::string_view key, key_of(field));
      std::uint32_t child = ++count > kMaxMembers ? JsonNode::kNone : find_key(position, key);
      if (child == JsonNode::kNone) {
        child = tree_.add();
        tree_[child].key = key;
        (last == JsonNode::kNone ? tree_[position].first_child : tree_[last].next) = child;
        last = child;
      } else {
        const JsonNode old = tree_[child];
        tree_[child] = JsonNode{};
        tree_[child].key = old.key;
        tree_[child].next = old.next;
      }
      ondemand::value member = field.value();
      OPDRIFT_CHECK_OK(read_value(member, child, depth + 1));
    }
    return Unit{};
  }

  /// Looks for a repeated key. The chain is short in every real file; a hostile one with very wide
  /// objects only loses the merging of repeats.
  std::uint32_t find_key(std::uint32_t position, std::string_view key) const {
    std::uint32_t child = tree_[position].first_child;
    while (child != JsonNode::kNone && tree_[child].key != key) {
      child = tree_[child].next;
    }
    return child;
  }

  static constexpr std::size_t kMaxMembers = 4096;

  std::string_view text_;
  graph::TextArena& arena_;
  JsonVisitor& visitor_;
  ondemand::parser parser_;
  ondemand::document document_;
  JsonTree tree_;
};

/// Finds the members of a file too large for one index, and has them read one by one. What stands
/// between the outermost brackets is checked here, everything inside a value by the Streamer.
class MemberSplitter {
 public:
  MemberSplitter(const JsonFile& file, graph::TextArena& arena, JsonVisitor& visitor,
                 std::uint64_t largest_member)
      : text_(as_text(file.bytes.span)),
        visitor_(visitor),
        streamer_(file, arena, visitor),
        largest_member_(largest_member) {}

  Status run() {
    skip_blanks();
    OPDRIFT_CHECK_OK(expect('{'));
    OPDRIFT_CHECK_OK(members({}));
    skip_blanks();
    return at_ == text_.size() ? Status(Unit{}) : Status(wrong("nothing behind the object"));
  }

 private:
  Error wrong(const std::string& expected) const {
    Error error{ErrorCode::bad_json, "not valid JSON: expected " + expected +
                                         (at_ < text_.size() ? "" : ", found the end of the file")};
    error.offset = at_;
    return error;
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  Status expect(char c) {
    if (at_ >= text_.size() || text_[at_] != c) {
      return wrong(std::string("'") + c + "'");
    }
    ++at_;
    return Unit{};
  }

  /// Members up to the closing bracket; the opening one is behind.
  Status members(std::string_view section) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '}') {
      ++at_;
      return Unit{};
    }
    while (true) {
      OPDRIFT_CHECK_OK(member(section));
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        skip_blanks();
        continue;
      }
      return expect('}');
    }
  }

  Status member(std::string_view section) {
    const std::uint64_t start = at_;
    OPDRIFT_CHECK_OK(pass_text());
    OPDRIFT_TRY(const std::string_view key,
                located(streamer_.unescaped(text_.substr(start, at_ - start)), start));
    skip_blanks();
    OPDRIFT_CHECK_OK(expect(':'));
    skip_blanks();
    if (section.empty() && visitor_.expands(key)) {
      if (at_ >= text_.size() || text_[at_] != '{') {
        return visitor_.not_an_object(key);
      }
      ++at_;
      return members(key);
    }
    const std::uint64_t value = at_;
    OPDRIFT_CHECK_OK(pass_value());
    if (at_ == value) {
      return wrong("a value");
    }
    if (at_ - value > largest_member_) {
      return Error{ErrorCode::limit, "member " + std::string(key.substr(0, 200)) + " has " +
                                         std::to_string(at_ - value) + " bytes, expected at most " +
                                         std::to_string(largest_member_)};
    }
    streamer_.set_text(text_.substr(value, at_ - value));
    const Status delivered = streamer_.single_value(section, key);
    return delivered ? delivered : Status(moved(delivered.error(), value));
  }

  /// Offsets of the Streamer count from the value's start.
  static Error moved(Error error, std::uint64_t start) {
    if (error.offset) {
      error.offset = *error.offset + start;
    }
    return error;
  }

  template <typename T>
  static Result<T> located(Result<T> result, std::uint64_t start) {
    return result ? std::move(result) : Result<T>(moved(result.error(), start));
  }

  Status pass_text() {
    OPDRIFT_CHECK_OK(expect('"'));
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '\\') {
        ++at_;
      } else if (c == '"') {
        ++at_;
        return Unit{};
      } else if (c < 0x20) {
        return wrong("no control character inside a text");
      }
      ++at_;
    }
    at_ = text_.size();
    return wrong("the end of a text");
  }

  /// To the end of a value: of a text, of a bracket's partner, or of a word.
  Status pass_value() {
    std::uint64_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        OPDRIFT_CHECK_OK(pass_text());
        if (depth == 0) {
          return Unit{};
        }
        continue;
      }
      if (depth == 0 &&
          (c == ',' || c == '}' || c == ']' || static_cast<unsigned char>(c) <= ' ')) {
        return Unit{};
      }
      if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        --depth;
        if (depth == 0) {
          ++at_;
          return Unit{};
        }
      }
      ++at_;
    }
    return wrong("the end of a value");
  }

  std::string_view text_;
  std::uint64_t at_ = 0;
  JsonVisitor& visitor_;
  Streamer streamer_;
  std::uint64_t largest_member_;
};

/// True when the page behind the last byte is the file's own and holds the padding.
bool has_room_behind(const MappedFile& file) {
  constexpr std::uint64_t kSurelyMapped = 1 << 20;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t used = file.size() % page;
  return file.size() >= kSurelyMapped && used != 0 && page - used >= simdjson::SIMDJSON_PADDING;
}

}  // namespace

Result<JsonFile> open_json(const std::string& path) {
  OPDRIFT_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  if (has_room_behind(*file)) {
    const ByteSpan span = file->bytes();
    return JsonFile{Bytes{span, std::move(file)}};
  }
  return json_from(as_text(file->bytes()));
}

JsonFile json_from(std::string_view text) {
  auto buffer = std::make_shared<std::vector<std::byte>>(text.size() + simdjson::SIMDJSON_PADDING);
  if (!text.empty()) {
    std::memcpy(buffer->data(), text.data(), text.size());
  }
  return JsonFile{Bytes{ByteSpan(buffer->data(), text.size()), std::move(buffer)}};
}

Status stream_json(const JsonFile& file, graph::TextArena& arena, JsonVisitor& visitor,
                   std::uint64_t largest_indexed) {
  if (file.bytes.size() > largest_indexed) {
    return MemberSplitter(file, arena, visitor, kLargestIndexedJson).run();
  }
  return Streamer(file, arena, visitor).run();
}

}  // namespace opdrift::io
