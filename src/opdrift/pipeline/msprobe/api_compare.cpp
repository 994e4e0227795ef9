#include "opdrift/pipeline/msprobe/api_compare.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/msprobe/api_diff.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

void log(const ApiCompareOptions& options, RunLogLevel level, const std::string& text) {
  if (options.log) {
    options.log(level, text);
  }
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> common(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// "step12" -> 12.
std::optional<std::uint64_t> step_number(std::string_view name) {
  return name.starts_with("step") ? parse_u64(name.substr(4)) : std::nullopt;
}

void merge(ApiOutcome& total, ApiOutcome part) {
  for (NotableRow row : part.totals.notable.take()) {
    row.row += total.totals.rows;  // behind those of earlier ranks
    total.totals.notable.add(std::move(row));
  }
  total.files.insert(total.files.end(), part.files.begin(), part.files.end());
  total.totals.rows += part.totals.rows;
  total.totals.passed += part.totals.passed;
  total.totals.warnings += part.totals.warnings;
  total.totals.errors += part.totals.errors;
  if (total.totals.first_error.empty()) {
    total.totals.first_error = part.totals.first_error;
  }
  total.compared = total.compared || part.compared;
}

ApiCompareOptions inside(const ApiCompareOptions& options, const std::string& name) {
  ApiCompareOptions inner = options;
  inner.target_path += "/" + name;
  inner.golden_path += "/" + name;
  inner.output_folder += "/" + name;
  return inner;
}

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Status(system_error(error.value(), "mkdir", path)) : Status(Unit{});
}

/// Tells apart "all good" and "nothing in common", which the table of warnings alone does not.
void warn_when_nothing_matched(const ApiSides& sides, const ApiCompareOptions& options) {
  const bool any =
      std::any_of(sides.match.pairs.begin(), sides.match.pairs.end(),
                  [](const match::ApiPair& pair) { return pair.golden != match::kNoLeaf; });
  if (any || options.reference_tables) {
    return;
  }
  log(options, RunLogLevel::warning,
      "Nothing matched: none of the " + std::to_string(sides.match.pairs.size()) +
          " leaves of the target is in the golden run. The target begins with " +
          std::string(sides.target.leaves.front().name) + ", the golden with " +
          std::string(sides.golden.leaves.front().name) +
          ". --fuzzy_match ignores call numbers; mapping files rename.");
}

/// One pair of json files; `suffix` names the rank in the file name.
Result<ApiOutcome> compare_files(const std::string& target, const std::string& golden,
                                 const std::string& suffix, const ApiCompareOptions& options) {
  ApiOutcome outcome;
  OPDRIFT_TRY(const ApiSides sides, open_api_sides(target, golden, options));
  if (sides.match.pairs.empty()) {
    log(options, RunLogLevel::warning,
        "No valid data found. No compare result file generated. Please check input json.");
    return outcome;
  }
  warn_when_nothing_matched(sides, options);
  std::vector<RealRow> real;
  if (sides.mode == verdict::RowMode::real_data) {
    log(options, RunLogLevel::info, "Compare real data in progress...");
    real = measure_real_rows(sides, options);
    log(options, RunLogLevel::info, "Compare real data done.");
  }
  if (options.cancel != nullptr && options.cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  log(options, RunLogLevel::info, "Calculating comparison indicators in progress...");
  log(options, RunLogLevel::info, "Comparison indicators calculation done.");
  log(options, RunLogLevel::info, "Saving result file in progress...");
  const std::string stem = options.output_folder + "/" + (sides.debug ? "debug_" : "") +
                           "compare_result" + suffix + "_" + time_stamp(false);
  const std::string first = stem + (options.xlsx ? ".xlsx" : ".csv");
  if (is_file(first)) {
    log(options, RunLogLevel::warning, first + " already exists and will be replaced.");
  }
  OPDRIFT_TRY(const ApiTable table, write_api_table(sides, real, stem, options));
  for (const std::string& file : table.files) {
    log(options, RunLogLevel::info, "The result file path is: " + file + ".");
  }
  outcome.files = table.files;
  outcome.totals = table.totals;
  outcome.compared = true;
  return outcome;
}

bool names_fit(const std::string& target, const std::string& golden) {
  return (target.ends_with("dump.json") && golden.ends_with("dump.json")) ||
         (target.ends_with("debug.json") && golden.ends_with("debug.json"));
}

Result<ApiOutcome> compare_two_files(const ApiCompareOptions& options) {
  if (!names_fit(options.target_path, options.golden_path)) {
    return Error{ErrorCode::bad_name,
                 "expected two files named dump.json or two named debug.json, found " +
                     std::string(io::base_name(options.target_path)) + " and " +
                     std::string(io::base_name(options.golden_path))};
  }
  OPDRIFT_TRY(ApiOutcome outcome,
              compare_files(options.target_path, options.golden_path, "", options));
  if (options.diff_analyze && !options.reference_tables) {
    OPDRIFT_TRY(ApiOutcome analysed,
                analyze_first_difference({{options.target_path, options.golden_path, 0}}, options));
    merge(outcome, std::move(analysed));
  }
  return outcome;
}

/// The json file of a rank folder, "" when there is none.
std::string json_in(const std::string& folder) {
  for (const std::string_view name : {"/dump.json", "/debug.json"}) {
    if (is_file(folder + std::string(name))) {
      return folder + std::string(name);
    }
  }
  return {};
}

/// Folders below which ranks or processes stand.
struct RankPair {
  std::string name;  ///< the target's folder
  std::string target;
  std::string golden;
  long long number = 0;
};

Result<std::vector<RankPair>> find_ranks(const ApiCompareOptions& options) {
  const std::vector<RankFolder> targets = rank_folders(options.target_path);
  const std::vector<RankFolder> goldens = rank_folders(options.golden_path);
  std::vector<RankPair> pairs;
  if (!targets.empty() || !goldens.empty()) {
    OPDRIFT_TRY(const auto matched, pair_ranks(targets, goldens, options));
    for (const auto& [t, g] : matched) {
      pairs.push_back({targets[t].name, options.target_path + "/" + targets[t].name,
                       options.golden_path + "/" + goldens[g].name,
                       std::max(targets[t].number, 0LL)});
    }
    return pairs;
  }
  const auto processes = [](const std::string& folder) {
    std::vector<std::string> names = folders_in(folder);
    std::erase_if(names, [](const std::string& name) {
      return !name.starts_with("proc") || !is_digits(std::string_view(name).substr(4));
    });
    return names;
  };
  const std::vector<std::string> target = processes(options.target_path);
  const std::vector<std::string> golden = processes(options.golden_path);
  if (target.size() == 1 && golden.size() == 1) {
    pairs.push_back({target.front(), options.target_path + "/" + target.front(),
                     options.golden_path + "/" + golden.front(), 0});
    return pairs;
  }
  return Error{ErrorCode::not_found,
               "expected folders rank<number>, or one folder proc<number>, in both runs (or in a "
               "folder step<number> that both have); found " +
                   names_in(options.target_path) + " in " + options.target_path + " and " +
                   names_in(options.golden_path) + " in " + options.golden_path};
}

Result<ApiOutcome> compare_ranks(const ApiCompareOptions& options) {
  ApiCompareOptions files = options;
  files.target_path = json_in(options.target_path);
  files.golden_path = json_in(options.golden_path);
  if (!files.target_path.empty() && !files.golden_path.empty()) {
    return compare_two_files(files);  // the folder of one run
  }
  OPDRIFT_TRY(const std::vector<RankPair> ranks, find_ranks(options));
  if (options.diff_analyze) {
    std::vector<AnalyzedRank> analysed;
    for (const RankPair& rank : ranks) {
      const std::string target = json_in(rank.target);
      const std::string golden = json_in(rank.golden);
      if (!target.empty() && !golden.empty()) {
        analysed.push_back({target, golden, rank.number});
      }
    }
    return analyze_first_difference(analysed, options);
  }
  ApiOutcome total;
  bool any = false;
  for (const RankPair& rank : ranks) {
    const std::string target = json_in(rank.target);
    const std::string golden = json_in(rank.golden);
    if (target.empty() || golden.empty() || !names_fit(target, golden)) {
      log(options, RunLogLevel::warning,
          "No json file pair in " + rank.target + " and " + rank.golden + "; skipped.");
      continue;
    }
    any = true;
    Result<ApiOutcome> outcome = compare_files(target, golden, "_" + rank.name, options);
    if (!outcome && outcome.error().code == ErrorCode::bad_json) {
      log(options, RunLogLevel::error, outcome.error().to_string());
      continue;
    }
    if (!outcome) {
      return outcome.error();
    }
    merge(total, std::move(outcome).value());
  }
  if (!any) {
    const RankPair& first = ranks.front();
    return Error{ErrorCode::not_found,
                 "expected dump.json in the rank folders of both runs; found " +
                     names_in(first.target) + " in " + first.target + " and " +
                     names_in(first.golden) + " in " + first.golden};
  }
  return total;
}

std::vector<std::string> common_folders(const ApiCompareOptions& options) {
  return common(folders_in(options.target_path), folders_in(options.golden_path));
}

Result<ApiOutcome> compare_folders(const ApiCompareOptions& options, bool nested);

Result<ApiOutcome> compare_each(const ApiCompareOptions& options,
                                const std::vector<std::string>& names) {
  ApiOutcome total;
  for (const std::string& name : names) {
    const ApiCompareOptions inner = inside(options, name);
    OPDRIFT_CHECK_OK(make_folder(inner.output_folder));
    OPDRIFT_TRY(ApiOutcome outcome, compare_folders(inner, true));
    merge(total, std::move(outcome));
  }
  return total;
}

/// `nested`: inside a step, where no further level is looked for.
Result<ApiOutcome> compare_folders(const ApiCompareOptions& options, bool nested) {
  if (nested) {
    return compare_ranks(options);
  }
  const std::vector<std::string> names = common_folders(options);
  ApiOutcome total;
  bool mixed = false;
  for (const std::string_view kind : {"graph", "pynative"}) {
    if (std::find(names.begin(), names.end(), kind) != names.end()) {
      mixed = true;
      const ApiCompareOptions inner = inside(options, std::string(kind));
      OPDRIFT_TRY(ApiOutcome outcome, compare_each(inner, common_folders(inner)));
      merge(total, std::move(outcome));
    }
  }
  if (mixed) {
    return total;
  }
  std::vector<std::string> steps;
  std::copy_if(names.begin(), names.end(), std::back_inserter(steps),
               [](const std::string& name) { return step_number(name).has_value(); });
  if (steps.empty()) {
    return compare_ranks(options);
  }
  std::sort(steps.begin(), steps.end(), [](const std::string& a, const std::string& b) {
    return step_number(a) < step_number(b);
  });
  return compare_each(options, steps);
}

}  // namespace

std::vector<RankFolder> rank_folders(const std::string& folder) {
  std::vector<RankFolder> ranks;
  for (const std::string& name : folders_in(folder)) {
    if (name == "rank") {
      ranks.push_back({name, -1});
    }
    const std::string_view digits =
        std::string_view(name).substr(std::min<std::size_t>(4, name.size()));
    const auto number = name.starts_with("rank") ? parse_i64(digits) : std::nullopt;
    if (number && is_digits(digits) && (digits.size() == 1 || digits.front() != '0')) {
      ranks.push_back({name, *number});
    }
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const RankFolder& a, const RankFolder& b) { return a.number < b.number; });
  return ranks;
}

Result<std::vector<std::pair<std::size_t, std::size_t>>> pair_ranks(
    const std::vector<RankFolder>& target, const std::vector<RankFolder>& golden,
    const ApiCompareOptions& options) {
  if (target.size() != golden.size()) {
    return Error{ErrorCode::mismatch,
                 "The number of ranks in the two runs are different. Unable to match the ranks. "
                 "Please use another folder to compare or use compare() api and manually match "
                 "the ranks. Found " +
                     names_in(options.target_path) + " and " + names_in(options.golden_path) + "."};
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  bool same_numbers = true;
  for (std::size_t i = 0; i < target.size(); ++i) {
    same_numbers = same_numbers && target[i].number == golden[i].number;
    pairs.emplace_back(i, i);
  }
  if (!same_numbers) {
    log(options, RunLogLevel::warning,
        "The rank numbers of the two runs differ; ranks are paired in order.");
  }
  return pairs;
}

Result<ApiOutcome> compare_api_runs(const ApiCompareOptions& options) {
  OPDRIFT_CHECK_OK(make_folder(options.output_folder));
  const bool target_folder = is_folder(options.target_path);
  const bool golden_folder = is_folder(options.golden_path);
  if (target_folder != golden_folder) {
    return Error{ErrorCode::wrong_kind,
                 "The target_path and golden_path need to be of the same type."};
  }
  return target_folder ? compare_folders(options, false) : compare_two_files(options);
}

}  // namespace opdrift::pipeline
