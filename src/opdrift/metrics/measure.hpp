#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::metrics {

/// The largest scaled error (Measurement::max_scaled) near every run of kTileElements elements:
/// that of all blocks that touch the run. Empty for complex elements and where measuring failed.
using Peaks = std::vector<float>;

struct MeasureOptions {
  bool kl_divergence = false;  ///< costs a second pass
  bool ulp_histogram = true;
  std::uint64_t max_elements = 0;  ///< compare only the first N elements; 0: all
  /// Rounds both sides to float32 first, as the reference does: 64-bit values lose digits, and
  /// doubles beyond the range of float32 become infinite.
  bool round_to_float32 = false;
  std::string_view cpu_level;  ///< kernels/levels.hpp; "" for OPDRIFT_CPU or the best
  std::size_t jobs = 1;        ///< threads for one call; the result does not depend on it
  const CancelFlag* cancel = nullptr;
  /// Filled, unless nullptr, with the peaks of every target, in order.
  std::vector<Peaks>* peaks = nullptr;
};

/// Measures a target against a golden, element by element in logical order. Both views must have
/// the same element count (shapes may differ); fails with `mismatch` otherwise, `unsupported_dtype`
/// when a side cannot be decoded, `cancelled`. Complex elements count as two reals each, though
/// `Worst::index` is that of the element; complex against real fails with `mismatch`.
Result<Measurement> measure(const tensor::View& golden, const tensor::View& target,
                            const MeasureOptions& options = {});

/// Measures several targets against one golden. Tiles of the golden are brought into the cache and
/// decoded once for all targets whose tiles agree. One result per target, in order.
std::vector<Result<Measurement>> measure_group(const tensor::View& golden,
                                               std::span<const tensor::View> targets,
                                               const MeasureOptions& options = {});

/// What measure() checks before it starts: `mismatch` and `unsupported_dtype` as there.
Status check_pair(const tensor::View& golden, const tensor::View& target);

/// Statistics of one tensor (min, max, mean, classes ...), one pass.
Result<SideStats> measure_side(const tensor::View& view, const MeasureOptions& options = {});

}  // namespace opdrift::metrics
