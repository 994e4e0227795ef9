#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/diagnose/autorun/auto_run.hpp"
#include "opdrift/diagnose/evidence/comparisons.hpp"

namespace opdrift::diagnose::autorun {

/// Makes the runs of auto_run.hpp and compares them. Dumps lie in `<folder>/<role>`.
class TrialRuns {
 public:
  explicit TrialRuns(const AutoOptions& options) : options_(options) {}

  /// Dumps a role; `keep` is the keep list of a mixed run. Fails as dump_model does.
  Status run(const std::string& role, const std::vector<std::string>& keep);

  /// As base, one optimiser switched off; only its outputs are looked at.
  Result<flow::RunFacts> try_without(const std::string& optimiser);

  /// Verdict and output cosine of a role, against the golden. Fails as compare_dumps does, and with
  /// not_found when no net output can be compared.
  Result<flow::RunFacts> judge(const std::string& role) const;

  Result<flow::OperatorList> compare(const std::string& candidate,
                                     const std::string& reference) const;

  void remove_dump(const std::string& role) const;

 private:
  std::string folder_of(const std::string& role) const;
  engine::DumpOptions dump_options(const std::string& role) const;
  evidence::CollectOptions collect_options() const;

  const AutoOptions& options_;
  evidence::ComparisonContext context_;
};

}  // namespace opdrift::diagnose::autorun
