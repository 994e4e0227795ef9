#include "opdrift/io/msprobe/call_stacks.hpp"

#include <utility>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"

namespace opdrift::io {

namespace {

using Kind = JsonNode::Kind;

class StackReader : public JsonVisitor {
 public:
  explicit StackReader(CallStacks& stacks) : stacks_(stacks) {}

  bool expands(std::string_view key) override {
    static_cast<void>(key);
    return false;
  }
  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::bad_json, "expected an object under " + std::string(key)};
  }

  /// The form of each member tells which one it is: the new form holds two lists.
  Status member(std::string_view section, std::string_view key, const JsonTree& value) override {
    static_cast<void>(section);
    const JsonNode& root = value.root();
    const JsonNode* first = value.first_child(root);
    if (root.kind != Kind::list || first == nullptr || first->kind != Kind::list) {
      OPDRIFT_TRY(const std::uint32_t stack, add_stack(key, root, value));
      stacks_.of_call.insert_or_assign(key, stack);
      return Unit{};
    }
    const JsonNode* lines = value.next(*first);
    if (lines == nullptr) {
      return Unit{};
    }
    OPDRIFT_TRY(const std::uint32_t stack, add_stack(key, *lines, value));
    for (const JsonNode* name = value.first_child(*first); name != nullptr;
         name = value.next(*name)) {
      stacks_.of_call.insert_or_assign(name->text, stack);
    }
    return Unit{};
  }

 private:
  Result<std::uint32_t> add_stack(std::string_view key, const JsonNode& lines,
                                  const JsonTree& tree) {
    std::vector<std::string_view> texts;
    for (const JsonNode* line = tree.first_child(lines); line != nullptr; line = tree.next(*line)) {
      if (line->kind != Kind::text || graph::is_unsafe_text(line->text)) {
        return Error{ErrorCode::malformed, "stack info of " + std::string(key) +
                                               " contains special characters, please check!"};
      }
      texts.push_back(line->text);
    }
    stacks_.stacks.push_back(std::move(texts));
    return static_cast<std::uint32_t>(stacks_.stacks.size() - 1);
  }

  CallStacks& stacks_;
};

class ParentReader : public JsonVisitor {
 public:
  explicit ParentReader(CallParents& parents) : parents_(parents) {}

  bool expands(std::string_view key) override {
    static_cast<void>(key);
    return false;
  }
  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::bad_json, "expected an object under " + std::string(key)};
  }

  Status member(std::string_view section, std::string_view key, const JsonTree& value) override {
    static_cast<void>(section);
    if (key == "megatron_micro_step_number") {
      return Unit{};
    }
    const JsonNode* parent = &value.root();
    if (parent->kind == Kind::list) {
      parent = value.first_child(*parent);
    }
    const bool named = parent != nullptr && parent->kind == Kind::text;
    parents_.parent_of.insert_or_assign(key, named ? parent->text : std::string_view());
    return Unit{};
  }

 private:
  CallParents& parents_;
};

}  // namespace

const std::vector<std::string_view>* CallStacks::find(std::string_view call) const {
  const auto found = of_call.find(call);
  return found == of_call.end() ? nullptr : &stacks[found->second];
}

Result<CallStacks> read_call_stacks(const std::string& path) {
  OPDRIFT_TRY(const JsonFile file, open_json(path));
  CallStacks stacks;
  stacks.owner = file.bytes.owner;
  StackReader reader(stacks);
  const Status status = stream_json(file, stacks.arena, reader);
  return status ? Result<CallStacks>(std::move(stacks)) : in_file(status.error(), path);
}

Result<CallParents> read_call_parents(const std::string& path) {
  OPDRIFT_TRY(const JsonFile file, open_json(path));
  CallParents parents;
  parents.owner = file.bytes.owner;
  ParentReader reader(parents);
  const Status status = stream_json(file, parents.arena, reader);
  return status ? Result<CallParents>(std::move(parents)) : in_file(status.error(), path);
}

}  // namespace opdrift::io
