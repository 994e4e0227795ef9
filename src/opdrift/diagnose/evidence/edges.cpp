#include "opdrift/diagnose/evidence/edges.hpp"

#include <algorithm>

#include "opdrift/match/name_match.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr std::string_view kNetOutput = "NetOutput";

}  // namespace

Edges::Edges(graph::Graph graph) : graph_(std::move(graph)) {
  for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
    const graph::Operator& op = graph_.operators[i];
    by_name_.try_emplace(op.name, i);
    const auto [known, fresh] = by_normalised_.try_emplace(match::normalise(op.name), i);
    if (!fresh) {
      known->second = std::nullopt;
    }
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      if (!op.outputs[k].tensor.empty()) {
        by_tensor_.try_emplace(op.outputs[k].tensor, Feed{i, k});
      }
    }
  }
}

const graph::Operator* Edges::find(const std::string& name) const {
  const auto exact = by_name_.find(name);
  if (exact != by_name_.end()) {
    return &graph_.operators[exact->second];
  }
  const auto alike = by_normalised_.find(match::normalise(name));
  return alike == by_normalised_.end() || !alike->second ? nullptr
                                                         : &graph_.operators[*alike->second];
}

std::optional<Feed> Edges::feed_of(const graph::InputRef& input) const {
  if (!input.tensor.empty()) {
    const auto made = by_tensor_.find(input.tensor);
    return made == by_tensor_.end() ? std::nullopt : std::optional(made->second);
  }
  const auto producer = by_name_.find(input.producer);
  if (producer == by_name_.end() || input.index < 0) {
    return std::nullopt;
  }
  return Feed{producer->second, static_cast<std::size_t>(input.index)};
}

std::vector<Feed> Edges::network_outputs() const {
  std::vector<bool> read(graph_.operators.size(), false);
  std::vector<Feed> named;
  for (const graph::Operator& op : graph_.operators) {
    for (const graph::InputRef& input : op.inputs) {
      if (const auto feed = feed_of(input)) {
        read[feed->producer] = true;
        if (op.type == kNetOutput) {
          named.push_back(*feed);
        }
      }
    }
  }
  if (!named.empty()) {
    return named;
  }
  std::vector<Feed> last;
  for (std::size_t i = 0; i < read.size(); ++i) {
    for (std::size_t k = 0; !read[i] && k < graph_.operators[i].outputs.size(); ++k) {
      last.push_back({i, k});
    }
  }
  return last;
}

}  // namespace opdrift::diagnose::evidence
