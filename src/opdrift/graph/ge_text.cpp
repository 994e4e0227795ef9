#include "opdrift/graph/ge_text.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

constexpr int kMaxDepth = 128;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

/// Which message of the graph a brace opened.
enum class Level { graph, op, op_attribute, op_value, output, attribute, value, shape, other };

Level level_of(Level parent, std::string_view field) {
  switch (parent) {
    case Level::graph:
      return field == "op" ? Level::op : field == "graph" ? Level::graph : Level::other;
    case Level::op:
      return field == "output_desc" ? Level::output
             : field == "attr"      ? Level::op_attribute
                                    : Level::other;
    case Level::op_attribute: return field == "value" ? Level::op_value : Level::other;
    case Level::op_value: return field == "list" ? Level::op_value : Level::other;
    case Level::output:
      return field == "attr" ? Level::attribute : field == "shape" ? Level::shape : Level::other;
    case Level::attribute: return field == "value" ? Level::value : Level::other;
    case Level::value:
    case Level::shape:
    case Level::other: break;
  }
  return Level::other;
}

/// "Add_2:0" -> producer and index.
InputRef input_ref(std::string text) {
  InputRef ref;
  const std::size_t colon = text.rfind(':');
  constexpr std::int64_t kNone = -2;
  const std::int64_t index =
      colon == std::string::npos
          ? kNone
          : parse_i64(std::string_view(text).substr(colon + 1)).value_or(kNone);
  ref.producer = text.substr(0, index == kNone ? std::string::npos : colon);
  ref.well_formed = index >= -1 && index < (1 << 24);
  ref.index = ref.well_formed ? static_cast<int>(index) : 0;
  ref.text = std::move(text);
  return ref;
}

class GeTextParser {
 public:
  explicit GeTextParser(std::string_view text) : text_(text) {}

  Result<Graph> parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) {
      position_ = 3;
    }
    OPDRIFT_CHECK_OK(message(Level::graph, '\0', 0));
    graph_.graph_names.push_back(graph_.name);
    return std::move(graph_);
  }

 private:
  Error failure(ErrorCode code, std::string message) const {
    Error error{code, std::move(message)};
    error.offset = position_;
    return error;
  }

  Error expected(const std::string& what) {
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
  Status message(Level level, char close, int depth) {
    if (depth > kMaxDepth) {
      return failure(ErrorCode::limit, "nested deeper than 128 levels");
    }
    enter(level);
    while (true) {
      skip_blank();
      if (position_ >= text_.size() && close == '\0') {
        break;
      }
      if (close != '\0' && take(close)) {
        break;
      }
      OPDRIFT_CHECK_OK(field(level, depth));
      if (!take(',')) {
        take(';');
      }
    }
    leave(level);
    return Unit{};
  }

  Status field(Level level, int depth) {
    OPDRIFT_TRY(const std::string_view name, field_name());
    const bool colon = take(':');
    const char next = peek();
    if (next == '{' || next == '<') {
      ++position_;
      return message(level_of(level, name), next == '{' ? '}' : '>', depth + 1);
    }
    if (!colon) {
      return expected("':' or '{' behind " + std::string(name));
    }
    if (next == '[') {
      return list(level, name, depth);
    }
    return scalar(level, name);
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

  Status list(Level level, std::string_view name, int depth) {
    take('[');
    while (!take(']')) {
      const char next = peek();
      if (next == '{' || next == '<') {
        ++position_;
        OPDRIFT_CHECK_OK(message(level_of(level, name), next == '{' ? '}' : '>', depth + 1));
      } else {
        OPDRIFT_CHECK_OK(scalar(level, name));
      }
      if (!take(',') && peek() != ']') {
        return expected("',' or ']'");
      }
    }
    return Unit{};
  }

  Status scalar(Level level, std::string_view name) {
    const char next = peek();
    if (next == '"' || next == '\'') {
      std::string value;
      while (peek() == '"' || peek() == '\'') {
        OPDRIFT_CHECK_OK(quoted(wanted(level, name) ? &value : nullptr));
      }
      assign(level, name, std::move(value));
      return Unit{};
    }
    const std::size_t start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) {
      ++position_;
    }
    if (position_ == start) {
      return expected("a value of " + std::string(name));
    }
    if (wanted(level, name)) {
      assign(level, name, std::string(text_.substr(start, position_ - start)));
    }
    return Unit{};
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

  static bool wanted(Level level, std::string_view name) {
    switch (level) {
      case Level::graph: return name == "name";
      case Level::op: return name == "name" || name == "type" || name == "input";
      case Level::output: return name == "dtype" || name == "layout";
      case Level::op_attribute:
      case Level::attribute: return name == "key";
      case Level::op_value: return name == "s" || name == "i" || name == "f" || name == "b";
      case Level::value: return name == "s";
      case Level::shape: return name == "dim";
      case Level::other: break;
    }
    return false;
  }

  void assign(Level level, std::string_view name, std::string value) {
    if (!wanted(level, name)) {
      return;
    }
    switch (level) {
      case Level::graph: graph_.name = std::move(value); break;
      case Level::op: assign_operator(name, std::move(value)); break;
      case Level::output:
        (name == "dtype" ? output_.dtype : output_.format) = std::move(value);
        break;
      case Level::op_attribute:
      case Level::attribute: key_ = std::move(value); break;
      case Level::op_value: add_to_attribute(name, std::move(value)); break;
      case Level::value: value_ = std::move(value); break;
      case Level::shape:
        if (const auto dim = parse_u64(value)) {
          output_.shape.push_back(*dim);
        }
        break;
      case Level::other: break;
    }
  }

  void add_to_attribute(std::string_view name, std::string value) {
    if (name == "s") {
      attribute_.texts.push_back(std::move(value));
    } else if (name == "f") {
      attribute_.reals.push_back(parse_double(value).value_or(0.0));
    } else if (name == "b") {
      attribute_.integers.push_back(value == "true" || value == "1" ? 1 : 0);
    } else if (const auto whole = parse_i64(value)) {
      attribute_.integers.push_back(*whole);
    }
  }

  /// Attributes of the compiler's own begin with an underscore.
  void keep_attribute() {
    using Kind = Attribute::Kind;
    if (key_.empty() || key_.front() == '_') {
      return;
    }
    attribute_.kind = !attribute_.texts.empty()      ? Kind::texts
                      : !attribute_.reals.empty()    ? Kind::reals
                      : !attribute_.integers.empty() ? Kind::integers
                                                     : Kind::other;
    operator_.attributes.insert_or_assign(key_, std::move(attribute_));
  }

  void assign_operator(std::string_view name, std::string value) {
    if (name == "name") {
      operator_.name = std::move(value);
    } else if (name == "type") {
      operator_.type = std::move(value);
    } else {
      operator_.inputs.push_back(input_ref(std::move(value)));
    }
  }

  void enter(Level level) {
    if (level == Level::op) {
      operator_ = Operator{};
    } else if (level == Level::output) {
      output_ = OutputDesc{};
    } else if (level == Level::attribute || level == Level::op_attribute) {
      key_.clear();
      value_.clear();
      attribute_ = Attribute{};
    }
  }

  void leave(Level level) {
    if (level == Level::op) {
      operator_.id = static_cast<std::int64_t>(graph_.operators.size());
      graph_.operators.push_back(std::move(operator_));
    } else if (level == Level::output) {
      operator_.outputs.push_back(std::move(output_));
    } else if (level == Level::op_attribute) {
      keep_attribute();
    } else if (level == Level::attribute && key_ == "_fx_tensor_name") {
      output_.tensor = value_;
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Graph graph_;
  Operator operator_;
  OutputDesc output_;
  Attribute attribute_;
  std::string key_;
  std::string value_;
};

}  // namespace

Result<Graph> parse_ge_text(std::string_view text) {
  return GeTextParser(text).parse();
}

Result<Graph> read_ge_text(const std::string& path) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  Result<Graph> graph = parse_ge_text(as_text(file->bytes()));
  if (!graph) {
    Error error = graph.error();
    error.path = path;
    return error;
  }
  graph->source_path = path;
  return graph;
}

}  // namespace opdrift::graph
