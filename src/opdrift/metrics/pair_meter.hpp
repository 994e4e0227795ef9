#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opdrift/metrics/block_source.hpp"
#include "opdrift/metrics/kernels/ulp_format.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/metrics/side_meter.hpp"

namespace opdrift::metrics {

/// Measures the pairs of one shard, a block at a time, and joins shards.
///
/// A block whose sums are finite goes through the kernels as it stands. Otherwise its pairs are
/// sorted first: counts for the classes, finite pairs moved together, finite values whose partner
/// is not finite kept for the statistics of their side alone.
class PairMeter final : public BlockSink {
 public:
  /// `table`: nullptr for plain double arithmetic.
  PairMeter(tensor::DType golden, tensor::DType target, const kernels::KernelTable* table,
            bool ulp_histogram, bool keeps_peaks = false);

  void take(const Block& block) override;
  /// Adds what a later shard measured.
  void merge(const PairMeter& later);
  const Measurement& result() const { return result_; }
  /// Peaks of `count` elements (measure.hpp).
  std::vector<float> peaks(std::uint64_t count) const;

 private:
  template <typename T>
  struct Pairs;
  struct Scratch;

  static Scratch& scratch();
  template <typename T>
  void take_pairs(const Pairs<T>& pairs);
  template <typename T>
  void sort_classes(const Pairs<T>& pairs);
  void split(const Pairs<float>& pairs, kernels::ClassSplit<float>& sorted) const;
  void split(const Pairs<double>& pairs, kernels::ClassSplit<double>& sorted) const;
  template <typename T>
  void add_alone(const T* values, std::size_t count, const SideLimits& limits,
                 SideStats& stats) const;
  SideTotals alone(const float* values, std::size_t count, const SideLimits& limits) const;
  SideTotals alone(const double* values, std::size_t count, const SideLimits& limits) const;
  void take_finite(const Pairs<float>& pairs);
  void take_finite(const Pairs<double>& pairs);
  bool take_vectors(const Pairs<float>& pairs);
  void take_doubles(const Pairs<float>& pairs);
  void count_ulp(const Pairs<float>& pairs, kernels::Upcoming& next, kernels::BlockTotals& totals);
  void count_ulp(const Pairs<double>& pairs, kernels::BlockTotals& totals);
  double tile_scale(const kernels::BlockTotals& totals, std::size_t count) const;
  template <typename T>
  void add(const Pairs<T>& pairs, const kernels::BlockTotals& totals, double scale);
  template <typename T>
  void note_peak(const Pairs<T>& pairs, double peak);
  void raise_peak(std::uint64_t tile, float peak);
  template <typename T>
  SideTotals side_of(const T* values, SideTotals side, const SideLimits& limits) const;
  template <typename T>
  void add_sides(const Pairs<T>& pairs, const kernels::BlockTotals& totals);
  void point_at_worst(const Pairs<float>& pairs, const kernels::BlockTotals& totals, double scale);
  void point_at_worst(const Pairs<double>& pairs, const kernels::BlockTotals& totals, double scale);
  template <typename T>
  void look_at(const Pairs<T>& pairs, std::size_t i, double scale);
  double centred(const float* values, std::size_t count, double mean) const;
  double centred(const double* values, std::size_t count, double mean) const;

  Measurement result_;
  const kernels::KernelTable* table_;
  SideLimits golden_limits_;
  SideLimits target_limits_;
  std::vector<kernels::UlpFormat> ulp_format_;  // one, or none when nothing is counted
  struct Peak {
    std::uint64_t tile = 0;
    float value = 0.0F;
  };
  bool keeps_peaks_;
  std::vector<Peak> peaks_;
};

}  // namespace opdrift::metrics
