#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/metric_columns.hpp"
#include "opdrift/verdict/gates.hpp"
#include "opdrift/verdict/judge.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Called from worker threads: tensors done, tensors in all, bytes read so far.
using ProgressFunction = std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>;

/// What decides whether a tensor passes.
enum class DecidedBy : std::uint8_t {
  best,     ///< the replay budget where there is a model, else the limits
  verdict,  ///< the replay budget; a comparison without a model is refused
  gates,    ///< the limits
};

struct CompareOptions {
  verdict::Gates gates;
  DecidedBy decided_by = DecidedBy::best;
  double limit = 4.0;                          ///< of the replay budget: a culprit is beyond it
  std::optional<verdict::Assumptions> assume;  ///< of the target; nothing: found out
  std::vector<std::string> more_goldens;       ///< further runs of the golden
  std::string baseline;  ///< a run that computes fairly in the target's precision
  bool explain = true;   ///< look for explanations of tensors that are wrong
  /// Graph json files of the target, and at most one ONNX model of the golden (told by content).
  /// Without graph json the sides pair by names; without a model the one that the golden's manifest
  /// names is taken.
  std::vector<std::string> graphs;
  /// ONNX model with the weights that the target used; "": the golden's.
  std::string target_weights;
  std::string only;               ///< regular expression on operator names; "" for all
  std::uint64_t first_order = 0;  ///< compare from this position in execution order on
  std::uint64_t last_order = ~std::uint64_t{0};
  MetricColumns metrics;  ///< beside or in place of the usual ones
  bool profile = false;   ///< keep error profiles, so that allclose can be decided later
  bool kl_divergence = false;
  std::uint64_t max_elements = 0;  ///< per tensor; 0 for all
  std::size_t jobs = 0;            ///< 0: one per processor
  const CancelFlag* cancel = nullptr;
  ProgressFunction progress;
};

/// Compares two dumps of any kind, by names or through graph json, and judges the result by the
/// replay budget where a model is at hand. Whatever happens to single tensors, both sides end in
/// the ledger of the result; after an interruption the result holds what was done. Fails only when
/// a side cannot be read at all or an option makes no sense.
Result<verdict::RunResult> compare_dumps(const std::string& target, const std::string& golden,
                                         const CompareOptions& options);

}  // namespace opdrift::pipeline
