#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/verdict/explain/number_format.hpp"
#include "opdrift/verdict/explain/values.hpp"

// What is gathered about a wrong tensor before anything is supposed about it. With base b (what was
// expected, or the golden), target t and d = t - b over pairs in which both are finite:
//   profile   one pass: sums of b, t, b^2, t^2, b t, d^2 in all and per index of every axis, the
//             squared error of every chunk, what rounding alone would give (budget)
//   sample    elements drawn in proportion to d^2, and as many drawn evenly
//   bad map   a second pass over the chunks that differ: where |d| leaves the noise
//
// Memory: at most kMostEntries entries per axis and kMostChunks chunks, whatever the tensor.

namespace opdrift::verdict::refit {

inline constexpr std::size_t kMostEntries = 16384;
inline constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 17;
inline constexpr std::size_t kSampleHalf = 2048;

/// sigma(first, count, out): what rounding may do to each element, as a standard deviation.
using SigmaFunction = std::function<void(std::uint64_t, std::size_t, double*)>;

/// Sums over the finite pairs of one index of an axis, or of `width` neighbouring ones.
struct IndexSums {
  double n = 0.0;
  double b = 0.0;
  double t = 0.0;
  double bb = 0.0;
  double tt = 0.0;
  double bt = 0.0;
  double dd = 0.0;
  double budget2 = 0.0;  ///< sum of sigma^2

  void add(const IndexSums& other) {
    n += other.n;
    b += other.b;
    t += other.t;
    bb += other.bb;
    tt += other.tt;
    bt += other.bt;
    dd += other.dd;
    budget2 += other.budget2;
  }
};

struct AxisProfile {
  std::uint64_t extent = 0;
  std::uint64_t width = 1;  ///< indices per entry
  std::vector<IndexSums> entries;
};

struct Profile {
  IndexSums all;
  double budget2 = 0.0;                ///< sum of sigma^2
  std::uint64_t class_mismatches = 0;  ///< pairs of different class
  std::uint64_t nonfinite = 0;         ///< pairs with a NaN or Inf
  std::uint64_t different = 0;         ///< finite pairs with d != 0
  double min_b = 0.0;
  double max_b = 0.0;
  double min_t = 0.0;
  double max_t = 0.0;
  double min_all_t = 0.0;  ///< over every finite element of the target
  double max_all_t = 0.0;
  std::uint64_t at_min_t = 0;  ///< pairs at the extremes
  std::uint64_t at_max_t = 0;
  double bias = 0.0;  ///< mean of sign(t) d / ulp(t) where d != 0
  std::uint64_t target_nonfinite = 0;
  std::vector<AxisProfile> axes;
  std::uint64_t chunk = 0;  ///< elements per chunk
  std::vector<double> chunk_dd;
  std::vector<std::uint32_t> chunk_bad;  ///< elements of another class, or beyond k sigma
};

/// The first `focus` elements were drawn in proportion to d^2, the others evenly.
struct Sample {
  std::size_t focus = 0;
  std::vector<std::uint64_t> index;
  std::vector<double> b;
  std::vector<double> t;
  std::vector<double> sigma2;
};

struct BadRun {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive
  std::uint64_t count = 0;
};

struct BadMap {
  double noise = 0.0;        ///< relative noise that was taken as normal
  std::uint64_t count = 0;   ///< elements that leave the noise, or are of another class
  double error2 = 0.0;       ///< their squared error
  std::vector<BadRun> runs;  ///< in order; gaps of less than kRunGap elements are bridged
  bool too_many_runs = false;
  std::vector<std::vector<std::uint64_t>> axes;  ///< bad elements per entry of every axis

  std::uint64_t first() const { return runs.front().first; }
  std::uint64_t last() const { return runs.back().last; }
};

inline constexpr std::uint64_t kRunGap = 64;
inline constexpr std::size_t kMostRuns = 64;

/// Everything the hypotheses work on. Axes of extent 1 are left out of `shape`, which always has
/// at least one axis; `axis_names` names those that are left.
struct Evidence {
  Values base;
  Values target;
  tensor::Shape shape;
  std::vector<std::string> axis_names;
  NumberFormat format;  ///< of the coarser of both sides
  double sides = 1.0;   ///< sides that rounded for themselves: 1 or 2
  const SigmaFunction* sigma = nullptr;
  std::size_t jobs = 1;
  const CancelFlag* cancel = nullptr;
  Profile profile;
  Sample sample;
  BadMap bad;

  std::uint64_t count() const { return base.count(); }
  /// k of "beyond k sigma": 4, which rounding to nearest never reaches (a step is 3.5 sigma), or
  /// 4 + sqrt(2 ln N) when sigma was given and may be that of anything.
  double most_sigmas() const;
  /// The variance of rounding for `count` elements; `larger` is max(|b|, |t|) or alike.
  void variance(std::uint64_t first, std::size_t count, const double* larger, double* out) const;
};

/// Fills profile, sample and bad map. Fails with `cancelled`.
Status gather_evidence(Evidence& evidence);

/// Runs `body(shard, first, end)` over shards of [0, count) that depend on the count alone, and so
/// do the sums made of them. Fails with `cancelled`.
Status for_shards(const Evidence& evidence,
                  const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& body);
std::size_t shard_count(std::uint64_t count);

}  // namespace opdrift::verdict::refit
