#include "opdrift/pipeline/judge/step_check.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "opdrift/base/natural_order.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/verdict/steps.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::StepSketch;

verdict::TensorSketch sketch_of(const std::string& name, const metrics::SideStats& side,
                                std::uint64_t count) {
  verdict::TensorSketch sketch;
  sketch.name = name;
  sketch.norm = std::sqrt(side.sum_squares);
  sketch.mean = side.mean();
  sketch.count = count;
  return sketch;
}

/// The last number in a step's name: "step3", "0/1/2".
std::int64_t number_of(const std::string& step, std::int64_t fallback) {
  const std::size_t end = step.find_last_of("0123456789");
  if (end == std::string::npos) {
    return fallback;
  }
  const std::size_t before = step.find_last_not_of("0123456789", end);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return parse_i64(step.substr(first, end + 1 - first)).value_or(fallback);
}

}  // namespace

namespace {

using StepNames = std::set<std::string, bool (*)(std::string_view, std::string_view)>;

StepNames steps_of(const DumpIndex& index) {
  StepNames names(&natural_less);
  for (const IndexedTensor& tensor : index.tensors) {
    names.insert(tensor.name.step);
  }
  return names;
}

/// "step2, step7 and 3 more"
std::string listed(const StepNames& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ < kShown) {
      text += (text.empty() ? "" : ", ") + name;
    }
  }
  return shown > kShown ? text + " and " + std::to_string(shown - kShown) + " more" : text;
}

}  // namespace

std::optional<verdict::Finding> step_ledger(const DumpIndex& golden, const DumpIndex& target,
                                            const Pairing& pairing) {
  StepNames missing = steps_of(golden);
  StepNames extra = steps_of(target);
  for (const IndexPair& pair : pairing.pairs) {
    if (!pair.own_golden) {
      missing.erase(golden.tensors[pair.golden].name.step);
      extra.erase(target.tensors[pair.target].name.step);
    }
  }
  missing.erase("");  // tensors beside the steps
  extra.erase("");
  std::string text;
  if (!missing.empty()) {
    text = "the target lacks golden steps " + listed(missing);
  }
  if (!extra.empty()) {
    text += (text.empty() ? "" : "; ") + std::string("the target has steps of its own: ") +
            listed(extra);
  }
  if (text.empty()) {
    return std::nullopt;
  }
  return verdict::Finding{.kind = verdict::FindingKind::steps_missing,
                          .sentence = text,
                          .value = static_cast<double>(missing.size() + extra.size())};
}

std::vector<verdict::Finding> check_steps(const verdict::RunResult& result) {
  std::map<std::string, std::pair<StepSketch, StepSketch>> steps;
  for (const verdict::TensorResult& row : result.tensors) {
    if (!row.measurement || row.role != "output") {
      continue;
    }
    auto& [golden, target] = steps[row.step];
    const std::string name = row.golden_operator + ":" + std::to_string(row.index);
    golden.tensors.push_back(sketch_of(name, row.measurement->golden, row.measurement->count));
    target.tensors.push_back(sketch_of(name, row.measurement->target, row.measurement->count));
  }
  if (steps.size() < 2) {
    return {};
  }
  std::vector<StepSketch> goldens;
  std::vector<StepSketch> targets;
  for (auto& [name, sides] : steps) {
    const auto number = number_of(name, static_cast<std::int64_t>(goldens.size()));
    sides.first.number = sides.second.number = number;
    goldens.push_back(std::move(sides.first));
    targets.push_back(std::move(sides.second));
  }
  std::vector<verdict::Finding> findings = verdict::align_steps(goldens, targets).findings;
  std::erase_if(findings, [](const verdict::Finding& finding) {
    return finding.kind != verdict::FindingKind::step_shift;
  });
  return findings;
}

void say_out_of_step(std::vector<verdict::Finding> findings, verdict::RunResult& result) {
  verdict::RunVerdict verdict;
  verdict.outcome = verdict::Outcome::inconclusive;
  verdict.sentence = "the steps of the two runs are not the same steps; no operator is blamed";
  verdict.findings = std::move(findings);
  for (verdict::TensorResult& row : result.tensors) {
    row.judgement = verdict::Judgement{};
    row.judgement->sentence = "of another step than its golden";
    if (row.measurement) {
      row.passed = true;
      row.reason = row.judgement->sentence;
    }
  }
  result.verdict = std::move(verdict);
}

}  // namespace opdrift::pipeline
