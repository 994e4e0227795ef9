#include "opdrift/match/torchair_match.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

using graph::Operator;

TensorPair make_pair(GoldenRef::Source source, const std::string& name, TensorKind kind,
                     std::size_t index) {
  TensorPair pair;
  pair.golden = {source, name, kind, index};
  pair.target_kind = kind;
  pair.target_index = index;
  return pair;
}

/// Pairs by index up to the shorter side.
void pair_by_index(GoldenRef::Source source, const std::string& name, TensorKind kind,
                   std::size_t count, std::vector<TensorPair>& pairs) {
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back(make_pair(source, name, kind, i));
  }
}

void pair_own(const std::string& op, const TensorCounts& target, TensorPairs& result) {
  for (std::size_t i = 0; i < std::min(target.inputs, target.outputs); ++i) {
    TensorPair pair = make_pair(GoldenRef::Source::target, op, TensorKind::input, i);
    pair.target_kind = TensorKind::output;
    result.pairs.push_back(pair);
  }
}

/// A single operator: the last of its outputs that names a node decides.
void pair_single(const Operator& piece, const TensorCounts& target, const CountsOf& fx,
                 TensorPairs& result) {
  for (const std::string& node : fx_nodes(piece)) {
    const TensorCounts counts = fx(node);
    if (counts.inputs + counts.outputs == 0) {
      result.missing.push_back(node);
      continue;
    }
    for (TensorPair& earlier : result.pairs) {
      earlier.superseded = true;
    }
    pair_by_index(GoldenRef::Source::fx, node, TensorKind::input,
                  std::min(counts.inputs, target.inputs), result.pairs);
    pair_by_index(GoldenRef::Source::fx, node, TensorKind::output,
                  std::min(counts.outputs, target.outputs), result.pairs);
  }
}

/// A fusion begins with the inputs of its first piece and ends with the outputs of its last one.
void pair_ends(const Operator& piece, TensorKind kind, std::size_t available, const CountsOf& fx,
               TensorPairs& result) {
  for (const std::string& node : fx_nodes(piece)) {
    const TensorCounts counts = fx(node);
    if (counts.inputs + counts.outputs == 0) {
      result.missing.push_back(node);
      continue;
    }
    const std::size_t count = kind == TensorKind::input ? counts.inputs : counts.outputs;
    pair_by_index(GoldenRef::Source::fx, node, kind, std::min(count, available), result.pairs);
  }
}

/// Inputs of all pieces, in their order, without those that one piece hands to another.
std::vector<GoldenRef> outer_inputs(const std::vector<const Operator*>& pieces,
                                    const CountsOf& golden) {
  const auto inside = [&](const std::string& producer) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const Operator* piece) { return piece->name == producer; });
  };
  std::vector<GoldenRef> inputs;
  for (const Operator* piece : pieces) {
    const TensorCounts counts = golden(piece->name);
    const bool dumped = counts.inputs + counts.outputs > 0;
    const std::size_t count =
        dumped ? std::min(piece->inputs.size(), counts.inputs) : piece->inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!inside(piece->inputs[i].producer)) {
        inputs.push_back({dumped ? GoldenRef::Source::golden : GoldenRef::Source::missing,
                          piece->name, TensorKind::input, i});
      }
    }
  }
  return inputs;
}

void pair_fused_with_ge(const std::vector<const Operator*>& pieces, const TensorCounts& target,
                        const CountsOf& golden, TensorPairs& result) {
  const std::vector<GoldenRef> inputs = outer_inputs(pieces, golden);
  for (std::size_t i = 0; i < std::min(inputs.size(), target.inputs); ++i) {
    TensorPair pair;
    pair.golden = inputs[i];
    pair.target_index = i;
    result.pairs.push_back(pair);
  }
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const TensorCounts counts = golden((*piece)->name);
    if (counts.inputs + counts.outputs > 0) {
      pair_by_index(GoldenRef::Source::golden, (*piece)->name, TensorKind::output,
                    std::min(counts.outputs, target.outputs), result.pairs);
      return;
    }
  }
}

}  // namespace

FusedNames::FusedNames(const graph::Graph& graph, std::unordered_set<std::string> dumped)
    : graph_(&graph), dumped_(std::move(dumped)) {
  positions_.reserve(graph.operators.size());
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    positions_.insert_or_assign(graph.operators[i].name, i);
  }
}

const Operator* FusedNames::find(std::string_view name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : &graph_->operators[found->second];
}

std::size_t FusedNames::position(std::string_view name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? kNoPosition : found->second;
}

FusedNames::Split FusedNames::split(std::string_view name) const {
  Split split;
  std::string_view rest = name;
  while (!rest.empty()) {
    const Operator* piece = find(rest);
    std::size_t length = rest.size();
    while (piece == nullptr && length > 1) {
      --length;
      piece = find(rest.substr(0, length));
      if (piece == nullptr && dumped_.contains(std::string(rest.substr(0, length)))) {
        return split;
      }
    }
    if (piece == nullptr) {
      return split;
    }
    split.pieces.push_back(piece);
    rest.remove_prefix(length);
  }
  split.complete = true;
  return split;
}

std::vector<std::string> fx_nodes(const Operator& op) {
  std::vector<std::string> nodes;
  for (const graph::OutputDesc& output : op.outputs) {
    if (output.tensor.empty()) {
      continue;
    }
    const auto parts = split(output.tensor, '.');
    if (parts.size() > 2 && parts[parts.size() - 2] == "OUTPUT") {
      const std::size_t tail = std::string_view(".OUTPUT.").size() + parts.back().size();
      nodes.push_back(output.tensor.substr(0, output.tensor.size() - tail));
    } else {
      nodes.push_back(output.tensor);
    }
  }
  return nodes;
}

TensorPairs pair_with_fx(const FusedNames& names, const std::string& op, std::string_view type,
                         const TensorCounts& target, const CountsOf& fx) {
  TensorPairs result;
  const FusedNames::Split split = names.split(op);
  if (split.pieces.size() == 1) {
    pair_single(*split.pieces.front(), target, fx, result);
  } else if (split.pieces.size() > 1) {
    pair_ends(*split.pieces.front(), TensorKind::input, target.inputs, fx, result);
    pair_ends(*split.pieces.back(), TensorKind::output, target.outputs, fx, result);
  } else if (type.find("Cast") != std::string_view::npos ||
             type.find("TransData") != std::string_view::npos) {
    pair_own(op, target, result);
  } else {
    result.unexplained = true;
  }
  return result;
}

TensorPairs pair_with_ge(const FusedNames& names, const std::string& op, bool fused,
                         const TensorCounts& target, const CountsOf& golden) {
  TensorPairs result;
  if (fused) {
    const FusedNames::Split split = names.split(op);
    result.unexplained = !split.complete;
    pair_fused_with_ge(split.pieces, target, golden, result);
    return result;
  }
  const TensorCounts counts = golden(op);
  if (counts.inputs + counts.outputs == 0) {
    result.missing.push_back(op);
    return result;
  }
  pair_by_index(GoldenRef::Source::golden, op, TensorKind::input,
                std::min(counts.inputs, target.inputs), result.pairs);
  pair_by_index(GoldenRef::Source::golden, op, TensorKind::output,
                std::min(counts.outputs, target.outputs), result.pairs);
  return result;
}

}  // namespace opdrift::match
