#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/verdict/judgement.hpp"
#include "opdrift/verdict/problem.hpp"

/// The replay budget (docs/verdict.md): steps A to F per operator, E for labels, H for the run.
namespace opdrift::verdict {

/// What is known about the arithmetic of the target, declared by --assume or found by step H.
struct Assumptions {
  double operands = 0.0;           ///< u_p: operands of products narrowed to; 0: not
  bool half_accumulators = false;  ///< u_a is the unit roundoff of the storage type
  bool truncation = false;
  bool wider_inputs = false;  ///< test the wider-input hypothesis first

  friend bool operator==(const Assumptions&, const Assumptions&) = default;
};

/// Reads "tf32", "bf16-products", "half-accumulators", "truncation", "wider-inputs", "none",
/// separated by commas. Fails with invalid_argument naming the word.
Result<Assumptions> parse_assumptions(std::string_view text);

struct JudgeOptions {
  std::optional<Assumptions> assume;  ///< nothing: find out
  /// replay: all in full; norms: sums of products by their norms; shape: those without their
  /// weights; other values count as sampled.
  Tier strongest = Tier::sampled;
  std::uint64_t memory_budget = std::uint64_t{1} << 29;  ///< bytes of doubles held at a time
  /// Further runs of the golden; their spread is added to the budget.
  std::vector<const ValueSource*> more_goldens;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< operators done, in all
};

struct JudgedRun {
  /// By ValueId; nothing for values that one side lacks.
  std::vector<std::optional<Judgement>> values;
  RunVerdict run;  ///< first_divergence holds ValueIds
};

/// Judges every value that both sides have. Fails only when cancelled; what cannot be judged is
/// labelled so.
Result<JudgedRun> judge(const Problem& problem, const ValueSource& source,
                        const JudgeOptions& options);

}  // namespace opdrift::verdict
