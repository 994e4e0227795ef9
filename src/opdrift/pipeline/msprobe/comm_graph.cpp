#include "opdrift/pipeline/msprobe/comm_graph.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::pipeline {

namespace {

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// A communication call with the differing calls since the one before it.
struct CommNode {
  std::size_t rank = 0;
  std::size_t call = 0;
  std::size_t layer = 0;
  std::size_t place = 0;  // calls since the previous node
  struct Compute {
    std::size_t call = 0;
    std::size_t place = 0;
  };
  std::vector<Compute> computes;
  std::vector<std::size_t> connected;  // positions in the list of nodes
  bool taken = false;                  // as partner, by the rank that is being connected
};

/// "Distributed.send.0.forward" -> "send".
std::string_view function_of(std::string_view name) {
  const auto parts = split(name, '.');
  return parts.size() > 3 ? parts[parts.size() - 3] : name;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOpposites = {{
    {"send", "recv"},
    {"isend", "irecv"},
    {"send_object_list", "recv_object_list"},
}};

/// The function the other end of a transfer calls, or nothing for collectives.
std::optional<std::string_view> opposite(std::string_view function) {
  for (const auto& [a, b] : kOpposites) {
    if (function == a) {
      return b;
    }
    if (function == b) {
      return a;
    }
  }
  return std::nullopt;
}

class CommGraph {
 public:
  explicit CommGraph(const std::vector<RankCalls>& ranks) : ranks_(ranks) {
    nodes_of_rank_.resize(ranks.size());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      add_chain(rank);
    }
    for (std::size_t rank = 0; rank + 1 < ranks.size(); ++rank) {
      connect(rank);
    }
  }

  std::vector<CallHit> first_differences() const {
    std::vector<Candidate> found;
    std::vector<bool> seen(nodes_.size(), false);
    while (found.empty()) {
      bool any = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        if (const auto node = lowest_unseen(rank, seen)) {
          any = true;
          collect(*node, seen, found);
        }
      }
      if (!any) {
        return {};
      }
    }
    const auto key = [](const Candidate& c) { return std::make_pair(c.layer, c.place); };
    const auto best = key(
        *std::min_element(found.begin(), found.end(),
                          [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); }));
    std::vector<CallHit> hits;
    for (const Candidate& candidate : found) {
      if (key(candidate) == best) {
        hits.push_back(candidate.hit);
      }
    }
    return hits;
  }

 private:
  struct Candidate {
    CallHit hit;
    std::size_t layer = 0;
    std::size_t place = 0;
  };

  void add_chain(std::size_t rank) {
    const std::vector<RankCall>& calls = ranks_[rank].calls;
    CommNode node;
    bool started = false;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (is_communication(calls[i].name)) {
        node.rank = rank;
        node.call = i;
        node.layer = nodes_of_rank_[rank].size();
        nodes_of_rank_[rank].push_back(nodes_.size());
        nodes_.push_back(std::move(node));
        node = CommNode{};
        started = true;
      } else if (started) {
        if (calls[i].differs) {
          node.computes.push_back({i, node.place});
        }
        ++node.place;
      }
    }
  }

  const RankCall& call_of(const CommNode& node) const { return ranks_[node.rank].calls[node.call]; }

  /// Looks for partners among the ranks behind this one.
  void connect(std::size_t rank) {
    for (const std::size_t position : nodes_of_rank_[rank]) {
      for (std::size_t other = rank + 1; other < ranks_.size(); ++other) {
        if (!lists(call_of(nodes_[position]), ranks_[other].number, true)) {
          continue;
        }
        for (const std::size_t partner : nodes_of_rank_[other]) {
          if (!is_used(partner, rank) && fits(nodes_[position], nodes_[partner])) {
            nodes_[position].connected.push_back(partner);
            nodes_[partner].connected.push_back(position);
            nodes_[partner].layer = nodes_[position].layer;
            break;
          }
        }
      }
    }
  }

  /// A node has one partner per rank.
  bool is_used(std::size_t partner, std::size_t rank) const {
    const auto& connected = nodes_[partner].connected;
    return std::any_of(connected.begin(), connected.end(),
                       [&](std::size_t other) { return nodes_[other].rank == rank; });
  }

  static bool lists(const RankCall& call, long long rank, bool when_empty) {
    if (call.partners.empty()) {
      return when_empty;
    }
    return std::find(call.partners.begin(), call.partners.end(), rank) != call.partners.end();
  }

  bool fits(const CommNode& node, const CommNode& partner) const {
    const RankCall& own = call_of(node);
    const RankCall& other = call_of(partner);
    const auto wanted = opposite(function_of(own.name));
    if (function_of(other.name) != wanted.value_or(function_of(own.name))) {
      return false;
    }
    if (own.has_source && other.has_source && own.is_source == other.is_source) {
      return false;
    }
    return lists(other, ranks_[node.rank].number, !wanted.has_value());
  }

  bool matters(const CommNode& node) const {
    return call_of(node).differs || !node.computes.empty();
  }

  std::optional<std::size_t> lowest_unseen(std::size_t rank, const std::vector<bool>& seen) const {
    std::optional<std::size_t> best;
    for (const std::size_t position : nodes_of_rank_[rank]) {
      if (!seen[position] && matters(nodes_[position]) &&
          (!best || nodes_[position].layer < nodes_[*best].layer)) {
        best = position;
      }
    }
    return best;
  }

  /// The node with everything connected to it, directly or through others.
  void collect(std::size_t start, std::vector<bool>& seen, std::vector<Candidate>& found) const {
    std::deque<std::size_t> open = {start};
    seen[start] = true;
    while (!open.empty()) {
      const CommNode& node = nodes_[open.front()];
      open.pop_front();
      for (const CommNode::Compute& compute : node.computes) {
        found.push_back({{node.rank, compute.call}, node.layer, compute.place});
      }
      if (call_of(node).differs) {
        found.push_back({{node.rank, node.call}, node.layer, node.place});
      }
      for (const std::size_t next : node.connected) {
        if (!seen[next]) {
          seen[next] = true;
          open.push_back(next);
        }
      }
    }
  }

  const std::vector<RankCalls>& ranks_;
  std::vector<CommNode> nodes_;
  std::vector<std::vector<std::size_t>> nodes_of_rank_;
};

/// First differing call of [begin, end).
std::optional<std::size_t> first_in(const RankCalls& rank, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (rank.calls[i].differs) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_communication(std::string_view name) {
  constexpr std::array<std::string_view, 3> kStarts = {"Distributed", "MintDistributed",
                                                       "communication.comm_func"};
  constexpr std::array<std::string_view, 7> kWords = {"send",   "recv",    "broadcast", "reduce",
                                                      "gather", "scatter", "all_to_all"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return name.starts_with(start); }) &&
         std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return contains(name, word); });
}

bool is_ignored_call(std::string_view name) {
  return contains(name, "Torch.empty") || contains(name, "Torch.fill") ||
         contains(name, "Tensor.__setitem__");
}

std::vector<CallHit> find_differences(const std::vector<RankCalls>& ranks, DiffStage stage) {
  if (stage == DiffStage::between) {
    return CommGraph(ranks).first_differences();
  }
  std::vector<CallHit> hits;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& calls = ranks[i].calls;
    std::size_t begin = 0;
    std::size_t end = calls.size();
    for (std::size_t k = 0; k < calls.size(); ++k) {
      if (is_communication(calls[k].name)) {
        begin = k + 1;
        end = std::min(end, k);
      }
    }
    const auto hit = stage == DiffStage::before ? first_in(ranks[i], 0, end)
                                                : first_in(ranks[i], begin, calls.size());
    if (hit) {
      hits.push_back({i, *hit});
    }
  }
  return hits;
}

}  // namespace opdrift::pipeline
