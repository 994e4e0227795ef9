#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/graph/text_arena.hpp"

namespace opdrift::io {

/// One value of a small JSON document. Children of a list or object form a chain.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, object };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::string_view text;  ///< token of a number ("1.50", "NaN"), content of a text
  std::string_view key;   ///< inside an object
  std::uint32_t first_child = kNone;
  std::uint32_t next = kNone;
  Kind kind = Kind::null;
  bool boolean = false;
};

/// A JSON value with the rules of Python's json: NaN and Infinity are numbers, integers have any
/// size, key order counts, and a repeated key keeps its first place with its last value.
class JsonTree {
 public:
  void clear() { nodes_.clear(); }
  std::size_t size() const { return nodes_.size(); }
  std::uint32_t add() {
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  JsonNode& operator[](std::uint32_t position) { return nodes_[position]; }
  const JsonNode& operator[](std::uint32_t position) const { return nodes_[position]; }
  const JsonNode& root() const { return nodes_.front(); }

  const JsonNode* first_child(const JsonNode& node) const { return at(node.first_child); }
  const JsonNode* next(const JsonNode& node) const { return at(node.next); }

  /// The value of a key of an object; nullptr when absent or not an object.
  const JsonNode* find(const JsonNode& object, std::string_view key) const;

  /// What Python calls false: null, false, 0, "", [] and {}.
  bool is_falsy(const JsonNode& node) const;

  /// str() of the value: numbers in Python's form, texts bare, lists and objects like literals.
  std::string python_text(const JsonNode& node) const;

 private:
  const JsonNode* at(std::uint32_t position) const {
    return position == JsonNode::kNone ? nullptr : &nodes_[position];
  }
  void append_repr(const JsonNode& node, std::string& out) const;

  std::vector<JsonNode> nodes_;
};

/// Python's text of a JSON number token. The token itself when it already has that form, else a
/// copy in the arena.
std::string_view python_number(std::string_view token, bool real, graph::TextArena& arena);

}  // namespace opdrift::io
