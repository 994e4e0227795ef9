#include "opdrift/io/msprobe/yaml_tree.hpp"

#include <yaml.h>

#include <cstdint>
#include <unordered_map>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr int kMaxDepth = 64;
constexpr std::uint64_t kMaxYamlBytes = 1ULL << 30;

/// An event that frees itself.
class YamlEvent {
 public:
  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&event_); }
  yaml_event_t* get() { return &event_; }
  yaml_event_type_t type() const { return event_.type; }
  const yaml_event_t& operator*() const { return event_; }

 private:
  yaml_event_t event_{};
};

class YamlReader {
 public:
  explicit YamlReader(ByteSpan bytes) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (ready_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                   bytes.size());
    }
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() {
    if (ready_) {
      yaml_parser_delete(&parser_);
    }
  }

  Result<YamlNode> run() {
    if (!ready_) {
      return Error{ErrorCode::out_of_memory, "no memory for a YAML parser"};
    }
    while (true) {
      YamlEvent event;
      OPDRIFT_CHECK_OK(next(event));
      if (event.type() == YAML_STREAM_END_EVENT || event.type() == YAML_NO_EVENT) {
        return YamlNode{};
      }
      if (event.type() != YAML_STREAM_START_EVENT && event.type() != YAML_DOCUMENT_START_EVENT) {
        YamlNode root;
        OPDRIFT_CHECK_OK(value(event, root, 0));
        return root;
      }
    }
  }

 private:
  Error failure(ErrorCode code, const std::string& message, std::size_t line) const {
    return Error{code, "line " + std::to_string(line + 1) + ": " + message};
  }

  Status next(YamlEvent& event) {
    if (yaml_parser_parse(&parser_, event.get()) == 1) {
      return Unit{};
    }
    const char* problem = parser_.problem == nullptr ? "not valid YAML" : parser_.problem;
    return failure(ErrorCode::malformed, problem, parser_.problem_mark.line);
  }

  Status value(const YamlEvent& event, YamlNode& node, int depth) {
    const std::size_t line = (*event).start_mark.line;
    if (depth > kMaxDepth) {
      return failure(ErrorCode::limit, "nested deeper than 64 levels", line);
    }
    switch (event.type()) {
      case YAML_SCALAR_EVENT: node = scalar(*event); return Unit{};
      case YAML_SEQUENCE_START_EVENT: return list(node, depth);
      case YAML_MAPPING_START_EVENT: return map(node, depth);
      case YAML_ALIAS_EVENT:
        return failure(ErrorCode::unsupported, "references (*name) are not supported", line);
      default: return failure(ErrorCode::malformed, "expected a value", line);
    }
  }

  static YamlNode scalar(const yaml_event_t& event) {
    YamlNode node;
    const auto& data = event.data.scalar;
    node.text.assign(reinterpret_cast<const char*>(data.value), data.length);
    node.plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    return node;
  }

  Status list(YamlNode& node, int depth) {
    node.kind = YamlNode::Kind::list;
    while (true) {
      YamlEvent event;
      OPDRIFT_CHECK_OK(next(event));
      if (event.type() == YAML_SEQUENCE_END_EVENT) {
        return Unit{};
      }
      node.items.emplace_back();
      OPDRIFT_CHECK_OK(value(event, node.items.back(), depth + 1));
    }
  }

  Status map(YamlNode& node, int depth) {
    node.kind = YamlNode::Kind::map;
    std::unordered_map<std::string, std::size_t> places;
    while (true) {
      YamlEvent key;
      OPDRIFT_CHECK_OK(next(key));
      if (key.type() == YAML_MAPPING_END_EVENT) {
        return Unit{};
      }
      if (key.type() != YAML_SCALAR_EVENT) {
        return failure(ErrorCode::unsupported, "expected a plain text as key",
                       (*key).start_mark.line);
      }
      YamlEvent event;
      OPDRIFT_CHECK_OK(next(event));
      YamlNode member;
      OPDRIFT_CHECK_OK(value(event, member, depth + 1));
      std::string name = scalar(*key).text;
      const auto [place, is_new] = places.try_emplace(name, node.members.size());
      if (is_new) {
        node.members.push_back({std::move(name), std::move(member)});
      } else {
        node.members[place->second].value = std::move(member);
      }
    }
  }

  yaml_parser_t parser_{};
  bool ready_ = false;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

bool YamlNode::is_null() const {
  return kind == Kind::scalar && plain &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

Result<YamlNode> read_yaml(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  if (bytes.size() > kMaxYamlBytes) {
    return Error{ErrorCode::limit, "expected at most 1 GiB of YAML", path};
  }
  return in_file(YamlReader(bytes.span).run(), path);
}

}  // namespace opdrift::io
