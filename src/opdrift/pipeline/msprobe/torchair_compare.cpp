#include "opdrift/pipeline/msprobe/torchair_compare.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/graph/ge_text.hpp"
#include "opdrift/match/torchair_match.hpp"
#include "opdrift/pipeline/msprobe/torchair_folders.hpp"
#include "opdrift/pipeline/msprobe/torchair_rows.hpp"
#include "opdrift/pipeline/msprobe/torchair_table.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

/// One rank, or everything when there are no rank folders.
struct RankRoots {
  std::optional<std::uint64_t> rank;
  std::string target;
  std::string golden;
};

/// Golden tokens by number, of either kind.
struct GoldenTokens {
  std::map<std::uint64_t, const GeToken*> ge;
  std::map<std::uint64_t, const FxToken*> fx;
};

class TorchairRun {
 public:
  explicit TorchairRun(const TorchairOptions& options) : options_(options) {}

  Result<TorchairOutcome> run() {
    log(RunLogLevel::info, "[compare_torchair] start comparing, golden_path: " +
                               options_.golden_path + ", target_path: " + options_.target_path);
    const bool golden_is_ge = !graph_files(options_.golden_path, std::nullopt).empty();
    OPDRIFT_TRY(const std::vector<RankRoots> roots, find_roots());
    std::error_code error;
    fs::create_directories(options_.output_folder, error);
    if (error) {
      return system_error(error.value(), "mkdir", options_.output_folder);
    }
    TorchairOutcome outcome;
    for (const RankRoots& root : roots) {
      OPDRIFT_CHECK_OK(compare_rank(root, golden_is_ge, outcome));
    }
    return outcome;
  }

 private:
  void log(RunLogLevel level, const std::string& text) const {
    if (options_.log) {
      options_.log(level, text);
    }
  }

  Result<std::vector<RankRoots>> find_roots() const {
    const auto targets = torchair_ranks(options_.target_path);
    if (targets.empty()) {
      if (options_.rank) {
        log(RunLogLevel::warning,
            "The directory structure of torchair data is old, the rank parameter will not take "
            "effect.");
      }
      return std::vector<RankRoots>{{std::nullopt, options_.target_path, options_.golden_path}};
    }
    const auto goldens = torchair_ranks(options_.golden_path);
    std::vector<RankRoots> roots;
    for (const auto& [rank, path] : targets) {
      const auto golden = goldens.find(rank);
      if (golden != goldens.end() && (!options_.rank || *options_.rank == rank)) {
        roots.push_back({rank, path, golden->second});
      }
    }
    if (roots.empty()) {
      return Error{ErrorCode::not_found,
                   "expected a rank that both dumps have" +
                       (options_.rank ? " (asked for rank " + std::to_string(*options_.rank) + ")"
                                      : std::string()) +
                       "; target: " + list_ranks(targets) + "; golden: " + list_ranks(goldens)};
    }
    return roots;
  }

  static std::string list_ranks(const std::map<std::uint64_t, std::string>& ranks) {
    std::string text;
    for (const auto& [rank, path] : ranks) {
      text += (text.empty() ? "" : ", ") + std::to_string(rank);
    }
    return text.empty() ? "none" : text;
  }

  Status compare_rank(const RankRoots& root, bool golden_is_ge, TorchairOutcome& outcome) {
    const std::vector<std::string> graphs = graph_files(options_.target_path, root.rank);
    if (graphs.empty()) {
      return Error{ErrorCode::not_found,
                   "Can not get ge graph, Please check whether the input path contains graph.",
                   options_.target_path};
    }
    std::string names;
    for (const std::string& graph : graphs) {
      names += (names.empty() ? "'" : ", '") + graph + "'";
    }
    log(RunLogLevel::info, "[compare_torchair], golden_path: " + root.golden +
                               ", my_path: " + root.target + ", ge_graph_path: [" + names + "]");
    const std::vector<GeGroup> targets = scan_ge(root.target, options_.log);
    const std::vector<GeGroup> golden_ge =
        golden_is_ge ? scan_ge(root.golden, options_.log) : std::vector<GeGroup>{};
    const std::vector<FxGroup> golden_fx =
        golden_is_ge ? std::vector<FxGroup>{}
                     : scan_fx(root.golden, root.rank.has_value(), options_.log);
    log(RunLogLevel::info, golden_is_ge ? "Comparing GE with GE" : "Comparing GE with FX");
    std::vector<TorchairRow> rows;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      OPDRIFT_TRY(const graph::Graph graph, graph::read_ge_text(graphs[i]));
      GoldenTokens goldens;
      if (i < golden_ge.size()) {
        for (const GeToken& token : golden_ge[i]) {
          goldens.ge.emplace(token.id, &token);
        }
      }
      if (i < golden_fx.size()) {
        for (const FxToken& token : golden_fx[i]) {
          goldens.fx.emplace(token.id, &token);
        }
      }
      if (i >= targets.size() || (goldens.ge.empty() && goldens.fx.empty())) {
        log(RunLogLevel::warning,
            "No dumped data belongs to graph number " + std::to_string(i) + " (" + graphs[i] +
                "): found " + std::to_string(targets.size()) + " groups in " + root.target +
                " and " + std::to_string(std::max(golden_ge.size(), golden_fx.size())) + " in " +
                root.golden);
        continue;
      }
      OPDRIFT_CHECK_OK(compare_tokens(graph, targets[i], goldens, rows));
    }
    return write(root, std::move(rows), outcome);
  }

  Status compare_tokens(const graph::Graph& graph, const GeGroup& targets,
                        const GoldenTokens& goldens, std::vector<TorchairRow>& rows) const {
    log_tokens("my_dump_data", targets);
    for (const GeToken& token : targets) {
      const auto ge = goldens.ge.find(token.id);
      const auto fx = goldens.fx.find(token.id);
      if (ge == goldens.ge.end() && fx == goldens.fx.end()) {
        log(RunLogLevel::warning,
            "My token_id " + std::to_string(token.id) + " not found in golden dump data");
        continue;
      }
      log(RunLogLevel::info, "Comparing token_id: " + std::to_string(token.id));
      compare_token(graph, token, ge == goldens.ge.end() ? nullptr : ge->second,
                    fx == goldens.fx.end() ? nullptr : fx->second, rows);
      if (options_.cancel != nullptr && options_.cancel->cancelled()) {
        return Error{ErrorCode::cancelled, "interrupted"};
      }
    }
    return Unit{};
  }

  void log_tokens(const std::string& side, const GeGroup& group) const {
    std::string ids;
    for (const GeToken& token : group) {
      ids += (ids.empty() ? "" : ", ") + std::to_string(token.id);
    }
    log(RunLogLevel::info, "All token ids in " + side + ": dict_keys([" + ids + "])");
  }

  void compare_token(const graph::Graph& graph, const GeToken& token, const GeToken* golden_ge,
                     const FxToken* golden_fx, std::vector<TorchairRow>& rows) const {
    std::unordered_set<std::string> dumped;
    for (const GeFile& file : token.files) {
      dumped.insert(file.name);
    }
    if (golden_ge != nullptr) {
      for (const GeFile& file : golden_ge->files) {
        dumped.insert(file.name);
      }
    }
    const match::FusedNames names(graph, std::move(dumped));
    const std::vector<const GeFile*> files = graph_order(token, names);
    const TorchairMeter meter(names, golden_ge, golden_fx, options_);
    std::vector<TorchairOperator> operators(files.size());
    parallel_for(
        files.size(), options_.jobs,
        [&](std::size_t i) { operators[i] = meter.compare(*files[i]); }, options_.cancel);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const std::string& warning : operators[i].warnings) {
        log(RunLogLevel::warning, warning);
      }
      for (TorchairRow& row : operators[i].rows) {
        row.token = token.id;
        row.order = i;
        rows.push_back(std::move(row));
      }
    }
  }

  /// Operators the graph does not have come first, in path order.
  static std::vector<const GeFile*> graph_order(const GeToken& token,
                                                const match::FusedNames& names) {
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

  Status write(const RankRoots& root, std::vector<TorchairRow> rows, TorchairOutcome& outcome) {
    if (rows.empty()) {
      log(RunLogLevel::warning, "Nothing matched: no operator dumped in " + root.target +
                                    " has a counterpart in " + root.golden + ".");
    }
    const std::string rank = root.rank ? "_rank" + std::to_string(*root.rank) : "";
    const std::string stem =
        options_.output_folder + "/msprobe_cmp_report" + rank + "_" + time_stamp(true);
    OPDRIFT_TRY(const TorchairTable table,
                write_torchair_table(std::move(rows), next_id_, stem, options_));
    for (const std::string& file : table.files) {
      log(RunLogLevel::info, "Saved comparing results: " + file);
      outcome.files.push_back(file);
    }
    outcome.rows += table.rows;
    outcome.failed += table.failed;
    if (outcome.first_difference.empty()) {
      outcome.first_difference = table.first_difference;
    }
    if (!options_.reference_tables) {
      log(RunLogLevel::info,
          std::to_string(table.rows) + " rows, " + std::to_string(table.failed) + " of them FAIL" +
              (table.first_difference.empty() ? "." : "; " + table.first_difference));
    }
    next_id_ = 0;
    return Unit{};
  }

  const TorchairOptions& options_;
  std::uint64_t next_id_ = 0;
};

}  // namespace

Result<TorchairOutcome> compare_torchair(const TorchairOptions& options) {
  return TorchairRun(options).run();
}

}  // namespace opdrift::pipeline
