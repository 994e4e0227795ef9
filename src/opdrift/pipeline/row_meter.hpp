#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/problem.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// The two tensors of a row.
struct RowSources {
  const IndexedTensor* golden = nullptr;
  const IndexedTensor* target = nullptr;
  verdict::RunSide golden_side = verdict::RunSide::golden;
  std::size_t pair = 0;  ///< position in the pairing
};

/// Measures the rows of a comparison, each once: when it is opened by whoever needs its tensors, so
/// that its bytes are read once for both, or else by measure_all().
class RowMeter {
 public:
  /// Refers to all of them; `rows` has one entry per source and is written to.
  RowMeter(const std::vector<RowSources>& sources, const Pairing& pairing,
           const CompareOptions& options, std::vector<verdict::TensorResult>& rows);

  /// Keeps what a sampling judge wants to know of every row.
  void keep_peaks() { keeps_peaks_ = true; }

  /// Rows that nobody opened. Large pairs one after another on all threads, then the small ones a
  /// thread each.
  void measure_all();

  /// The two sides of a row in one logical order, read into memory where they are not large. One
  /// thread at a time per row. Measures it the first time.
  Result<AlignedPair> open(std::size_t row);
  /// Types and shapes of the same, from the index where it knows them.
  Result<OutlinedPair> outline(std::size_t row) const;
  /// What is known of a row that has been opened or measured.
  verdict::MeasuredValue measured(std::size_t row) const;

  std::optional<ErrorCode> failure(std::size_t row) const { return failures_[row]; }
  std::uint64_t bytes_read() const { return bytes_.load(); }

 private:
  bool claim(std::size_t row) { return !claimed_[row].exchange(true); }
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }
  void measure_row(std::size_t row, std::size_t jobs);
  Result<AlignedPair> bring_in(std::size_t row) const;
  Status try_row(std::size_t row, std::size_t jobs);
  Status try_pair(std::size_t row, const AlignedPair& pair, std::size_t jobs);
  Status try_statistics(std::size_t row);
  void settle(std::size_t row, const Status& measured);

  const std::vector<RowSources>& sources_;
  const Pairing& pairing_;
  const CompareOptions& options_;
  std::vector<verdict::TensorResult>& rows_;
  bool keeps_peaks_ = false;
  std::vector<std::atomic<bool>> claimed_;
  std::vector<std::optional<ErrorCode>> failures_;
  std::vector<metrics::Peaks> peaks_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace opdrift::pipeline
