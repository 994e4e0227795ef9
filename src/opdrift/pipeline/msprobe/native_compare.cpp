#include "opdrift/pipeline/msprobe/native_compare.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/io/msprobe/api_run_reader.hpp"
#include "opdrift/match/api_match.hpp"
#include "opdrift/pipeline/judge/api_problem.hpp"
#include "opdrift/pipeline/msprobe/api_index.hpp"
#include "opdrift/pipeline/msprobe/torchair_folders.hpp"
#include "opdrift/pipeline/msprobe/valid_lengths.hpp"
#include "opdrift/pipeline/pairing.hpp"

namespace opdrift::pipeline {

namespace {

using graph::ApiRun;
using verdict::RunSide;

/// Runs of the two sides that belong together; one of them is absent for runs without a partner.
struct JsonPair {
  std::optional<ApiJson> target;
  std::optional<ApiJson> golden;
};

std::string name_of(const ApiJson& json) {
  return json.label.empty() ? json.path : json.label;
}

/// By label; single runs always belong together.
std::vector<JsonPair> pair_jsons(std::vector<ApiJson> targets, std::vector<ApiJson> goldens,
                                 std::vector<std::string>& notes) {
  if (targets.size() == 1 && goldens.size() == 1) {
    if (targets.front().label != goldens.front().label) {
      notes.push_back("target run " + name_of(targets.front()) + " beside golden run " +
                      name_of(goldens.front()) + ": each is the only one of its side");
    }
    goldens.front().label = targets.front().label;
    return {{targets.front(), goldens.front()}};
  }
  std::map<std::string, ApiJson> by_label;
  for (ApiJson& golden : goldens) {
    by_label.emplace(golden.label, golden);
  }
  std::vector<JsonPair> pairs;
  for (const ApiJson& target : targets) {
    const auto golden = by_label.find(target.label);
    pairs.push_back({target, std::nullopt});
    if (golden != by_label.end()) {
      pairs.back().golden = golden->second;
      by_label.erase(golden);
    }
  }
  for (const ApiJson& golden : goldens) {
    if (by_label.contains(golden.label)) {
      pairs.push_back({std::nullopt, golden});
    }
  }
  return pairs;
}

std::string labels_of(const std::vector<ApiJson>& jsons) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(jsons.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + name_of(jsons[i]);
  }
  return text + (jsons.size() > kShown ? " ..." : "");
}

/// Reads and pairs run by run; only one pair of runs is in memory beside the indexes.
class ApiComparison {
 public:
  ApiComparison(const std::string& target, const std::string& golden)
      : targets_(find_api_jsons(target)),
        goldens_(find_api_jsons(golden)),
        target_(target, RunSide::target),
        golden_(golden, RunSide::golden) {}

  Result<verdict::RunResult> run(const std::string& target, const std::string& golden,
                                 const CompareOptions& options) {
    for (const auto& [jsons, path] :
         {std::pair(&targets_, &target), std::pair(&goldens_, &golden)}) {
      if (jsons->empty()) {
        return Error{ErrorCode::not_found,
                     "expected dump.json or debug.json here or in step<N>/rank<R> folders, as the "
                     "other side has; found none",
                     *path};
      }
    }
    for (const JsonPair& pair : pair_jsons(targets_, goldens_, notes_)) {
      OPDRIFT_CHECK_OK(add(pair));
    }
    if (paired_runs_ == 0 && first_error_) {
      return *first_error_;
    }
    pairing_.judge = &judge_api_calls;
    OPDRIFT_TRY(verdict::RunResult result,
                compare_pairs(golden_.finish(options.jobs), target_.finish(options.jobs),
                              std::move(pairing_), options));
    result.notes.insert(result.notes.begin(), notes_.begin(), notes_.end());
    return result;
  }

 private:
  Status add(const JsonPair& pair) {
    const auto target = read(pair.target, target_);
    const auto golden = read(pair.golden, golden_);
    if (target && golden) {
      ++paired_runs_;
      add_matched(*pair.target, *target, *pair.golden, *golden);
    } else if (target) {
      leave_alone(RunSide::target, target_.add(*pair.target, *target), *pair.target, goldens_);
    } else if (golden) {
      leave_alone(RunSide::golden, golden_.add(*pair.golden, *golden), *pair.golden, targets_);
    }
    return Unit{};
  }

  std::optional<ApiRun> read(const std::optional<ApiJson>& json, ApiIndexBuilder& side) {
    if (!json) {
      return std::nullopt;
    }
    Result<ApiRun> run =
        io::read_api_run(json->path, {.debug = json->path.ends_with("debug.json")});
    if (!run) {
      side.add_unreadable(*json, run.error());
      first_error_ = first_error_ ? first_error_ : std::optional(run.error());
      return std::nullopt;
    }
    return std::optional<ApiRun>(std::move(*run));
  }

  void add_matched(const ApiJson& target_json, const ApiRun& target, const ApiJson& golden_json,
                   const ApiRun& golden) {
    const std::vector<std::size_t> targets = target_.add(target_json, target);
    const std::vector<std::size_t> goldens = golden_.add(golden_json, golden);
    match::ApiMatchOptions matching;
    matching.debug = target_json.path.ends_with("debug.json");
    matching.check_dtypes = false;  // numbers of different types can be compared here
    const match::ApiMatch match = match::match_api_runs(target, golden, matching);
    std::vector<bool> used(goldens.size(), false);
    const ValidLengths valid(
        target, [&](const graph::ApiLeaf& leaf) { return target_.load_leaf(target_json, leaf); });
    for (const match::ApiPair& pair : match.pairs) {
      const std::size_t own = targets[pair.target];
      const std::size_t other = pair.golden == match::kNoLeaf ? kNotIndexed : goldens[pair.golden];
      if (own != kNotIndexed && other != kNotIndexed) {
        used[pair.golden] = true;
        pairing_.pairs.push_back({other, own, "call and leaf name", false,
                                  valid.of(target.leaves[pair.target]).value_or(kAllRows)});
      } else if (own != kNotIndexed) {
        pairing_.alone.push_back({RunSide::target, own, "the golden run has no such leaf"});
      }
    }
    for (std::size_t i = 0; i < goldens.size(); ++i) {
      if (!used[i] && goldens[i] != kNotIndexed) {
        pairing_.alone.push_back({RunSide::golden, goldens[i], "the target run has no such leaf"});
      }
    }
  }

  void leave_alone(RunSide side, const std::vector<std::size_t>& positions, const ApiJson& json,
                   const std::vector<ApiJson>& others) {
    const std::string reason = "the other side has no readable run " + json.label;
    for (const std::size_t position : positions) {
      if (position != kNotIndexed) {
        pairing_.alone.push_back({side, position, reason});
      }
    }
    notes_.push_back(std::string(verdict::to_string(side)) + " run " + json.label +
                     " has no counterpart; the other side holds " + labels_of(others));
  }

  std::vector<ApiJson> targets_;
  std::vector<ApiJson> goldens_;
  ApiIndexBuilder target_;
  ApiIndexBuilder golden_;
  Pairing pairing_;
  std::vector<std::string> notes_;
  std::optional<Error> first_error_;
  std::size_t paired_runs_ = 0;
};

}  // namespace

MsprobeKind msprobe_kind(const std::string& target, const std::string& golden) {
  if (is_folder(target) && is_folder(golden) && !graph_files(target, std::nullopt).empty()) {
    return MsprobeKind::torchair;
  }
  const bool api = !find_api_jsons(target).empty() || !find_api_jsons(golden).empty();
  return api ? MsprobeKind::api_run : MsprobeKind::none;
}

Result<verdict::RunResult> compare_api_dumps(const std::string& target, const std::string& golden,
                                             const CompareOptions& options) {
  return ApiComparison(target, golden).run(target, golden, options);
}

}  // namespace opdrift::pipeline
