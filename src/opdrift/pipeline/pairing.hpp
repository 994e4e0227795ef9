#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/verdict/problem.hpp"

namespace opdrift::pipeline {

inline constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

/// Two tensors that belong together.
struct IndexPair {
  std::size_t golden = 0;  ///< position in the golden index; with `own_golden` in the target's
  std::size_t target = 0;
  std::string rule;               ///< why, for the report
  bool own_golden = false;        ///< the golden is another tensor of the target (inserted casts)
  std::uint64_t rows = kAllRows;  ///< only so many mean something, the others are left-overs
};

/// A tensor without a partner.
struct AloneTensor {
  verdict::RunSide side = verdict::RunSide::target;
  std::size_t position = 0;
  std::string reason;
  verdict::LedgerState state = verdict::LedgerState::unmatched;
};

struct Pairing;

/// Types and shapes of a pair, golden first, both in the golden's order.
using OutlinedPair = std::pair<verdict::ValueOutline, verdict::ValueOutline>;
/// Those of an opened pair.
OutlinedPair outline_of(const AlignedPair& pair);

/// Pairs as whoever judges their rows sees them. Functions take rows of the result.
struct MeasuredPairs {
  const DumpIndex& golden;
  const DumpIndex& target;
  const Pairing& pairing;
  const std::vector<std::optional<std::size_t>>& row_of_pair;  ///< rows of the result
  const CompareOptions& options;
  std::function<Result<AlignedPair>(std::size_t row)> open;      ///< RowMeter::open
  std::function<Result<OutlinedPair>(std::size_t row)> outline;  ///< RowMeter::outline
  std::function<verdict::MeasuredValue(std::size_t row)> measured;
  /// Measures what is left and completes the ledger. Before that, rows are measured when opened.
  std::function<void()> complete;
};

/// Judges the rows of a comparison, in place of the golden's model.
using JudgeRows = std::function<Status(const MeasuredPairs& measured, verdict::RunResult& result)>;

/// What belongs to what. A tensor may stand in several pairs; what stands in none should be alone.
struct Pairing {
  std::vector<IndexPair> pairs;
  std::vector<AloneTensor> alone;
  JudgeRows judge;  ///< for dumps that tell themselves what their operators should compute
};

/// Pairs by operator and tensor names (match/name_match.hpp).
Pairing pair_by_names(const DumpIndex& golden, const DumpIndex& target);

/// Compares the pairs. Both sides end in the ledger, every tensor in exactly one line: compared if
/// any of its pairs was, else equal, unreadable or skipped.
Result<verdict::RunResult> compare_pairs(DumpIndex golden, DumpIndex target, Pairing pairing,
                                         const CompareOptions& options);

}  // namespace opdrift::pipeline
