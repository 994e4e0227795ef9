#include "evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <unordered_set>
#include <utility>

#include "faults.hpp"

#include "opdrift/replay/number_format.hpp"

namespace opdrift::evaluation {

namespace {

using tensor::DType;
using verdict::Judgement;

bool is_culprit(const std::optional<Judgement>& judgement) {
  return judgement && judgement->label == verdict::Label::culprit;
}

Result<verdict::JudgedRun> judged(const Network& network, const Values& stored,
                                  const std::optional<verdict::Assumptions>& assume,
                                  verdict::Tier strongest) {
  const MemorySource source(network, stored);
  verdict::JudgeOptions options;
  options.assume = assume;
  options.strongest = strongest;
  options.jobs = 1;
  return verdict::judge(network.problem(), source, options);
}

bool exceeds(const tensor::Tensor& tensor, double limit) {
  if (tensor.desc.dtype != DType::f32) {
    return false;
  }
  const std::span<const float> values = floats_of(tensor);
  return std::any_of(values.begin(), values.end(), [&](float value) {
    return std::isfinite(value) && std::abs(static_cast<double>(value)) > limit;
  });
}

/// True when the golden value, or a constant that its operator reads, is beyond the format.
bool beyond_range(const Network& network, ValueId id, double limit) {
  if (network.golden()[id] && exceeds(*network.golden()[id], limit)) {
    return true;
  }
  for (const ValueId input : network.problem().operators[network.producer(id)].inputs) {
    const tensor::Tensor* constant = input == verdict::kAbsent ? nullptr : network.parameter(input);
    if (constant != nullptr && exceeds(*constant, limit)) {
      return true;
    }
  }
  return false;
}

/// The same for any of the operators that were judged as one.
bool is_genuine(const Network& network, ValueId id, const Judgement& judgement, Format format) {
  const double limit = replay::largest_finite(dtype_of(format));
  bool genuine = beyond_range(network, id, limit);
  for (const ValueId other : network.computed()) {
    const verdict::ProblemOperator& op = network.problem().operators[network.producer(other)];
    const bool member = std::find(judgement.group.begin(), judgement.group.end(), op.op->name) !=
                        judgement.group.end();
    genuine = genuine || (member && beyond_range(network, other, limit));
  }
  return genuine;
}

RivalFlags rivals_on(const Network& network, const Values& wide, ValueId id) {
  const tensor::Tensor& golden = *network.golden()[id];
  return golden.desc.dtype == DType::f32 && wide[id] && wide[id]->desc.dtype == DType::f32
             ? ask_rivals(golden, *wide[id])
             : RivalFlags{};
}

void count_label(const Judgement& judgement, CleanRow& row) {
  switch (judgement.label) {
    case verdict::Label::watch: ++row.watched; break;
    case verdict::Label::victim: ++row.victims; break;
    case verdict::Label::drift: ++row.drifting; break;
    case verdict::Label::unjudged: ++row.unjudged; break;
    case verdict::Label::healthy:
    case verdict::Label::culprit: break;
  }
  if (judgement.label != verdict::Label::culprit) {
    // NaN stands for unknown and loses.
    row.largest_q = std::fmax(row.largest_q, judgement.q_own);
    row.largest_z = std::fmax(row.largest_z, judgement.z);
  }
}

void fill(const Network& network, const TargetRun& run, const verdict::JudgedRun& verdicts,
          CleanRow& row) {
  for (const ValueId id : network.computed()) {
    if (!run.stored[id] || id >= verdicts.values.size() || !verdicts.values[id]) {
      continue;
    }
    ++row.tensors;
    Label label{network.problem().values[id].name, network.node(network.producer(id)).op_type,
                *verdicts.values[id], false};
    count_label(label.judgement, row);
    if (label.judgement.label == verdict::Label::culprit) {
      label.genuine = is_genuine(network, id, label.judgement, row.variant->arithmetic.storage);
      ++row.culprits;
      row.genuine += label.genuine ? 1U : 0U;
    }
    const RivalFlags flags = rivals_on(network, run.wide, id);
    for (std::size_t i = 0; i < kRivals; ++i) {
      row.rivals[i] += flags[i] ? 1U : 0U;
    }
    row.labels.push_back(std::move(label));
  }
  row.findings = verdicts.run.findings;
}

/// Processor time of this process; other programs do not count.

/// Faults in one run of one network.
class FaultTrial {
 public:
  FaultTrial(const CatalogueEntry& entry, const Network& network, Target& target,
             const EvaluationOptions& options)
      : entry_(entry), network_(network), target_(target), options_(options) {}

  Status prepare() {
    OPDRIFT_TRY(clean_, target_.run());
    stored_ = stored_values(clean_, target_.arithmetic().storage);
    OPDRIFT_TRY(verdicts_, judged(network_, stored_, std::nullopt, options_.strongest));
    flags_.resize(clean_.size());
    for (const ValueId id : network_.computed()) {
      flags_[id] = rivals_on(network_, clean_, id);
    }
    return Unit{};
  }

  Status run_kind(const FaultKind& kind, std::vector<FaultRow>& rows) {
    Random random(std::string(entry_.name) + std::string(kind.name));
    std::vector<std::size_t> used;
    for (const double spot : {0.12, 0.5, 0.88}) {
      const auto planted = plant_near(kind, spot, network_, target_, clean_, random, used);
      if (planted) {
        used.push_back(planted->op);
        OPDRIFT_TRY(FaultRow row, run_fault(kind, *planted));
        rows.push_back(std::move(row));
      }
    }
    return Unit{};
  }

 private:
  Result<FaultRow> run_fault(const FaultKind& kind, const PlantedFault& planted) {
    const ValueId id = network_.problem().operators[planted.op].outputs[0];
    Values wide = clean_;
    wide[id] = planted.harmed;
    const std::vector<std::size_t> after = network_.readers_of(id);
    OPDRIFT_CHECK_OK(target_.rerun(after, {id}, wide));
    const std::vector<ValueId> affected = touched(planted.op, after);
    Values stored = stored_;
    for (const ValueId other : affected) {
      if (wide[other]) {
        stored[other] = evaluation::stored(*wide[other], target_.arithmetic().storage);
      }
    }
    OPDRIFT_TRY(const verdict::JudgedRun verdicts,
                judged(network_, stored, std::nullopt, options_.strongest));
    FaultRow row;
    row.network = entry_.name;
    row.group = entry_.group;
    row.format = target_.arithmetic().storage;
    row.kind = kind.name;
    row.subtle = kind.subtle;
    row.value = network_.problem().values[id].name;
    row.type = network_.node(planted.op).op_type;
    row.elements = floats_of(planted.harmed).size();
    row.above = above_noise(id, planted.harmed);
    score(id, affected, wide, verdicts, row);
    if (options_.observer != nullptr) {
      OPDRIFT_CHECK_OK(
          options_.observer->see({network_, std::string(kind.name) + " at " + row.value, row.format,
                                  std::nullopt, wide, verdicts}));
    }
    return row;
  }

  /// Values that the fault can have changed, the harmed one first.
  std::vector<ValueId> touched(std::size_t op, const std::vector<std::size_t>& after) const {
    std::vector<ValueId> ids;
    const auto add = [&](std::size_t which) {
      for (const ValueId id : network_.problem().operators[which].outputs) {
        if (id != verdict::kAbsent && network_.golden()[id]) {
          ids.push_back(id);
        }
      }
    };
    add(op);
    std::for_each(after.begin(), after.end(), add);
    return ids;
  }

  bool above_noise(ValueId id, const tensor::Tensor& harmed) const {
    const std::span<const float> golden = floats_of(*network_.golden()[id]);
    const std::span<const float> clean = floats_of(*clean_[id]);
    const std::span<const float> bad = floats_of(harmed);
    double noise2 = 0.0;
    double change2 = 0.0;
    double largest_noise = 0.0;
    double largest_change = 0.0;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const double noise = static_cast<double>(clean[i]) - static_cast<double>(golden[i]);
      const double change = static_cast<double>(bad[i]) - static_cast<double>(clean[i]);
      if (std::isnan(change)) {
        return true;
      }
      noise2 += noise * noise;
      change2 += change * change;
      largest_noise = std::max(largest_noise, std::abs(noise));
      largest_change = std::max(largest_change, std::abs(change));
    }
    return change2 >= noise2 || largest_change >= 4.0 * largest_noise;
  }

  /// `bad(id)`: blamed in this run; `before(id)`: blamed in the clean run.
  template <typename Bad, typename Before>
  Score score_of(ValueId id, const std::unordered_set<ValueId>& affected, const Bad& bad,
                 const Before& before, ValueId* first_blamed) const {
    Score result;
    bool first_seen = false;
    bool any_new = false;
    bool passed = false;
    for (const ValueId other : network_.computed()) {
      passed = passed || other == id;
      if (!bad(other)) {
        continue;
      }
      const bool is_new = affected.contains(other) && !before(other);
      any_new = any_new || is_new;
      result.others += is_new && other != id ? 1U : 0U;
      if (!first_seen) {
        first_seen = true;
        *first_blamed = other;
        result.first = other == id && !before(other) ? Score::First::right
                       : passed && !before(other)    ? Score::First::later
                                                     : Score::First::earlier;
      }
    }
    result.own = bad(id) && !before(id);
    if (!any_new) {
      result.first = Score::First::missed;
    }
    return result;
  }

  void score(ValueId id, const std::vector<ValueId>& touched_ids, const Values& wide,
             const verdict::JudgedRun& verdicts, FaultRow& row) const {
    const std::unordered_set<ValueId> affected(touched_ids.begin(), touched_ids.end());
    ValueId first = verdict::kAbsent;
    row.opdrift = score_of(
        id, affected, [&](ValueId v) { return is_culprit(verdicts.values[v]); },
        [&](ValueId v) { return is_culprit(verdicts_.values[v]); }, &first);
    row.first = first == verdict::kAbsent ? "" : network_.problem().values[first].name;
    if (verdicts.values[id]) {
      row.judgement = *verdicts.values[id];
      row.opdrift.watched = row.judgement.label == verdict::Label::watch || row.opdrift.own;
    }
    std::vector<RivalFlags> flags = flags_;
    for (const ValueId other : touched_ids) {
      flags[other] = rivals_on(network_, wide, other);
    }
    for (std::size_t i = 0; i < kRivals; ++i) {
      row.rivals[i] = score_of(
          id, affected, [&](ValueId v) { return flags[v][i]; },
          [&](ValueId v) { return flags_[v][i]; }, &first);
    }
  }

  const CatalogueEntry& entry_;
  const Network& network_;
  Target& target_;
  const EvaluationOptions& options_;
  Values clean_;
  Values stored_;
  verdict::JudgedRun verdicts_;
  std::vector<RivalFlags> flags_;
};

}  // namespace

bool CleanRow::found(verdict::FindingKind kind) const {
  return std::any_of(findings.begin(), findings.end(), [&](const verdict::Finding& finding) {
    return finding.kind == kind && !finding.assumed;
  });
}

Result<std::vector<CleanRow>> evaluate_clean(engine::Runtime& runtime, const CatalogueEntry& entry,
                                             const std::string& models,
                                             const EvaluationOptions& options) {
  OPDRIFT_TRY(const auto network, entry.open(runtime, models));
  OperatorRunner runner(runtime, *network);
  std::vector<CleanRow> rows;
  for (const Variant& variant : variants()) {
    if (!options.variant.empty() && variant.name != options.variant) {
      continue;
    }
    CleanRow row;
    row.network = entry.name;
    row.group = entry.group;
    row.variant = &variant;
    const Result<TargetRun> run = run_variant(runtime, runner, *network, variant);
    if (run) {
      OPDRIFT_TRY(const verdict::JudgedRun verdicts,
                  judged(*network, run->stored, variant.assume, options.strongest));
      fill(*network, *run, verdicts, row);
      if (options.observer != nullptr) {
        OPDRIFT_CHECK_OK(
            options.observer->see({*network, std::string(variant.name), variant.arithmetic.storage,
                                   variant.assume, run->wide, verdicts}));
      }
    } else {
      row.not_run = run.error().message;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<FaultRow>> evaluate_faults(engine::Runtime& runtime, const CatalogueEntry& entry,
                                              const std::string& models, Format format,
                                              const EvaluationOptions& options) {
  OPDRIFT_TRY(const auto network, entry.open(runtime, models));
  OperatorRunner runner(runtime, *network);
  Target target(runner, *network, {.storage = format});
  FaultTrial trial(entry, *network, target, options);
  OPDRIFT_CHECK_OK(trial.prepare());
  std::vector<FaultRow> rows;
  for (const FaultKind& kind : fault_kinds()) {
    OPDRIFT_CHECK_OK(trial.run_kind(kind, rows));
  }
  return rows;
}

}  // namespace opdrift::evaluation
