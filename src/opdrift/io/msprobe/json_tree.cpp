#include "opdrift/io/msprobe/json_tree.hpp"

#include <limits>

#include "opdrift/graph/table_text.hpp"

namespace opdrift::io {

namespace {

/// The grammar was checked when the token was read.
double real_value(std::string_view token) {
  return graph::python_number(token).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

const JsonNode* JsonTree::find(const JsonNode& object, std::string_view key) const {
  if (object.kind != JsonNode::Kind::object) {
    return nullptr;
  }
  for (const JsonNode* child = first_child(object); child != nullptr; child = next(*child)) {
    if (child->key == key) {
      return child;
    }
  }
  return nullptr;
}

bool JsonTree::is_falsy(const JsonNode& node) const {
  switch (node.kind) {
    case JsonNode::Kind::null: return true;
    case JsonNode::Kind::boolean: return !node.boolean;
    case JsonNode::Kind::integer: return node.text == "0" || node.text == "-0";
    case JsonNode::Kind::real: return real_value(node.text) == 0.0;
    case JsonNode::Kind::text: return node.text.empty();
    case JsonNode::Kind::list:
    case JsonNode::Kind::object: return node.first_child == JsonNode::kNone;
  }
  return false;
}

void JsonTree::append_repr(const JsonNode& node, std::string& out) const {
  if (node.kind == JsonNode::Kind::text) {
    out += graph::python_repr(node.text);
    return;
  }
  if (node.kind == JsonNode::Kind::real) {
    graph::append_python_float(real_value(node.text), out);
    return;
  }
  if (node.kind != JsonNode::Kind::list && node.kind != JsonNode::Kind::object) {
    out += python_text(node);
    return;
  }
  const bool is_list = node.kind == JsonNode::Kind::list;
  out += is_list ? '[' : '{';
  for (const JsonNode* child = first_child(node); child != nullptr; child = next(*child)) {
    if (child != first_child(node)) {
      out += ", ";
    }
    if (!is_list) {
      out += graph::python_repr(child->key);
      out += ": ";
    }
    append_repr(*child, out);
  }
  out += is_list ? ']' : '}';
}

std::string JsonTree::python_text(const JsonNode& node) const {
  switch (node.kind) {
    case JsonNode::Kind::null: return "None";
    case JsonNode::Kind::boolean: return node.boolean ? "True" : "False";
    case JsonNode::Kind::integer: return node.text == "-0" ? "0" : std::string(node.text);
    case JsonNode::Kind::text: return std::string(node.text);
    case JsonNode::Kind::real:
    case JsonNode::Kind::list:
    case JsonNode::Kind::object: break;
  }
  std::string out;
  append_repr(node, out);
  return out;
}

std::string_view python_number(std::string_view token, bool real, graph::TextArena& arena) {
  if (!real) {
    return token == "-0" ? std::string_view("0") : token;
  }
  std::string text;
  graph::append_python_float(real_value(token), text);
  return text == token ? token : arena.keep(text);
}

}  // namespace opdrift::io
