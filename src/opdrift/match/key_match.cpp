#include "opdrift/match/key_match.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace opdrift::match {

namespace {

std::vector<std::size_t> by_time(std::span<const KeyedDump> dumps) {
  std::vector<std::size_t> order(dumps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [dumps](std::size_t a, std::size_t b) {
    return dumps[a].time != dumps[b].time ? dumps[a].time < dumps[b].time
                                          : dumps[a].key < dumps[b].key;
  });
  return order;
}

std::string shape_text(const tensor::Shape& shape) {
  return "(" + tensor::to_string(shape, ", ") + ")";
}

}  // namespace

std::vector<KeyPair> pair_by_key(std::span<const KeyedDump> target,
                                 std::span<const KeyedDump> golden) {
  std::unordered_map<std::string, std::size_t> golden_by_key;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden_by_key.emplace(golden[i].key, i);
  }
  std::vector<KeyPair> pairs;
  std::vector<bool> taken(golden.size(), false);
  for (const std::size_t position : by_time(target)) {
    KeyPair pair;
    pair.target = position;
    const auto found = golden_by_key.find(target[position].key);
    if (found != golden_by_key.end()) {
      pair.golden = found->second;
      taken[found->second] = true;
    }
    pairs.push_back(pair);
  }
  for (const std::size_t position : by_time(golden)) {
    if (!taken[position]) {
      pairs.push_back({std::nullopt, position});
    }
  }
  return pairs;
}

HalfMatch match_half(const std::string& operator_name, const std::string& half,
                     std::span<const tensor::Shape> target, std::span<const tensor::Shape> golden) {
  HalfMatch match;
  const std::string name = "[" + operator_name + "] ";
  if (target.size() != golden.size()) {
    match.problem = HalfProblem::count_differs;
    match.reason = name + "number of " + half + "s differs: " + std::to_string(target.size()) +
                   " in the target, " + std::to_string(golden.size()) + " in the golden";
    return match;
  }
  if (target.empty()) {
    match.problem = HalfProblem::empty;
    match.reason = name + "has no " + half + "s";
    return match;
  }
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    if (target[i] != golden[i]) {
      match.problem = HalfProblem::shape_differs;
      match.index = i;
      match.reason = name + "shape of " + half + " " + std::to_string(i) + " differs: target " +
                     shape_text(target[i]) + ", golden " + shape_text(golden[i]);
      return match;
    }
  }
  return match;
}

}  // namespace opdrift::match
