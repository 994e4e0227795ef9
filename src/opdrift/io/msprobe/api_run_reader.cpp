#include "opdrift/io/msprobe/api_run_reader.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"
#include "opdrift/io/msprobe/json_tree.hpp"

namespace opdrift::io {

namespace {

using graph::ApiEntry;
using graph::ApiLeaf;
using graph::ApiRun;
using graph::ApiValue;
using graph::CallDirection;
using graph::GradFlag;
using graph::LeafRole;
using Kind = JsonNode::Kind;

constexpr int kMaxDepth = 400;
constexpr std::string_view kNoData = "-1";

/// The fields of an object that matter, found in one walk over its members.
struct LeafFields {
  const JsonNode* type = nullptr;
  const JsonNode* class_type = nullptr;
  const JsonNode* dtype = nullptr;
  const JsonNode* shape = nullptr;
  std::array<const JsonNode*, 4> statistics{};
  const JsonNode* requires_grad = nullptr;
  const JsonNode* data_name = nullptr;
  const JsonNode* md5 = nullptr;
  const JsonNode* value = nullptr;
  const JsonNode* group_ranks = nullptr;
  const JsonNode* tensor = nullptr;
  const JsonNode* op = nullptr;
  const JsonNode* peer = nullptr;

  /// The member a key belongs to, nullptr for keys of no interest. Asked for every key of a file.
  const JsonNode** slot(std::string_view key) {
    const auto either = [&](std::string_view name, const JsonNode*& member) {
      return key == name ? &member : nullptr;
    };
    switch (key.size()) {
      case 2: return either("op", op);
      case 3:
        return key == "md5"   ? &md5
               : key == "Max" ? statistics.data()
                              : either("Min", statistics[1]);
      case 4:
        return key == "type"   ? &type
               : key == "Mean" ? &statistics[2]
               : key == "Norm" ? &statistics[3]
                               : either("peer", peer);
      case 5: return key == "dtype" ? &dtype : key == "shape" ? &shape : either("value", value);
      case 6: return either("tensor", tensor);
      case 9: return either("data_name", data_name);
      case 10: return either("class_type", class_type);
      case 11: return either("group_ranks", group_ranks);
      case 13: return either("requires_grad", requires_grad);
      default: return nullptr;
    }
  }
};

std::string_view python_type(const JsonNode* value) {
  if (value == nullptr) {
    return "<class 'NoneType'>";
  }
  switch (value->kind) {
    case Kind::null: return "<class 'NoneType'>";
    case Kind::boolean: return "<class 'bool'>";
    case Kind::integer: return "<class 'int'>";
    case Kind::real: return "<class 'float'>";
    case Kind::text: return "<class 'str'>";
    case Kind::list: return "<class 'list'>";
    case Kind::object: return "<class 'dict'>";
  }
  return "<class 'NoneType'>";
}

bool ends_in_part(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  for (const std::string_view word : words) {
    if (last == word) {
      return true;
    }
  }
  return false;
}

/// First touches of small pages are a tenth of the reading time. Only a wish: it may be refused.
void ask_for_large_pages(void* start, std::size_t bytes) {
  constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 21;
  const std::uintptr_t first =
      (reinterpret_cast<std::uintptr_t>(start) + kLarge - 1) & ~(kLarge - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(start) + bytes;
  if (first + kLarge <= end) {
    ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }
}

/// Builds the leaves of one entry after the other.
class RunBuilder : public JsonVisitor {
 public:
  RunBuilder(ApiRun& run, const ApiRunOptions& options) : run_(run), options_(options) {}

  bool expands(std::string_view key) override {
    if (key == "data") {
      // A repeated "data" replaces the first one, as in Python.
      run_.entries.clear();
      run_.leaves.clear();
      index_.clear();
      has_checksums_ = false;
      has_data_ = true;
    }
    return key == "data";
  }

  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::bad_json, "expected an object under " + std::string(key)};
  }

  Status member(std::string_view section, std::string_view key, const JsonTree& value) override {
    if (!section.empty()) {
      return entry(key, value);
    }
    const JsonNode& root = value.root();
    if (root.kind != Kind::text) {
      return Unit{};
    }
    if (key == "task") {
      run_.task = root.text;
    } else if (key == "level") {
      run_.level = root.text;
    } else if (key == "framework") {
      run_.framework = root.text;
    }
    return Unit{};
  }

  Status finish() {
    if (run_.task.empty()) {
      return Error{ErrorCode::bad_json, "expected a task (tensor or statistics), found none"};
    }
    if (!has_data_) {
      return Error{ErrorCode::bad_json, "expected an object under data, found none"};
    }
    if (run_.task == "tensor") {
      run_.kind = graph::RunTask::tensor;
    } else if (run_.task == "statistics") {
      run_.kind = has_checksums_ ? graph::RunTask::checksum : graph::RunTask::statistics;
    } else if (run_.task == "structure") {
      run_.kind = graph::RunTask::structure;
    }
    return Unit{};
  }

 private:
  Status entry(std::string_view name, const JsonTree& tree) {
    if (graph::is_unsafe_text(name)) {
      return Error{ErrorCode::malformed, "api name contains special characters, please check!"};
    }
    tree_ = &tree;
    has_checksums_ = has_checksums_ || probe_checksum(tree.root());
    ApiEntry entry;
    entry.name = name;
    if (!options_.debug) {
      graph::split_api_name(name, entry);
    }
    const bool kept = options_.debug || entry.direction != CallDirection::none;
    if (!kept) {
      run_.warnings.push_back("entry " + std::string(name) +
                              " names neither forward nor backward and was left out");
    }
    const auto [place, is_new] = index_.try_emplace(name, run_.entries.size());
    entry_ = static_cast<std::uint32_t>(place->second);
    entry.first_leaf = static_cast<std::uint32_t>(run_.leaves.size());
    if (is_new) {
      run_.entries.push_back(entry);
    }
    if (kept) {
      OPDRIFT_CHECK_OK(leaves_of(name, entry.direction));
    }
    entry.leaf_count = static_cast<std::uint32_t>(run_.leaves.size()) - entry.first_leaf;
    run_.entries[entry_] = entry;
    return Unit{};
  }

  /// Whether the entry holds a check sum, looked for no deeper than the reference does.
  bool probe_checksum(const JsonNode& entry) const {
    for (const JsonNode* member = first(entry); member != nullptr; member = next(*member)) {
      if (member->kind != Kind::list) {
        if (holds_md5(*member)) {
          return true;
        }
        continue;
      }
      for (const JsonNode* item = first(*member); item != nullptr; item = next(*item)) {
        if (holds_md5(*item)) {
          return true;
        }
      }
    }
    return false;
  }

  bool holds_md5(const JsonNode& node) const {
    if (node.kind == Kind::object) {
      return tree_->find(node, "md5") != nullptr;
    }
    return node.kind == Kind::text && node.text.find("md5") != std::string_view::npos;
  }

  Status leaves_of(std::string_view name, CallDirection direction) {
    const JsonNode& root = tree_->root();
    path_.assign(name);
    if (direction == CallDirection::parameters_grad || name.ends_with("debug")) {
      role_ =
          direction == CallDirection::parameters_grad ? LeafRole::parameters_grad : LeafRole::debug;
      return walk(root, 0);
    }
    OPDRIFT_CHECK_OK(part(name, root, "input_args", ".input", LeafRole::input));
    OPDRIFT_CHECK_OK(part(name, root, "input_kwargs", ".input", LeafRole::input));
    OPDRIFT_CHECK_OK(part(name, root, "input", ".input", LeafRole::input));
    OPDRIFT_CHECK_OK(part(name, root, "parameters", ".parameters", LeafRole::parameters));
    return part(name, root, "output", ".output", LeafRole::output);
  }

  Status part(std::string_view name, const JsonNode& root, std::string_view key,
              std::string_view suffix, LeafRole role) {
    const JsonNode* value = tree_->find(root, key);
    if (value == nullptr) {
      return Unit{};
    }
    path_.assign(name);
    path_ += suffix;
    role_ = role;
    return walk(*value, 0);
  }

  Status walk(const JsonNode& value, int depth) {
    if (depth > kMaxDepth) {
      return Error{ErrorCode::limit, "entry " + path_.substr(0, 200) + ": nested deeper than " +
                                         std::to_string(kMaxDepth) + " levels"};
    }
    if (value.kind == Kind::null) {
      missing_argument();
      return Unit{};
    }
    if (value.kind == Kind::list) {
      return walk_list(value, depth);
    }
    if (value.kind != Kind::object || value.first_child == JsonNode::kNone) {
      return Unit{};
    }
    LeafFields fields;
    for (const JsonNode* member = first(value); member != nullptr; member = next(*member)) {
      if (const JsonNode** slot = fields.slot(member->key)) {
        *slot = member;
      }
    }
    if (fields.class_type != nullptr && fields.class_type->kind == Kind::text &&
        fields.class_type->text == "torch.distributed.P2POp") {
      return peer_leaf(fields);
    }
    if (fields.type != nullptr && fields.type->kind == Kind::text) {
      return leaf(value, fields);
    }
    return walk_members(value, depth);
  }

  Status walk_list(const JsonNode& list, int depth) {
    const std::size_t length = path_.size();
    std::size_t index = 0;
    for (const JsonNode* item = first(list); item != nullptr; item = next(*item), ++index) {
      if (role_ != LeafRole::parameters_grad) {
        path_ += '.';
        path_ += std::to_string(index);
      }
      OPDRIFT_CHECK_OK(walk(*item, depth + 1));
      path_.resize(length);
    }
    return Unit{};
  }

  Status walk_members(const JsonNode& object, int depth) {
    const std::size_t length = path_.size();
    for (const JsonNode* member = first(object); member != nullptr; member = next(*member)) {
      path_ += '.';
      path_ += member->key;
      OPDRIFT_CHECK_OK(walk(*member, depth + 1));
      path_.resize(length);
    }
    return Unit{};
  }

  ApiLeaf& add_leaf() {
    ApiLeaf& leaf = run_.leaves.emplace_back();
    leaf.entry = entry_;
    leaf.role = role_;
    leaf.data_name = kNoData;
    return leaf;
  }

  void missing_argument() {
    ApiLeaf& leaf = add_leaf();
    leaf.name = run_.arena.keep(path_);
    leaf.shape = "None";
    leaf.dtype = dtype_number("None");
    leaf.missing_argument = true;
    leaf.statistics.fill(ApiValue::of("None", ApiValue::Kind::none));
  }

  Status peer_leaf(const LeafFields& outer) {
    if (outer.tensor != nullptr && outer.tensor->kind == Kind::object) {
      LeafFields fields;
      for (const JsonNode* member = first(*outer.tensor); member != nullptr;
           member = next(*member)) {
        if (const JsonNode** slot = fields.slot(member->key)) {
          *slot = member;
        }
      }
      OPDRIFT_CHECK_OK(leaf(*outer.tensor, fields));
    } else {
      missing_argument();
    }
    graph::PeerOperation operation{"None", "None"};
    if (outer.op != nullptr) {
      operation.operation = text_of(*outer.op);
    }
    if (outer.peer != nullptr) {
      operation.peer = text_of(*outer.peer);
    }
    run_.leaves.back().peer = static_cast<std::int32_t>(run_.peers.size());
    run_.peers.push_back(operation);
    return Unit{};
  }

  Status leaf(const JsonNode& object, const LeafFields& fields) {
    OPDRIFT_CHECK_OK(check_fields(object, fields));
    ApiLeaf& leaf = add_leaf();
    const std::string_view file =
        fields.data_name != nullptr && fields.data_name->kind == Kind::text ? fields.data_name->text
                                                                            : std::string_view();
    if (!file.empty() && file != kNoData) {
      leaf.data_name = file;
      leaf.name = file.substr(0, file.rfind('.'));
    } else {
      leaf.name = run_.arena.keep(path_);
    }
    if (fields.requires_grad != nullptr) {
      leaf.requires_grad = fields.requires_grad->boolean ? GradFlag::yes : GradFlag::no;
    }
    for (std::size_t i = 0; i < leaf.statistics.size(); ++i) {
      leaf.statistics[i] = value_of(fields.statistics[i]);
    }
    leaf.has_value = fields.value != nullptr;
    leaf.value = fields.value == nullptr ? std::string_view() : text_of(*fields.value);
    leaf.checksum = fields.md5 == nullptr || tree_->is_falsy(*fields.md5) ? std::string_view()
                                                                          : text_of(*fields.md5);
    leaf.shape = fields.shape == nullptr ? std::string_view("None") : shape_text(*fields.shape);
    if (fields.dtype != nullptr && fields.dtype->kind == Kind::text &&
        !fields.dtype->text.empty()) {
      leaf.dtype = dtype_number(fields.dtype->text);
      return Unit{};
    }
    plain_value(leaf, fields);
    return Unit{};
  }

  Status check_fields(const JsonNode& object, const LeafFields& fields) const {
    if (fields.shape != nullptr && fields.shape->kind != Kind::list) {
      return Error{ErrorCode::malformed, "data info of " + path_ + ": expected a list as shape"};
    }
    if (fields.requires_grad != nullptr && fields.requires_grad->kind != Kind::boolean) {
      return Error{ErrorCode::malformed,
                   "data info of " + path_ + ": expected true or false as requires_grad"};
    }
    for (const JsonNode* member = first(object); member != nullptr; member = next(*member)) {
      if (member->kind == Kind::text && graph::is_unsafe_text(member->text)) {
        return Error{ErrorCode::malformed,
                     "data info of " + path_ + " contains special characters, please check!"};
      }
    }
    return Unit{};
  }

  /// Everything without an element type: scalars, sizes, slices, groups.
  void plain_value(ApiLeaf& leaf, const LeafFields& fields) {
    const std::string_view type = fields.type == nullptr ? std::string_view() : fields.type->text;
    if (type == "torch.Size") {
      leaf.dtype = dtype_number(type);
      leaf.shape = leaf.has_value ? leaf.value : "None";
    } else if (type == "slice") {
      leaf.dtype = dtype_number(type);
      leaf.shape = slice_shape(fields.value);
    } else if (type == "ellipsis") {
      leaf.dtype = dtype_number(type);
      fill_value(leaf, value_of(fields.value));
    } else if (ends_in_part(path_, {"src", "dst", "group_src", "group_dst"})) {
      leaf.dtype = dtype_number(type);
      const std::string_view text = leaf.has_value ? leaf.value : "None";
      leaf.checksum = text;
      fill_value(leaf, ApiValue::of(text, ApiValue::Kind::text));
    } else if (type == "torch.ProcessGroup") {
      leaf.dtype = dtype_number(type);
      const std::string_view text =
          fields.group_ranks == nullptr ? std::string_view("None") : text_of(*fields.group_ranks);
      leaf.checksum = text;
      fill_value(leaf, ApiValue::of(text, ApiValue::Kind::text));
    } else {
      leaf.dtype = dtype_number(python_type(fields.value));
      fill_value(leaf, value_of(fields.value));
    }
  }

  static void fill_value(ApiLeaf& leaf, const ApiValue& value) {
    leaf.shape = "[]";
    leaf.statistics.fill(value);
  }

  /// Shape of the list as NumPy would see it: "(3,)", "(2, 3)", "()" for no list.
  std::string_view slice_shape(const JsonNode* value) {
    std::string text = "(";
    std::size_t axes = 0;
    for (const JsonNode* level = value; level != nullptr && level->kind == Kind::list;
         level = first(*level)) {
      std::size_t length = 0;
      for (const JsonNode* item = first(*level); item != nullptr; item = next(*item)) {
        ++length;
      }
      text += (axes++ > 0 ? ", " : "") + std::to_string(length);
    }
    text += axes == 1 ? ",)" : ")";
    return run_.arena.keep(text);
  }

  ApiValue value_of(const JsonNode* node) {
    if (node == nullptr || node->kind == Kind::null) {
      return ApiValue::of("None", ApiValue::Kind::none);
    }
    const ApiValue::Kind kind = node->kind == Kind::integer ? ApiValue::Kind::integer
                                : node->kind == Kind::real  ? ApiValue::Kind::real
                                                            : ApiValue::Kind::text;
    return ApiValue::of(text_of(*node), kind);
  }

  std::string_view text_of(const JsonNode& node) {
    switch (node.kind) {
      case Kind::null: return "None";
      case Kind::boolean: return node.boolean ? "True" : "False";
      case Kind::text: return node.text;
      case Kind::integer: return python_number(node.text, false, run_.arena);
      case Kind::real: return python_number(node.text, true, run_.arena);
      case Kind::list:
      case Kind::object: break;
    }
    return run_.arena.keep(tree_->python_text(node));
  }

  /// Runs have few different shapes.
  std::string_view shape_text(const JsonNode& shape) {
    std::string text = tree_->python_text(shape);
    const auto found = shapes_.find(text);
    if (found != shapes_.end()) {
      return found->second;
    }
    const std::string_view kept = run_.arena.keep(text);
    shapes_.emplace(std::move(text), kept);
    return kept;
  }

  std::uint32_t dtype_number(std::string_view name) {
    for (std::size_t i = 0; i < run_.dtypes.size(); ++i) {
      if (run_.dtypes[i] == name) {
        return static_cast<std::uint32_t>(i);
      }
    }
    run_.dtypes.emplace_back(name);
    return static_cast<std::uint32_t>(run_.dtypes.size() - 1);
  }

  const JsonNode* first(const JsonNode& node) const { return tree_->first_child(node); }
  const JsonNode* next(const JsonNode& node) const { return tree_->next(node); }

  ApiRun& run_;
  const ApiRunOptions& options_;
  const JsonTree* tree_ = nullptr;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::unordered_map<std::string, std::string_view> shapes_;
  std::string path_;
  std::uint32_t entry_ = 0;
  LeafRole role_ = LeafRole::input;
  bool has_checksums_ = false;
  bool has_data_ = false;
};

}  // namespace

Result<ApiRun> read_api_run(const std::string& path, const ApiRunOptions& options) {
  OPDRIFT_TRY(const JsonFile file, open_json(path));
  return parse_api_run(file, path, options);
}

Result<ApiRun> parse_api_run(const JsonFile& file, const std::string& path,
                             const ApiRunOptions& options) {
  ApiRun run;
  run.path = path;
  run.owner = file.bytes.owner;
  // Pages of the reserve that no leaf reaches cost nothing.
  constexpr std::size_t kLeafBytes = 160;
  run.leaves.reserve(file.bytes.size() / kLeafBytes);
  ask_for_large_pages(run.leaves.data(), run.leaves.capacity() * sizeof(ApiLeaf));
  RunBuilder builder(run, options);
  const Status streamed = stream_json(file, run.arena, builder);
  if (!streamed) {
    return in_file(streamed.error(), path);
  }
  const Status finished = builder.finish();
  if (!finished) {
    return in_file(finished.error(), path);
  }
  return run;
}

}  // namespace opdrift::io
