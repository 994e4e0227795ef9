#include "opdrift/pipeline/msprobe/torchair_tokens.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "opdrift/graph/ge_text.hpp"

namespace opdrift::pipeline {

namespace {

/// Golden tokens by number, of either kind.
struct GoldenTokens {
  std::map<std::uint64_t, const GeToken*> ge;
  std::map<std::uint64_t, const FxToken*> fx;
};

void say(const TorchairSides& sides, RunLogLevel level, const std::string& text) {
  if (sides.log) {
    sides.log(level, text);
  }
}

std::string list_ranks(const std::map<std::uint64_t, std::string>& ranks) {
  std::string text;
  for (const auto& [rank, path] : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text.empty() ? "none" : text;
}

void log_tokens(const TorchairSides& sides, const GeGroup& group) {
  std::string ids;
  for (const GeToken& token : group) {
    ids += (ids.empty() ? "" : ", ") + std::to_string(token.id);
  }
  say(sides, RunLogLevel::info, "All token ids in my_dump_data: dict_keys([" + ids + "])");
}

Status pair_tokens(const TorchairSides& sides, const graph::Graph& graph, std::size_t number,
                   const GeGroup& targets, const GoldenTokens& goldens,
                   const std::function<Status(const TokenPair&)>& take) {
  log_tokens(sides, targets);
  for (const GeToken& token : targets) {
    const auto ge = goldens.ge.find(token.id);
    const auto fx = goldens.fx.find(token.id);
    if (ge == goldens.ge.end() && fx == goldens.fx.end()) {
      say(sides, RunLogLevel::warning,
          "My token_id " + std::to_string(token.id) + " not found in golden dump data");
      continue;
    }
    say(sides, RunLogLevel::info, "Comparing token_id: " + std::to_string(token.id));
    OPDRIFT_CHECK_OK(take({graph, number, token, ge == goldens.ge.end() ? nullptr : ge->second,
                           fx == goldens.fx.end() ? nullptr : fx->second}));
  }
  return Unit{};
}

GoldenTokens tokens_of_graph(const std::vector<GeGroup>& ge, const std::vector<FxGroup>& fx,
                             std::size_t number) {
  GoldenTokens tokens;
  if (number < ge.size()) {
    for (const GeToken& token : ge[number]) {
      tokens.ge.emplace(token.id, &token);
    }
  }
  if (number < fx.size()) {
    for (const FxToken& token : fx[number]) {
      tokens.fx.emplace(token.id, &token);
    }
  }
  return tokens;
}

Result<std::vector<std::string>> graphs_of(const TorchairSides& sides, const RankRoots& root) {
  std::vector<std::string> graphs = graph_files(sides.target, root.rank);
  if (graphs.empty()) {
    const std::string rank = root.rank ? "rank_" + std::to_string(*root.rank) + "_*" : "";
    return Error{ErrorCode::not_found,
                 "Can not get ge graph, Please check whether the input path contains graph. Looked "
                 "for dynamo_original_graph_*" +
                     rank + ".txt up to five folders down; found " + names_in(sides.target),
                 sides.target};
  }
  std::string names;
  for (const std::string& graph : graphs) {
    names += (names.empty() ? "'" : ", '") + graph + "'";
  }
  say(sides, RunLogLevel::info,
      "[compare_torchair], golden_path: " + root.golden + ", my_path: " + root.target +
          ", ge_graph_path: [" + names + "]");
  return graphs;
}

}  // namespace

match::FusedNames TokenPair::names() const {
  std::unordered_set<std::string> dumped;
  for (const GeFile& file : target.files) {
    dumped.insert(file.name);
  }
  if (golden_ge != nullptr) {
    for (const GeFile& file : golden_ge->files) {
      dumped.insert(file.name);
    }
  }
  return match::FusedNames(graph, std::move(dumped));
}

std::vector<const GeFile*> graph_order(const GeToken& token, const match::FusedNames& names) {
  std::vector<const GeFile*> files;
  for (const GeFile& file : token.files) {
    files.push_back(&file);
  }
  std::sort(files.begin(), files.end(),
            [](const GeFile* a, const GeFile* b) { return a->path < b->path; });
  const auto place = [&](const GeFile* file) {
    const std::size_t position = names.position(file->name);
    return position == match::FusedNames::kNoPosition ? 0 : position + 1;
  };
  std::stable_sort(files.begin(), files.end(),
                   [&](const GeFile* a, const GeFile* b) { return place(a) < place(b); });
  return files;
}

Result<std::vector<RankRoots>> torchair_roots(const TorchairSides& sides) {
  const auto targets = torchair_ranks(sides.target);
  if (targets.empty()) {
    if (sides.rank) {
      say(sides, RunLogLevel::warning,
          "The directory structure of torchair data is old, the rank parameter will not take "
          "effect.");
    }
    return std::vector<RankRoots>{{std::nullopt, sides.target, sides.golden}};
  }
  const auto goldens = torchair_ranks(sides.golden);
  std::vector<RankRoots> roots;
  for (const auto& [rank, path] : targets) {
    const auto golden = goldens.find(rank);
    if (golden != goldens.end() && (!sides.rank || *sides.rank == rank)) {
      roots.push_back({rank, path, golden->second});
    }
  }
  if (roots.empty()) {
    return Error{
        ErrorCode::not_found,
        "expected a rank that both dumps have" +
            (sides.rank ? " (asked for rank " + std::to_string(*sides.rank) + ")" : std::string()) +
            "; target: " + list_ranks(targets) + "; golden: " + list_ranks(goldens)};
  }
  return roots;
}

Status each_token_pair(const TorchairSides& sides, const RankRoots& root,
                       const std::function<Status(const TokenPair&)>& take) {
  const bool golden_is_ge = !graph_files(sides.golden, std::nullopt).empty();
  OPDRIFT_TRY(const std::vector<std::string> graphs, graphs_of(sides, root));
  const std::vector<GeGroup> targets = scan_ge(root.target, sides.log);
  const std::vector<GeGroup> golden_ge =
      golden_is_ge ? scan_ge(root.golden, sides.log) : std::vector<GeGroup>{};
  const std::vector<FxGroup> golden_fx =
      golden_is_ge ? std::vector<FxGroup>{}
                   : scan_fx(root.golden, root.rank.has_value(), sides.log);
  say(sides, RunLogLevel::info, golden_is_ge ? "Comparing GE with GE" : "Comparing GE with FX");
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    OPDRIFT_TRY(const graph::Graph graph, graph::read_ge_text(graphs[i]));
    const GoldenTokens goldens = tokens_of_graph(golden_ge, golden_fx, i);
    if (i >= targets.size() || (goldens.ge.empty() && goldens.fx.empty())) {
      say(sides, RunLogLevel::warning,
          "No dumped data belongs to graph number " + std::to_string(i) + " (" + graphs[i] +
              "): found " + std::to_string(targets.size()) + " groups in " + root.target + " and " +
              std::to_string(std::max(golden_ge.size(), golden_fx.size())) + " in " + root.golden);
      continue;
    }
    OPDRIFT_CHECK_OK(pair_tokens(sides, graph, i, targets[i], goldens, take));
  }
  return Unit{};
}

}  // namespace opdrift::pipeline
