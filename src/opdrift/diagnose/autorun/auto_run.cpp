#include "opdrift/diagnose/autorun/auto_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/autorun/trial_runs.hpp"
#include "opdrift/diagnose/flow/flow.hpp"
#include "opdrift/diagnose/flow/precision_cause.hpp"

namespace opdrift::diagnose::autorun {

namespace {

constexpr std::string_view kMixed = "mixed_";
constexpr double kClosest = 1.0 - 1e-9;

/// Optimisers of ONNX Runtime that merge operators, most common first.
constexpr const char* kOptimisers[] = {
    "ConvBNFusion",
    "ConvActivationFusion",
    "ConvAddFusion",
    "ConvMulFusion",
    "MatMulAddFusion",
    "LayerNormFusion",
    "SkipLayerNormFusion",
    "GeluFusionL2",
    "BiasGeluFusion",
    "FastGeluFusion",
    "AttentionFusion",
    "GemmActivationFusion",
    "MatMulScaleFusion",
    "MatMulTransposeFusion",
    "SimplifiedLayerNormFusion",
    "ConstantFolding",
    "QDQFinalCleanupTransformer",
};

bool is_mixed(const std::string& role) {
  return role.substr(0, kMixed.size()) == kMixed;
}

class AutoRun {
 public:
  explicit AutoRun(const AutoOptions& options)
      : options_(options), flow_(options.flow), trials_(options) {}

  Result<AutoReport> run() {
    Status ended = make_experiments();
    clean_up();
    OPDRIFT_CHECK_OK(std::move(ended));
    name_rounds();
    return std::move(report_);
  }

 private:
  Status make_experiments() {
    made_.push_back("golden");
    OPDRIFT_CHECK_OK(trials_.run("golden", {}));
    OPDRIFT_CHECK_OK(run_and_judge("base", {}));
    return follow_the_flow();
  }

  Status run_and_judge(const std::string& role, const std::vector<std::string>& keep) {
    made_.push_back(role);
    last_ = role;
    OPDRIFT_CHECK_OK(trials_.run(role, keep));
    OPDRIFT_TRY(flow::RunFacts facts, trials_.judge(role));
    report_.runs.push_back(role + ": " + std::string(to_string(facts.verdict)) +
                           ", output cosine " + flow::number_text(*facts.output_cosine) +
                           (keep.empty() ? "" : ", kept " + join(keep, ", ")));
    report_.facts.runs[role] = std::move(facts);
    return Unit{};
  }

  /// Makes the experiments the flow asks for, as long as they can be made.
  Status follow_the_flow() {
    bool goes_on = true;
    while (goes_on) {
      report_.diagnosis = flow::diagnose(report_.facts, flow_);
      if (report_.diagnosis.next.empty()) {
        goes_on = look_closer();
      } else {
        OPDRIFT_TRY(goes_on, experiment(report_.diagnosis.next.front()));
      }
    }
    return report_.diagnosis.conclusion == flow::Conclusion::fusion ? find_optimiser()
                                                                    : Status(Unit{});
  }

  /// When the outputs fail and no operator is beyond the limit, the limit moves towards 1: whoever
  /// adds most is next. False when there is nothing to gain by it.
  bool look_closer() {
    double& limit = flow_.limits.difference;
    const bool open = report_.diagnosis.conclusion == flow::Conclusion::precision &&
                      report_.facts.runs[last_round()].verdict == flow::Verdict::fail;
    if (!open || limit > kClosest) {
      return false;
    }
    limit = 1.0 - (1.0 - limit) / 4.0;
    return true;
  }

  std::string last_round() const { return is_mixed(last_) ? last_ : "base"; }

  /// False when it cannot be made here.
  Result<bool> experiment(const flow::NextStep& next) {
    const std::string& role = next.role;
    if (role.substr(0, 5) == "dump ") {
      return compare(role.substr(5));
    }
    if (role == "nobuf" || role == "noreuse") {
      report_.facts.runs[role].verdict = flow::Verdict::fail;
      return true;
    }
    if (role == "nofuse" && options_.optimization == engine::Optimization::none) {
      report_.facts.runs[role].verdict = flow::Verdict::fail;
      return true;
    }
    if (role == "high" && options_.precision == engine::Precision::fp32) {
      report_.facts.runs[role].verdict = flow::Verdict::fail;
      return true;
    }
    if (is_mixed(role)) {
      return next_round(role);
    }
    if (role != "high" && role != "nofuse") {
      return false;
    }
    OPDRIFT_CHECK_OK(run_and_judge(role, {}));
    return true;
  }

  Result<bool> compare(const std::string& pair) {
    const std::size_t cut = pair.find(".vs.");
    const std::string candidate = pair.substr(0, cut);
    const std::string reference = pair.substr(cut + 4);
    if (report_.facts.compare.count(pair) > 0) {
      return false;  // nothing could be compared
    }
    OPDRIFT_TRY(report_.facts.compare[pair], trials_.compare(candidate, reference));
    return true;
  }

  /// Takes the operators of the last diagnosis into the keep list and runs with it.
  Result<bool> next_round(const std::string& role) {
    if (parse_u64(role.substr(kMixed.size())).value_or(0) > options_.max_rounds) {
      report_.runs.push_back("stopped after " + std::to_string(options_.max_rounds) + " rounds");
      return false;
    }
    std::vector<flow::BlamedOperator> blamed = report_.diagnosis.operators;
    if (std::all_of(blamed.begin(), blamed.end(),
                    [&](const flow::BlamedOperator& one) { return kept(one.facts); })) {
      blamed = first_not_kept();
    }
    if (blamed.empty()) {
      report_.runs.push_back("every operator that differs is on the keep list");
      return false;
    }
    for (const flow::BlamedOperator& one : blamed) {
      for (const std::string& name : one.facts.original) {
        if (!listed(name)) {
          report_.facts.keep.push_back(name);
        }
      }
      rounds_.push_back({precision_cause(one.facts, flow_.limits), one});
    }
    OPDRIFT_CHECK_OK(run_and_judge(role, report_.facts.keep));
    return true;
  }

  bool listed(const std::string& name) const {
    const auto& keep = report_.facts.keep;
    return std::find(keep.begin(), keep.end(), name) != keep.end();
  }

  bool kept(const flow::OperatorFacts& op) const {
    return std::all_of(op.original.begin(), op.original.end(),
                       [&](const std::string& name) { return listed(name); });
  }

  /// Operators on the list may differ still, by what they read: the next one behind them.
  std::vector<flow::BlamedOperator> first_not_kept() const {
    const auto found = report_.facts.compare.find(flow::pair_key(last_round(), "high"));
    if (found != report_.facts.compare.end()) {
      for (const flow::OperatorFacts& op : found->second) {
        if (!is_network_input(op) && !kept(op) && flow::is_different(op, flow_.limits.difference)) {
          return {flow::blame(op, flow_.limits.difference)};
        }
      }
    }
    return {};
  }

  Status find_optimiser() {
    report_.diagnosis.fixes = {
        {"option", "run with less graph optimisation: --optimize none", std::nullopt}};
    for (const char* const optimiser : kOptimisers) {
      OPDRIFT_TRY(const flow::RunFacts facts, trials_.try_without(optimiser));
      report_.runs.push_back(std::string("without ") + optimiser + ": " +
                             std::string(to_string(facts.verdict)));
      if (facts.verdict == flow::Verdict::pass) {
        report_.diagnosis.fixes.insert(report_.diagnosis.fixes.begin(),
                                       {"optimizer",
                                        std::string("switch the optimiser ") + optimiser +
                                            " of ONNX Runtime off: the outputs pass without it",
                                        std::nullopt});
        return Unit{};
      }
    }
    return Unit{};
  }

  /// What the rounds found goes into the final report: there only the list is left.
  void name_rounds() {
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      report_.diagnosis.checks.push_back({"P", "kept " + rounds_[i].blamed.facts.op + ": " +
                                                   std::string(code_of(rounds_[i].cause)) + ", " +
                                                   std::string(meaning_of(rounds_[i].cause))});
      for (flow::BlamedOperator& one : report_.diagnosis.operators) {
        const auto& names = rounds_[i].blamed.facts.original;
        if (one.facts.cos_out.empty() &&
            std::find(names.begin(), names.end(), one.facts.op) != names.end()) {
          one = rounds_[i].blamed;
        }
      }
    }
    for (const std::string& run : report_.runs) {
      report_.diagnosis.checks.push_back({"run", run});
    }
  }

  void clean_up() {
    if (!options_.keep_dumps) {
      for (const std::string& role : made_) {
        trials_.remove_dump(role);
      }
    }
  }

  struct Round {
    flow::Conclusion cause;
    flow::BlamedOperator blamed;
  };

  const AutoOptions& options_;
  flow::FlowOptions flow_;  ///< limits move while searching
  TrialRuns trials_;
  AutoReport report_;
  std::string last_;  ///< role that ran last
  std::vector<std::string> made_;
  std::vector<Round> rounds_;
};

}  // namespace

Result<AutoReport> run_auto(const AutoOptions& options) {
  return AutoRun(options).run();
}

}  // namespace opdrift::diagnose::autorun
