#include "opdrift/match/layer_mapping.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

using graph::ApiEntry;
using graph::ApiRun;
using Parts = std::vector<std::string_view>;

constexpr std::string_view kTop = "TopLayer";

/// Where a call stands in the tree.
struct Scope {
  std::vector<std::string> path;  // below the root
  std::string type;               // class of a module, else the function
  std::string state;              // forward, backward, parameters_grad
};

bool is_framework_file(std::string_view file) {
  constexpr std::array<std::string_view, 4> kFolders = {
      "site-packages/torch", "package/torch", "site-packages/mindspore", "package/mindspore"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return file.find(folder) != std::string_view::npos;
  });
}

/// "" when the stack does not begin inside the framework, or says nothing of interest.
std::string frame_function(const std::vector<std::string_view>* stack) {
  if (stack == nullptr) {
    return {};
  }
  std::string_view last;
  for (const std::string_view line : *stack) {
    if (!is_framework_file(split(line, ',').front())) {
      break;
    }
    last = line;
  }
  const auto fields = split(last, ',');
  if (fields.size() < 3 || fields[0].find("msprobe") != std::string_view::npos ||
      fields[0].find("MindSpeed") != std::string_view::npos) {
    return {};
  }
  std::string_view function = trim(fields[2]);
  if (function.starts_with("in ")) {
    function.remove_prefix(3);
  }
  return function == "construct" || function == "__call__" ? std::string() : std::string(function);
}

void append_parts(std::vector<std::string>& path, const Parts& parts, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    path.emplace_back(parts[i]);
  }
}

std::optional<Scope> gradient_scope(const Parts& parts) {
  const auto place = std::find(parts.begin(), parts.end(), "parameters_grad");
  const auto index = static_cast<std::size_t>(place - parts.begin());
  if (place == parts.end() || index + 2 < parts.size() || index < 2) {
    return std::nullopt;
  }
  Scope scope{{}, std::string(parts[index - 1]), "parameters_grad"};
  append_parts(scope.path, parts, index - 1);
  return scope;
}

std::optional<Scope> module_scope(const Parts& parts, std::string_view state) {
  if (parts.size() < 5) {
    return std::nullopt;
  }
  Scope scope{{}, std::string(parts[parts.size() - 3]), std::string(state)};
  append_parts(scope.path, parts, parts.size() - 3);
  return scope;
}

/// Backward calls stand where the forward call of the same name does.
std::string forward_name(std::string_view name) {
  return replace_all(name, "backward", "forward");
}

std::optional<Scope> function_scope(std::string_view name, const Parts& parts,
                                    const CallContext& context) {
  if (parts.size() < 3) {
    return std::nullopt;
  }
  const std::string forward = forward_name(name);
  Scope scope{{}, std::string(parts[parts.size() - 3]), std::string(parts.back())};
  const auto parent = context.parent_of.find(forward);
  if (parent != context.parent_of.end() && !parent->second.empty()) {
    const Parts layer = split(parent->second, '.');
    append_parts(scope.path, layer, layer.size() > 3 ? layer.size() - 3 : 0);
  }
  const bool has_frame = !name.starts_with("Primitive.") && !name.starts_with("Jit.");
  std::string frame =
      has_frame && context.stack_of ? frame_function(context.stack_of(forward)) : std::string();
  if (!frame.empty()) {
    scope.path.push_back(std::move(frame));
  }
  scope.path.emplace_back(scope.type);
  return scope;
}

std::optional<Scope> scope_of(const ApiEntry& entry, const CallContext& context) {
  const Parts parts = split(entry.name, '.');
  if (entry.direction == graph::CallDirection::parameters_grad) {
    return gradient_scope(parts);
  }
  if (parts.front() == "Cell" || parts.front() == "Module") {
    return module_scope(parts,
                        entry.direction == graph::CallDirection::backward ? "backward" : "forward");
  }
  return function_scope(entry.name, parts, context);
}

struct Node {
  std::string type;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> calls;  // entries by state

  Node& child(std::string_view part) {
    auto found = children.find(part);
    if (found == children.end()) {
      found = children.emplace(std::string(part), std::make_unique<Node>()).first;
    }
    return *found->second;
  }
  const Node* find(std::string_view part) const {
    const auto found = children.find(part);
    return found == children.end() ? nullptr : found->second.get();
  }
};

/// One side as a tree, with the scope of every entry.
class LayerTree {
 public:
  LayerTree(const ApiRun& run, const CallContext& context) {
    root_.type = kTop;
    scopes_.resize(run.entries.size());
    for (std::size_t i = 0; i < run.entries.size(); ++i) {
      if (run.entries[i].leaf_count > 0) {
        scopes_[i] = scope_of(run.entries[i], context);
      }
    }
    renumber_layers();
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (scopes_[i]) {
        insert(*scopes_[i], static_cast<std::uint32_t>(i));
      }
    }
  }

  const Node& root() const { return root_; }
  const std::optional<Scope>& scope(std::size_t entry) const { return scopes_[entry]; }

 private:
  void insert(const Scope& scope, std::uint32_t entry) {
    Node* node = &root_;
    for (const std::string& part : scope.path) {
      node = &node->child(part);
    }
    node->type = scope.type;
    node->calls[scope.state].push_back(entry);
  }

  /// Pipeline stages number their transformer layers differently: each side counts from 0.
  void renumber_layers() {
    std::set<std::vector<std::string>> transformers;
    for (const auto& scope : scopes_) {
      if (scope && scope->type == "ParallelTransformer") {
        transformers.insert(scope->path);
      }
    }
    for (const std::vector<std::string>& prefix : transformers) {
      renumber_below(prefix);
    }
  }

  void renumber_below(const std::vector<std::string>& prefix) {
    const std::size_t place = prefix.size() + 1;  // of the number
    const auto number_in = [&](const Scope& scope) -> std::optional<std::uint64_t> {
      const bool inside = scope.path.size() > place && scope.path[place - 1] == "layers" &&
                          std::equal(prefix.begin(), prefix.end(), scope.path.begin());
      return inside ? parse_u64(scope.path[place]) : std::nullopt;
    };
    std::set<std::uint64_t> numbers;
    for (const auto& scope : scopes_) {
      if (const auto number = scope ? number_in(*scope) : std::nullopt) {
        numbers.insert(*number);
      }
    }
    for (auto& scope : scopes_) {
      if (const auto number = scope ? number_in(*scope) : std::nullopt) {
        const auto index = std::distance(numbers.begin(), numbers.find(*number));
        scope->path[place] = std::to_string(index);
      }
    }
  }

  Node root_;
  std::vector<std::optional<Scope>> scopes_;
};

/// Number of parts of `rule` that begin `path` at `start`; 0 when they do not.
std::size_t covered(std::string_view rule, const std::vector<std::string>& path,
                    std::size_t start) {
  const Parts parts = split(rule, '.');
  if (parts.size() > path.size() - start) {
    return 0;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != path[start + i]) {
      return 0;
    }
  }
  return parts.size();
}

/// The longest rule at this place, or nullptr; `length` receives how many parts it covers.
const std::string* rule_at(const LayerRules& rules, const std::string& type,
                           const std::vector<std::string>& path, std::size_t start,
                           std::size_t& length) {
  const auto of_type = rules.find(type);
  const std::string* best = nullptr;
  length = 1;
  if (of_type == rules.end()) {
    return nullptr;
  }
  for (const auto& [from, to] : of_type->second) {
    const std::size_t parts = covered(from, path, start);
    if (parts > 0 && (best == nullptr || parts > length)) {
      best = &to;
      length = parts;
    }
  }
  return best;
}

const Node* descend(const Node* node, std::string_view parts) {
  for (const std::string_view part : split(parts, '.')) {
    node = node == nullptr ? nullptr : node->find(part);
  }
  return node;
}

/// The golden node a target scope leads to, or nullptr.
const Node* translate(const Scope& scope, const Node& target_root, const Node& golden_root,
                      const LayerRules& rules) {
  const Node* target = &target_root;
  const Node* golden = &golden_root;
  std::size_t i = 0;
  while (i < scope.path.size() && golden != nullptr) {
    std::size_t length = 1;
    const std::string* to = rule_at(rules, target->type, scope.path, i, length);
    if (to == nullptr) {
      golden = golden->find(scope.path[i]);
    } else {
      golden = descend(golden, std::string_view(*to).substr(0, to->find('(')));
    }
    for (std::size_t k = 0; k < length; ++k) {
      target = target->find(scope.path[i + k]);
    }
    i += length;
  }
  return golden;
}

/// The golden entry at the same place of the same state.
std::optional<std::uint32_t> partner(const Node& target, const Node& golden,
                                     const std::string& state, std::uint32_t entry) {
  const auto targets = target.calls.find(state);
  const auto goldens = golden.calls.find(state);
  if (targets == target.calls.end() || goldens == golden.calls.end()) {
    return std::nullopt;
  }
  const auto place = std::find(targets->second.begin(), targets->second.end(), entry);
  const auto index = static_cast<std::size_t>(place - targets->second.begin());
  return index < goldens->second.size() ? std::optional(goldens->second[index]) : std::nullopt;
}

std::string_view end_of(std::string_view leaf, std::string_view entry) {
  return leaf.starts_with(entry) ? leaf.substr(entry.size()) : leaf;
}

std::string golden_leaf(const ApiRun& golden, const ApiEntry& entry, std::string_view end) {
  for (std::uint32_t i = entry.first_leaf; i < entry.first_leaf + entry.leaf_count; ++i) {
    if (end_of(golden.leaves[i].name, entry.name) == end) {
      return std::string(golden.leaves[i].name);
    }
  }
  return "N/A";
}

LayerRules with_top_class(const LayerRules& rules) {
  LayerRules renamed = rules;
  const auto cell = renamed.find("Cell");
  if (cell != renamed.end()) {
    NamePairs& top = renamed[std::string(kTop)];
    top.insert(top.end(), cell->second.begin(), cell->second.end());
  }
  return renamed;
}

}  // namespace

NamePairs map_layers(const ApiRun& target, const CallContext& target_context, const ApiRun& golden,
                     const CallContext& golden_context, const LayerRules& rules) {
  const LayerTree targets(target, target_context);
  const LayerTree goldens(golden, golden_context);
  const LayerRules all_rules = with_top_class(rules);
  NamePairs pairs;
  for (std::uint32_t i = 0; i < target.entries.size(); ++i) {
    const ApiEntry& entry = target.entries[i];
    const std::optional<Scope>& scope = targets.scope(i);
    std::optional<std::uint32_t> found;
    if (scope) {
      const Node* own = &targets.root();
      for (const std::string& part : scope->path) {
        own = own->find(part);
      }
      const Node* other = translate(*scope, targets.root(), goldens.root(), all_rules);
      found = other == nullptr ? std::nullopt : partner(*own, *other, scope->state, i);
    }
    for (std::uint32_t k = entry.first_leaf; k < entry.first_leaf + entry.leaf_count; ++k) {
      const std::string_view name = target.leaves[k].name;
      pairs.emplace_back(
          name, found ? golden_leaf(golden, golden.entries[*found], end_of(name, entry.name))
                      : std::string("N/A"));
    }
  }
  return pairs;
}

}  // namespace opdrift::match
