#include "opdrift/pipeline/msprobe/torchair_compare.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/pipeline/msprobe/torchair_rows.hpp"
#include "opdrift/pipeline/msprobe/torchair_table.hpp"
#include "opdrift/pipeline/msprobe/torchair_tokens.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

class TorchairRun {
 public:
  explicit TorchairRun(const TorchairOptions& options) : options_(options) {}

  Result<TorchairOutcome> run() {
    log(RunLogLevel::info, "[compare_torchair] start comparing, golden_path: " +
                               options_.golden_path + ", target_path: " + options_.target_path);
    const TorchairSides sides{options_.target_path, options_.golden_path, options_.rank,
                              options_.log};
    OPDRIFT_TRY(const std::vector<RankRoots> roots, torchair_roots(sides));
    std::error_code error;
    fs::create_directories(options_.output_folder, error);
    if (error) {
      return system_error(error.value(), "mkdir", options_.output_folder);
    }
    TorchairOutcome outcome;
    for (const RankRoots& root : roots) {
      OPDRIFT_CHECK_OK(compare_rank(sides, root, outcome));
    }
    return outcome;
  }

 private:
  void log(RunLogLevel level, const std::string& text) const {
    if (options_.log) {
      options_.log(level, text);
    }
  }

  Status compare_rank(const TorchairSides& sides, const RankRoots& root, TorchairOutcome& outcome) {
    std::vector<TorchairRow> rows;
    OPDRIFT_CHECK_OK(each_token_pair(sides, root, [&](const TokenPair& tokens) -> Status {
      compare_token(tokens, rows);
      if (options_.cancel != nullptr && options_.cancel->cancelled()) {
        return Error{ErrorCode::cancelled, "interrupted"};
      }
      return Unit{};
    }));
    return write(root, std::move(rows), outcome);
  }

  void compare_token(const TokenPair& tokens, std::vector<TorchairRow>& rows) const {
    const match::FusedNames names = tokens.names();
    const std::vector<const GeFile*> files = graph_order(tokens.target, names);
    const TorchairMeter meter(names, tokens.golden_ge, tokens.golden_fx, options_);
    std::vector<TorchairOperator> operators(files.size());
    parallel_for(
        files.size(), options_.jobs,
        [&](std::size_t i) { operators[i] = meter.compare(*files[i]); }, options_.cancel);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const std::string& warning : operators[i].warnings) {
        log(RunLogLevel::warning, warning);
      }
      for (TorchairRow& row : operators[i].rows) {
        row.token = tokens.target.id;
        row.order = i;
        rows.push_back(std::move(row));
      }
    }
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
    for (NotableRow row : table.notable.take()) {
      row.row += outcome.rows;  // behind those of earlier ranks
      outcome.notable.add(std::move(row));
    }
    outcome.rows += table.rows;
    outcome.failed += table.failed;
    outcome.unmeasured += table.unmeasured;
    if (outcome.first_difference.empty()) {
      outcome.first_difference = table.first_difference;
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
