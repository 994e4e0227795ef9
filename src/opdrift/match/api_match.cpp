#include "opdrift/match/api_match.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

using graph::ApiEntry;
using graph::ApiRun;
using graph::CallDirection;

/// The call part with its number replaced: "3.backward" and "backward.3" keep their form.
std::string renumbered(std::string_view call, std::size_t number) {
  std::string text;
  for (const std::string_view part : split(call, '.')) {
    text += text.empty() ? "" : ".";
    text += part == "backward" ? std::string(part) : std::to_string(number);
  }
  return text;
}

/// Leaves of one side that share a key, in file order. Open addressing: 500,000 lookups cost less
/// than the allocations of a node-based map.
class KeyTable {
 public:
  explicit KeyTable(std::vector<std::string_view> keys)
      : keys_(std::move(keys)), next_(keys_.size(), kNoLeaf) {
    std::size_t size = 16;
    while (size < 2 * keys_.size()) {
      size *= 2;
    }
    slots_.resize(size);
    for (std::uint32_t i = static_cast<std::uint32_t>(keys_.size()); i > 0; --i) {
      const std::size_t hash = std::hash<std::string_view>{}(keys_[i - 1]);
      Slot& slot = slots_[position_of(keys_[i - 1], hash)];
      next_[i - 1] = slot.leaf;
      slot = {mark_of(hash), i - 1};
    }
  }

  std::uint32_t first(std::string_view key) const {
    return slots_[position_of(key, std::hash<std::string_view>{}(key))].leaf;
  }
  std::uint32_t next(std::uint32_t leaf) const { return next_[leaf]; }

 private:
  struct Slot {
    std::uint32_t mark = 0;  // bits of the hash that do not tell the slot
    std::uint32_t leaf = kNoLeaf;
  };

  static std::uint32_t mark_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  /// The slot of a key, or the free one where it belongs.
  std::size_t position_of(std::string_view key, std::size_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].leaf != kNoLeaf &&
           (slots_[at].mark != mark_of(hash) || keys_[slots_[at].leaf] != key)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<std::string_view> keys_;
  std::vector<std::uint32_t> next_;
  std::vector<Slot> slots_;
};

/// Leaves in the order of the entries, which is file order unless a name was repeated.
std::vector<std::uint32_t> leaf_order(const ApiRun& run) {
  std::vector<std::uint32_t> order;
  order.reserve(run.leaves.size());
  for (const ApiEntry& entry : run.entries) {
    for (std::uint32_t i = 0; i < entry.leaf_count; ++i) {
      order.push_back(entry.first_leaf + i);
    }
  }
  return order;
}

/// The golden side, ready to be asked for keys.
struct GoldenKeys {
  GoldenKeys(const ApiRun& golden, const ApiMatchOptions& options)
      : keys(golden, !options.debug), order(leaf_order(golden)), table(in_order()) {}

  std::vector<std::string_view> in_order() const {
    std::vector<std::string_view> ordered;
    ordered.reserve(order.size());
    for (const std::uint32_t leaf : order) {
      ordered.push_back(keys[leaf]);
    }
    return ordered;
  }

  ApiKeys keys;
  std::vector<std::uint32_t> order;
  KeyTable table;
};

/// What the first golden of every target leaf is found by.
class TargetKeys {
 public:
  TargetKeys(const ApiRun& target, const ApiMatchOptions& options)
      : target_(target), translate_(options.translate), order_(leaf_order(target)) {
    if (!translate_) {
      keys_.emplace(target, !options.debug);
    }
  }

  const std::vector<std::uint32_t>& order() const { return order_; }

  std::uint32_t first_in(const KeyTable& table, std::uint32_t leaf) const {
    if (!translate_) {
      return table.first((*keys_)[leaf]);
    }
    const std::optional<std::string> name = translate_(target_.leaves[leaf].name);
    return name ? table.first(*name) : kNoLeaf;
  }

 private:
  const ApiRun& target_;
  const NameTranslation& translate_;
  std::vector<std::uint32_t> order_;
  std::optional<ApiKeys> keys_;
};

ApiMatch join_by_key(const ApiRun& target, const ApiRun& golden, const ApiMatchOptions& options) {
  std::optional<GoldenKeys> goldens;
  std::optional<TargetKeys> targets;
  parallel_for(2, options.jobs, [&](std::size_t side) {
    if (side == 0) {
      goldens.emplace(golden, options);
    } else {
      targets.emplace(target, options);
    }
  });
  const std::vector<std::uint32_t>& order = targets->order();
  std::vector<std::uint32_t> hits(order.size());
  constexpr std::size_t kChunk = 8192;
  // A translation may keep state, so it is asked by one thread.
  parallel_for((order.size() + kChunk - 1) / kChunk, options.translate ? 1 : options.jobs,
               [&](std::size_t chunk) {
                 const std::size_t end = std::min(order.size(), (chunk + 1) * kChunk);
                 for (std::size_t i = chunk * kChunk; i < end; ++i) {
                   hits[i] = targets->first_in(goldens->table, order[i]);
                 }
               });
  std::vector<bool> used(goldens->order.size(), false);
  ApiMatch match;
  match.pairs.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (hits[i] == kNoLeaf) {
      match.pairs.push_back({order[i], kNoLeaf, ApiUnmatched::name});
    }
    for (std::uint32_t hit = hits[i]; hit != kNoLeaf; hit = goldens->table.next(hit)) {
      used[hit] = true;
      match.pairs.push_back({order[i], goldens->order[hit], ApiUnmatched::no});
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      match.golden_only.push_back(goldens->order[i]);
    }
  }
  return match;
}

/// One side of the fuzzy walk: leaves [begin, end) wait for a partner, those before are done.
class FuzzyQueue {
 public:
  FuzzyQueue(const ApiRun& run, std::vector<std::uint32_t> order) : order_(std::move(order)) {
    names_.reserve(order_.size());
    for (const std::uint32_t leaf : order_) {
      names_.push_back(fuzzy_name(run.leaves[leaf].name));
    }
  }

  bool advance() {
    if (end_ == order_.size()) {
      return false;
    }
    places_[names_[end_]].positions.push_back(end_);
    ++end_;
    return true;
  }
  bool empty() const { return begin_ == end_; }
  std::size_t begin() const { return begin_; }
  std::size_t newest() const { return end_ - 1; }
  std::size_t size() const { return order_.size(); }
  const std::string& name(std::size_t position) const { return names_[position]; }
  std::uint32_t leaf(std::size_t position) const { return order_[position]; }
  void cut_behind(std::size_t position) { begin_ = position + 1; }

  /// Oldest waiting leaf of this name, or size() when there is none.
  std::size_t oldest(const std::string& name) {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      return size();
    }
    Places& places = found->second;
    while (places.next < places.positions.size() && places.positions[places.next] < begin_) {
      ++places.next;
    }
    return places.next < places.positions.size() ? places.positions[places.next] : size();
  }

 private:
  struct Places {
    std::vector<std::size_t> positions;
    std::size_t next = 0;
  };
  std::vector<std::uint32_t> order_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, Places> places_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

ApiMatch walk_in_step(const ApiRun& target, const ApiRun& golden) {
  FuzzyQueue targets(target, leaf_order(target));
  FuzzyQueue goldens(golden, leaf_order(golden));
  std::vector<bool> used(goldens.size(), false);
  ApiMatch match;
  const auto unmatched_up_to = [&](std::size_t end) {
    for (std::size_t i = targets.begin(); i < end; ++i) {
      match.pairs.push_back({targets.leaf(i), kNoLeaf, ApiUnmatched::name});
    }
  };
  while (true) {
    const bool more_targets = targets.advance();
    const bool more_goldens = goldens.advance();
    if ((!more_targets && !more_goldens) || targets.empty() || goldens.empty()) {
      break;
    }
    std::size_t t = targets.newest();
    std::size_t g = goldens.oldest(targets.name(t));
    if (g == goldens.size()) {
      g = goldens.newest();
      t = targets.oldest(goldens.name(g));
    }
    if (t == targets.size()) {
      continue;
    }
    unmatched_up_to(t);
    match.pairs.push_back({targets.leaf(t), goldens.leaf(g), ApiUnmatched::no});
    used[g] = true;
    targets.cut_behind(t);
    goldens.cut_behind(g);
  }
  unmatched_up_to(targets.size());
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    if (!used[i]) {
      match.golden_only.push_back(goldens.leaf(i));
    }
  }
  return match;
}

/// "float" for Float32 and torch.bfloat16 and so on; other types stand for themselves.
std::string_view dtype_kind(std::string_view dtype) {
  if (dtype.find("class") != std::string_view::npos) {
    return dtype;
  }
  const std::string lower = to_lower(dtype);
  for (const std::string_view kind : {"complex", "float", "bool", "int"}) {
    if (lower.find(kind) != std::string::npos) {
      return kind;
    }
  }
  return dtype;
}

}  // namespace

ApiKeys::ApiKeys(const ApiRun& run, bool renumber_backward) : keys_(run.leaves.size()) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (const ApiEntry& entry : run.entries) {
    std::string call;
    if (renumber_backward && entry.direction == CallDirection::backward) {
      call = renumbered(entry.call, seen[entry.prefix]++);
    }
    const bool changed = !call.empty() && call != entry.call;
    for (std::uint32_t i = entry.first_leaf; i < entry.first_leaf + entry.leaf_count; ++i) {
      const std::string_view name = run.leaves[i].name;
      keys_[i] = changed && name.starts_with(entry.name)
                     ? arena_.append(entry.name.substr(0, entry.prefix.size() + 1), call,
                                     name.substr(entry.name.size()))
                     : name;
    }
  }
}

std::string fuzzy_name(std::string_view name) {
  std::size_t cut = name.find("forward");
  cut = cut == std::string_view::npos ? name.find("backward") : cut;
  if (cut == std::string_view::npos || cut < 2) {
    return std::string(name);
  }
  const std::size_t dot = name.rfind('.', cut - 2);  // the one in front of the dropped part
  const std::size_t kept = dot == std::string_view::npos ? 0 : dot + 1;
  return std::string(name.substr(0, kept)) + std::string(name.substr(cut));
}

bool comparable_dtypes(std::string_view target, std::string_view golden, bool cross_framework) {
  if (target == golden) {
    return true;
  }
  if (cross_framework) {
    return dtype_kind(target) == dtype_kind(golden);
  }
  constexpr std::array<std::string_view, 3> kTorch = {"torch.float16", "torch.float32",
                                                      "torch.bfloat16"};
  constexpr std::array<std::string_view, 3> kMindSpore = {"Float16", "Float32", "BFloat16"};
  for (const auto& group : {kTorch, kMindSpore}) {
    if (std::find(group.begin(), group.end(), target) != group.end() &&
        std::find(group.begin(), group.end(), golden) != group.end()) {
      return true;
    }
  }
  return false;
}

ApiMatch match_api_runs(const ApiRun& target, const ApiRun& golden,
                        const ApiMatchOptions& options) {
  ApiMatch match =
      options.fuzzy ? walk_in_step(target, golden) : join_by_key(target, golden, options);
  if (!options.check_dtypes) {
    return match;
  }
  for (ApiPair& pair : match.pairs) {
    if (pair.golden != kNoLeaf &&
        !comparable_dtypes(target.dtype_of(target.leaves[pair.target]),
                           golden.dtype_of(golden.leaves[pair.golden]), options.cross_framework)) {
      pair.golden = kNoLeaf;
      pair.unmatched = ApiUnmatched::dtype;
    }
  }
  return match;
}

}  // namespace opdrift::match
