#include "opdrift/diagnose/bisect/cut_plan.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

using engine::NodeSet;
using engine::Workpiece;

std::vector<std::string> final_values(const Workpiece& piece, const std::string& end,
                                      const std::vector<std::size_t>& ends) {
  std::vector<std::string> values;
  if (end.empty()) {
    for (const io::onnx::ValueInfo& output : piece.placed.model.graph.outputs) {
      if (piece.graph.producer(output.name)) {
        values.push_back(output.name);
      }
    }
    return values;
  }
  for (const std::string& value : piece.node(ends.front()).outputs) {
    if (!value.empty()) {
      values.push_back(value);
    }
  }
  return values;
}

/// Values made by a node and read by `readers`, each once, in topological order of the readers.
std::vector<std::string> values_read(const Workpiece& piece, const NodeSet& readers) {
  std::vector<std::string> values;
  std::unordered_set<std::string_view> seen;
  for (const std::size_t node : piece.graph.order()) {
    for (const std::string& value : piece.graph.reads(node)) {
      if (readers[node] && piece.graph.producer(value) && seen.insert(value).second) {
        values.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace

Result<CutPlan> CutPlan::create(const Workpiece& piece, const std::string& start,
                                const std::string& end) {
  CutPlan plan;
  std::vector<std::size_t> starts = engine::input_readers(piece);
  plan.ends_ = engine::output_makers(piece);
  if (!start.empty()) {
    OPDRIFT_TRY(const std::size_t node, engine::find_node(piece, start, "to start at"));
    starts = {node};
  }
  if (!end.empty()) {
    OPDRIFT_TRY(const std::size_t node, engine::find_node(piece, end, "to end at"));
    plan.ends_ = {node};
  }
  const NodeSet from_starts = downstream(piece.graph, starts);
  const NodeSet to_ends = upstream(piece.graph, plan.ends_);
  for (const std::size_t node : piece.graph.order()) {
    if (from_starts[node] && to_ends[node]) {
      plan.order_.push_back(node);
    }
  }
  if (plan.order_.empty()) {
    return Error{ErrorCode::mismatch,
                 "no path leads from " +
                     (start.empty() ? "the inputs" : "'" + printable(start) + "'") + " to " +
                     (end.empty() ? "the outputs" : "'" + printable(end) + "'")};
  }
  std::vector<std::size_t> place(piece.graph.size(), 0);
  for (std::size_t i = 0; i < plan.order_.size(); ++i) {
    place[plan.order_[i]] = i;
  }
  for (const std::size_t node : cut_points(piece.graph, starts, plan.ends_)) {
    plan.cuts_.push_back(place[node]);
  }
  plan.nodes_ = piece.graph.size();
  plan.finals_ = final_values(piece, end, plan.ends_);
  return plan;
}

std::vector<std::size_t> CutPlan::stops(Direction direction) const {
  std::vector<std::size_t> stops = cuts_;
  const std::size_t last = order_.size() - 1;
  if (direction == Direction::suffix && (stops.empty() || stops.front() != 0)) {
    stops.insert(stops.begin(), 0);
  }
  if (direction == Direction::prefix && (stops.empty() || stops.back() != last)) {
    stops.push_back(last);
  }
  return stops;
}

NodeSet CutPlan::part(Direction direction, std::size_t position) const {
  NodeSet nodes(nodes_, false);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    nodes[order_[i]] = direction == Direction::suffix ? i >= position : i <= position;
  }
  return nodes;
}

std::vector<std::size_t> CutPlan::between(Direction direction,
                                          const std::vector<std::size_t>& stops,
                                          const SearchAnswer& answer) const {
  std::size_t first = stops[answer.first];
  std::size_t last = stops[answer.last];
  if (direction == Direction::suffix) {
    last = answer.last + 1 < stops.size() ? stops[answer.last + 1] - 1 : order_.size() - 1;
  } else {
    first = answer.first > 0 ? stops[answer.first - 1] + 1 : 0;
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = first; i <= last; ++i) {
    positions.push_back(i);
  }
  return positions;
}

Split split_off(const Workpiece& piece, const CutPlan& plan, NodeSet target) {
  Split split;
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < target.size(); ++node) {
    if (target[node]) {
      nodes.push_back(node);
    }
  }
  split.rest = downstream(piece.graph, nodes);
  const NodeSet to_ends = upstream(piece.graph, plan.ends());
  for (std::size_t node = 0; node < target.size(); ++node) {
    split.rest[node] = split.rest[node] && to_ends[node] && !target[node];
  }
  for (const std::string& value : values_read(piece, target)) {
    if (!target[*piece.graph.producer(value)]) {
      split.to_target.push_back(value);
    }
  }
  for (const std::string& value : values_read(piece, split.rest)) {
    const std::size_t maker = *piece.graph.producer(value);
    if (target[maker]) {
      split.to_rest.push_back(value);
    } else if (!split.rest[maker]) {
      split.rest_reads.push_back(value);
    }
  }
  for (const std::string& value : plan.finals()) {
    const std::size_t maker = *piece.graph.producer(value);
    if (target[maker]) {
      split.target_finals.push_back(value);
    } else if (split.rest[maker]) {
      split.rest_finals.push_back(value);
    }
  }
  split.target = std::move(target);
  return split;
}

}  // namespace opdrift::diagnose
