#include "opdrift/match/name_match.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

using Key = std::optional<std::string>;
using Positions = std::vector<std::size_t>;

constexpr char kFieldSeparator = '\x1f';

std::string with_place(const NamedTensor& tensor, std::string name) {
  name += kFieldSeparator;
  name += tensor.step;
  name += tensor.output ? "\x1fo" : "\x1fi";
  name += std::to_string(tensor.index);
  return name;
}

/// Last component of "a/b/c" or "a.b.c"; nothing when there is only one.
Key base_of(std::string_view name) {
  const std::size_t cut = name.find_last_of("/.");
  if (cut == std::string_view::npos || cut + 1 == name.size()) {
    return std::nullopt;
  }
  return std::string(name.substr(cut + 1));
}

/// What a rule compares, or nothing when the rule does not apply to this tensor.
Key key_of(const NamedTensor& tensor, NameRule rule) {
  switch (rule) {
    case NameRule::tensor_name:
      if (tensor.tensor_name.empty()) {
        return std::nullopt;
      }
      return tensor.tensor_name + kFieldSeparator + tensor.step + (tensor.output ? "o" : "i");
    case NameRule::operator_name: return with_place(tensor, tensor.operator_name);
    case NameRule::normalised_name: return with_place(tensor, normalise(tensor.operator_name));
    case NameRule::base_name: {
      Key base = base_of(tensor.operator_name);
      return with_place(tensor, base ? normalise(*base) : normalise(tensor.operator_name));
    }
  }
  return std::nullopt;
}

/// One side during matching: what is still free, and why tensors stay free.
struct Side {
  const std::vector<NamedTensor>& tensors;
  std::vector<bool> taken;
  std::vector<UnpairedReason> reasons;

  explicit Side(const std::vector<NamedTensor>& list)
      : tensors(list),
        taken(list.size(), false),
        reasons(list.size(), UnpairedReason::no_counterpart) {}

  std::unordered_map<std::string, Positions> free_by_key(NameRule rule) const {
    std::unordered_map<std::string, Positions> found;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (taken[i]) {
        continue;
      }
      if (Key key = key_of(tensors[i], rule)) {
        found[std::move(*key)].push_back(i);
      }
    }
    return found;
  }

  std::vector<Unpaired> unpaired() const {
    std::vector<Unpaired> left;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!taken[i]) {
        left.push_back({i, reasons[i]});
      }
    }
    return left;
  }
};

/// Weak rules must not guess: they take a name only when it is unique on both sides.
bool is_weak(NameRule rule) {
  return rule == NameRule::base_name;
}

void mark(Side& side, const Positions& positions, std::size_t from, UnpairedReason reason) {
  for (std::size_t i = from; i < positions.size(); ++i) {
    side.reasons[positions[i]] = reason;
  }
}

void apply_rule(NameRule rule, Side& golden, Side& target, std::vector<NamePair>& pairs) {
  const auto golden_by_key = golden.free_by_key(rule);
  const auto target_by_key = target.free_by_key(rule);
  for (const auto& [key, target_positions] : target_by_key) {
    const auto found = golden_by_key.find(key);
    if (found == golden_by_key.end()) {
      continue;
    }
    const Positions& golden_positions = found->second;
    const std::size_t common = std::min(golden_positions.size(), target_positions.size());
    if (is_weak(rule) && (golden_positions.size() > 1 || target_positions.size() > 1)) {
      mark(golden, golden_positions, 0, UnpairedReason::ambiguous);
      mark(target, target_positions, 0, UnpairedReason::ambiguous);
      continue;
    }
    for (std::size_t i = 0; i < common; ++i) {
      pairs.push_back({golden_positions[i], target_positions[i], rule});
      golden.taken[golden_positions[i]] = true;
      target.taken[target_positions[i]] = true;
    }
    mark(golden, golden_positions, common, UnpairedReason::duplicate);
    mark(target, target_positions, common, UnpairedReason::duplicate);
  }
}

}  // namespace

const char* to_string(NameRule rule) {
  switch (rule) {
    case NameRule::tensor_name: return "tensor name";
    case NameRule::operator_name: return "operator name";
    case NameRule::normalised_name: return "normalised name";
    case NameRule::base_name: return "base name";
  }
  return "operator name";
}

const char* to_string(UnpairedReason reason) {
  switch (reason) {
    case UnpairedReason::no_counterpart: return "no tensor of this name on the other side";
    case UnpairedReason::duplicate: return "this name occurs more often than on the other side";
    case UnpairedReason::ambiguous: return "several candidates share this base name";
  }
  return "no tensor of this name on the other side";
}

std::string normalise(std::string_view name) {
  std::string plain = to_lower(name);
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) { return c == '/' || c == '.' || c == ':' || c == '\\' || c == ' '; }, '_');
  const std::size_t start = plain.find_first_not_of('_');
  return start == std::string::npos ? plain : plain.substr(start);
}

NameMatch match_names(const std::vector<NamedTensor>& golden,
                      const std::vector<NamedTensor>& target) {
  Side golden_side(golden);
  Side target_side(target);
  NameMatch match;
  for (const NameRule rule : {NameRule::tensor_name, NameRule::operator_name,
                              NameRule::normalised_name, NameRule::base_name}) {
    apply_rule(rule, golden_side, target_side, match.pairs);
  }
  std::sort(match.pairs.begin(), match.pairs.end(),
            [](const NamePair& a, const NamePair& b) { return a.target < b.target; });
  match.unpaired_golden = golden_side.unpaired();
  match.unpaired_target = target_side.unpaired();
  return match;
}

}  // namespace opdrift::match
