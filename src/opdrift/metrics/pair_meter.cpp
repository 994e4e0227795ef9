#include "opdrift/metrics/pair_meter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "opdrift/metrics/kernels/scalar.hpp"

namespace opdrift::metrics {

namespace {

using kernels::BlockTotals;
using kernels::kBlock;
using kernels::kGrain;
using tensor::DType;

// Float kernels find the largest errors within 2^-24 and 2^-22. A larger one is looked for only
// when it may exceed the known one by more, so that ties do not cost a second look per block, and
// only among the pairs whose floats come close to the largest.
constexpr double kAbsSlack = 0x1p-24;
constexpr double kScaledSlack = 0x1p-20;

template <typename T>
std::uint64_t count_saturated(const T* values, std::size_t count, double min, double max,
                              const SideLimits& limits) {
  if (limits.max_finite == 0.0 || (max < limits.max_finite && min > -limits.max_finite)) {
    return 0;
  }
  const auto top = static_cast<T>(limits.max_finite);
  return static_cast<std::uint64_t>(
      std::count_if(values, values + count, [&](T v) { return std::abs(v) == top; }));
}

SideTotals golden_totals(const BlockTotals& totals, std::size_t count) {
  return {count, totals.golden_min,  totals.golden_max,  totals.sum_golden, totals.sum_golden2,
          0.0,   totals.golden_zero, totals.golden_small};
}

SideTotals target_totals(const BlockTotals& totals, std::size_t count) {
  return {count, totals.target_min,  totals.target_max,  totals.sum_target, totals.sum_target2,
          0.0,   totals.target_zero, totals.target_small};
}

std::uint64_t sum_of(const std::array<std::uint64_t, 4>& counts) {
  return counts[0] + counts[1] + counts[2] + counts[3];
}

/// What the pairs of all classes say about either side and their likeness.
void count_classes(const NonFinitePairs& pairs, Measurement& m) {
  for (std::size_t g = 0; g < pairs.counts.size(); ++g) {
    for (std::size_t t = 0; t < pairs.counts[g].size(); ++t) {
      m.nonfinite.counts[g][t] += pairs.counts[g][t];
    }
  }
  const auto golden = [&](GoldenClass kind) {
    return sum_of(pairs.counts[static_cast<std::size_t>(kind)]);
  };
  const auto target = [&](TargetClass kind) {
    std::uint64_t sum = 0;
    for (const auto& row : pairs.counts) {
      sum += row[static_cast<std::size_t>(kind)];
    }
    return sum;
  };
  m.golden.classes.nan += golden(GoldenClass::nan);
  m.golden.classes.positive_inf += golden(GoldenClass::positive_inf);
  m.golden.classes.negative_inf += golden(GoldenClass::negative_inf);
  m.target.classes.nan += target(TargetClass::nan);
  m.target.classes.positive_inf += target(TargetClass::positive_inf);
  m.target.classes.negative_inf += target(TargetClass::negative_inf);
  m.class_mismatches +=
      pairs.total() - pairs.at(GoldenClass::nan, TargetClass::nan) - pairs.with_same_infinity();
}

void keep_larger(Worst& worst, const Worst& later) {
  if (later.index != kNoIndex && (worst.index == kNoIndex || later.value > worst.value)) {
    worst = later;
  }
}

}  // namespace

/// Pairs as the kernels take them. `positions` maps them into the block when some were left out.
template <typename T>
struct PairMeter::Pairs {
  std::size_t count = 0;
  const T* golden = nullptr;
  const T* target = nullptr;
  const std::uint16_t* golden16 = nullptr;
  const std::uint16_t* target16 = nullptr;
  const IndexMap* where = nullptr;
  std::size_t offset = 0;  // of the first pair within the block or `positions`
  const std::uint16_t* positions = nullptr;
  const BlockSide* golden_side = nullptr;  // for the bytes that come next
  const BlockSide* target_side = nullptr;

  std::uint64_t index_of(std::size_t i) const {
    return where->index_of(positions == nullptr ? offset + i : positions[offset + i]);
  }

  Pairs part(std::size_t first, std::size_t size) const {
    Pairs result = *this;
    result.count = size;
    result.golden += first;
    result.target += first;
    result.golden16 = golden16 == nullptr ? nullptr : golden16 + first;
    result.target16 = target16 == nullptr ? nullptr : target16 + first;
    result.offset += first;
    return result;
  }
};

struct PairMeter::Scratch {
  alignas(64) std::array<float, kBlock> golden_f32;
  alignas(64) std::array<float, kBlock> target_f32;
  alignas(64) std::array<double, kBlock> golden_f64;
  alignas(64) std::array<double, kBlock> target_f64;
  alignas(64) std::array<double, kBlock> golden_sorted;
  alignas(64) std::array<double, kBlock> target_sorted;
  alignas(64) std::array<float, kBlock> golden_alone_f32;
  alignas(64) std::array<float, kBlock> target_alone_f32;
  alignas(64) std::array<double, kBlock> golden_alone;
  alignas(64) std::array<double, kBlock> target_alone;
  alignas(64) std::array<float, kBlock> golden_rounded;
  alignas(64) std::array<float, kBlock> target_rounded;
  alignas(64) std::array<std::uint16_t, kBlock> distances;
  std::array<std::uint16_t, kBlock> positions;
  std::array<std::uint16_t, kBlock> large;

  kernels::ClassSplit<float> sorted(float) {
    return {golden_f32.data(), target_f32.data(), positions.data(), golden_alone_f32.data(),
            target_alone_f32.data()};
  }
  kernels::ClassSplit<double> sorted(double) {
    return {golden_sorted.data(), target_sorted.data(), positions.data(), golden_alone.data(),
            target_alone.data()};
  }
};

PairMeter::Scratch& PairMeter::scratch() {
  // Per thread: small tensors would spend more on getting this memory than on being measured.
  static thread_local const std::unique_ptr<Scratch> kScratch(new Scratch);
  return *kScratch;
}

PairMeter::PairMeter(DType golden, DType target, const kernels::KernelTable* table,
                     bool ulp_histogram, bool keeps_peaks)
    : table_(table),
      golden_limits_(side_limits(golden)),
      target_limits_(side_limits(target)),
      keeps_peaks_(keeps_peaks) {
  result_.golden.dtype = golden;
  result_.target.dtype = target;
  result_.ulp_dtype = kernels::ulp_dtype(golden, target);
  if (ulp_histogram && result_.ulp_dtype != DType::raw) {
    ulp_format_.emplace_back(result_.ulp_dtype);
  }
}

void PairMeter::take(const Block& block) {
  const std::uint64_t equal_before = result_.equal_bits;
  result_.count += block.count;
  if (block.golden.f32 != nullptr) {
    take_pairs(Pairs<float>{block.count, block.golden.f32, block.target.f32, block.golden.bits16,
                            block.target.bits16, &block.where, 0, nullptr, &block.golden,
                            &block.target});
  } else {
    take_pairs(Pairs<double>{block.count, block.golden.f64, block.target.f64, nullptr, nullptr,
                             &block.where, 0, nullptr, &block.golden, &block.target});
  }
  if (block.equal_bits) {
    result_.equal_bits = equal_before + *block.equal_bits;
  }
}

template <typename T>
void PairMeter::take_pairs(const Pairs<T>& pairs) {
  const std::size_t whole = pairs.count / kGrain * kGrain;
  for (const Pairs<T>& part : {pairs.part(0, whole), pairs.part(whole, pairs.count - whole)}) {
    if (part.count > 0) {
      take_finite(part);
    }
  }
}

void PairMeter::split(const Pairs<float>& pairs, kernels::ClassSplit<float>& sorted) const {
  const bool vectors = table_ != nullptr && pairs.count % kGrain == 0;
  if (vectors) {
    table_->split_classes(pairs.golden, pairs.target, pairs.count, sorted);
  } else {
    kernels::scalar_split_classes(pairs.golden, pairs.target, pairs.count, sorted);
  }
}

void PairMeter::split(const Pairs<double>& pairs, kernels::ClassSplit<double>& sorted) const {
  kernels::scalar_split_classes(pairs.golden, pairs.target, pairs.count, sorted);
}

template <typename T>
void PairMeter::sort_classes(const Pairs<T>& pairs) {
  kernels::ClassSplit<T> sorted = scratch().sorted(T{});
  sorted.first = pairs.offset;
  split(pairs, sorted);
  count_classes(sorted.nonfinite, result_);
  result_.equal_bits += sorted.equal_bits;
  add_alone(sorted.golden_alone, sorted.golden_alone_count, golden_limits_, result_.golden);
  add_alone(sorted.target_alone, sorted.target_alone_count, target_limits_, result_.target);
  Pairs<T> finite = pairs;
  finite.golden = sorted.golden;
  finite.target = sorted.target;
  finite.golden16 = finite.target16 = nullptr;
  finite.positions = sorted.positions;
  finite.count = sorted.finite;
  finite.offset = 0;
  take_pairs(finite);
}

SideTotals PairMeter::alone(const float* values, std::size_t count,
                            const SideLimits& limits) const {
  BlockTotals totals;
  kernels::Upcoming nothing;
  table_->sums(values, values, count, nothing, totals);
  table_->shape(values, values, count, {limits.min_normal, 0.0, 1.0}, nothing, totals);
  return side_of(values, golden_totals(totals, count), limits);
}

SideTotals PairMeter::alone(const double* values, std::size_t count,
                            const SideLimits& limits) const {
  const bool vectors = table_ != nullptr && count % kGrain == 0;
  BlockTotals totals;
  (vectors ? table_->sums64 : &kernels::scalar_sums)(values, values, count, totals);
  (vectors ? table_->shape64 : &kernels::scalar_shape)(values, values, count,
                                                       {limits.min_normal, 0.0, 1.0}, totals);
  return side_of(values, golden_totals(totals, count), limits);
}

template <typename T>
void PairMeter::add_alone(const T* values, std::size_t count, const SideLimits& limits,
                          SideStats& stats) const {
  const std::size_t whole = table_ == nullptr ? 0 : count / kGrain * kGrain;
  if (whole > 0) {
    add_totals(stats, alone(values, whole, limits));
  }
  std::array<double, kGrain> few{};
  for (std::size_t first = whole; first < count; first += kGrain) {
    const std::size_t size = std::min(kGrain, count - first);
    std::copy_n(values + first, size, few.begin());
    add_totals(stats, alone(few.data(), size, limits));
  }
}

void PairMeter::take_finite(const Pairs<float>& pairs) {
  if (pairs.count % kGrain != 0 || !take_vectors(pairs)) {
    take_doubles(pairs);
  }
}

bool PairMeter::take_vectors(const Pairs<float>& pairs) {
  BlockTotals totals;
  const BlockSide& golden = *pairs.golden_side;
  const BlockSide& target = *pairs.target_side;
  kernels::Upcoming next(golden.next, golden.next_bytes, target.next, target.next_bytes);
  table_->sums(pairs.golden, pairs.target, pairs.count, next, totals);
  if (!std::isfinite(totals.sum_golden2) || !std::isfinite(totals.sum_target2)) {
    sort_classes(pairs);
    return true;
  }
  kernels::ShapeLimits limits;
  limits.golden_min_normal = golden_limits_.min_normal;
  limits.target_min_normal = target_limits_.min_normal;
  limits.scale = tile_scale(totals, pairs.count);
  if (!table_->shape(pairs.golden, pairs.target, pairs.count, limits, next, totals)) {
    return false;
  }
  if (!ulp_format_.empty()) {
    count_ulp(pairs, next, totals);
  }
  add(pairs, totals, limits.scale);
  return true;
}

void PairMeter::take_doubles(const Pairs<float>& pairs) {
  std::copy_n(pairs.golden, pairs.count, scratch().golden_f64.data());
  std::copy_n(pairs.target, pairs.count, scratch().target_f64.data());
  Pairs<double> wide;
  wide.count = pairs.count;
  wide.golden = scratch().golden_f64.data();
  wide.target = scratch().target_f64.data();
  wide.where = pairs.where;
  wide.offset = pairs.offset;
  wide.positions = pairs.positions;
  wide.golden_side = pairs.golden_side;
  wide.target_side = pairs.target_side;
  take_finite(wide);
}

void PairMeter::take_finite(const Pairs<double>& pairs) {
  const bool vectors = table_ != nullptr && pairs.count % kGrain == 0;
  const auto finite = [&](const double* values) {
    return vectors ? table_->all_finite64(values, pairs.count)
                   : std::all_of(values, values + pairs.count,
                                 [](double v) { return std::isfinite(v); });
  };
  if (!finite(pairs.golden) || !finite(pairs.target)) {
    sort_classes(pairs);
    return;
  }
  BlockTotals totals;
  const auto sums = vectors ? table_->sums64 : &kernels::scalar_sums;
  sums(pairs.golden, pairs.target, pairs.count, totals);
  kernels::ShapeLimits limits;
  limits.golden_min_normal = golden_limits_.min_normal;
  limits.target_min_normal = target_limits_.min_normal;
  limits.scale = tile_scale(totals, pairs.count);
  const auto shape = vectors ? table_->shape64 : &kernels::scalar_shape;
  shape(pairs.golden, pairs.target, pairs.count, limits, totals);
  if (!ulp_format_.empty()) {
    count_ulp(pairs, totals);
  }
  add(pairs, totals, limits.scale);
}

void PairMeter::count_ulp(const Pairs<double>& pairs, BlockTotals& totals) {
  if (result_.ulp_dtype != DType::f32 || table_ == nullptr || pairs.count % kGrain != 0) {
    kernels::scalar_ulp(pairs.golden, pairs.target, pairs.count, ulp_format_.front(), totals);
    return;
  }
  const auto round = [&](const double* values, float* out) {
    std::transform(values, values + pairs.count, out,
                   [](double value) { return static_cast<float>(value); });
  };
  round(pairs.golden, scratch().golden_rounded.data());
  round(pairs.target, scratch().target_rounded.data());
  kernels::Upcoming nothing;
  table_->ulp32(scratch().golden_rounded.data(), scratch().target_rounded.data(), pairs.count,
                scratch().distances.data(), nothing, totals);
}

void PairMeter::count_ulp(const Pairs<float>& pairs, kernels::Upcoming& next, BlockTotals& totals) {
  const DType dtype = result_.ulp_dtype;
  if (dtype == DType::f32) {
    table_->ulp32(pairs.golden, pairs.target, pairs.count, scratch().distances.data(), next,
                  totals);
    return;
  }
  if (dtype != DType::f16 && dtype != DType::bf16) {
    std::copy_n(pairs.golden, pairs.count, scratch().golden_f64.data());
    std::copy_n(pairs.target, pairs.count, scratch().target_f64.data());
    kernels::scalar_ulp(scratch().golden_f64.data(), scratch().target_f64.data(), pairs.count,
                        ulp_format_.front(), totals);
    return;
  }
  const kernels::PatternSide golden = {result_.golden.dtype == dtype ? pairs.golden16 : nullptr,
                                       pairs.golden};
  const kernels::PatternSide target = {result_.target.dtype == dtype ? pairs.target16 : nullptr,
                                       pairs.target};
  const auto ulp = dtype == DType::f16 ? table_->ulp_f16 : table_->ulp_bf16;
  ulp(golden, target, pairs.count, scratch().distances.data(), next, totals);
}

double PairMeter::tile_scale(const BlockTotals& totals, std::size_t count) const {
  if (totals.sum_golden2 > 0.0) {
    return std::sqrt(totals.sum_golden2 / static_cast<double>(count));
  }
  return result_.finite_pairs == 0
             ? 0.0
             : std::sqrt(result_.sum_golden2 / static_cast<double>(result_.finite_pairs));
}

template <typename T>
void PairMeter::add(const Pairs<T>& pairs, const BlockTotals& totals, double scale) {
  point_at_worst(pairs, totals, scale);
  if (keeps_peaks_) {
    note_peak(pairs, totals.max_scaled);
  }
  add_sides(pairs, totals);
  Measurement& m = result_;
  m.finite_pairs += pairs.count;
  m.equal_bits += totals.equal_bits;
  m.sum_d += totals.sum_d;
  m.sum_abs_d += totals.sum_abs_d;
  m.sum_d2 += totals.sum_d2;
  m.sum_golden2 += totals.sum_golden2;
  m.sum_target2 += totals.sum_target2;
  m.sum_product += totals.sum_product;
  m.sum_golden += totals.sum_golden;
  m.sum_target += totals.sum_target;
  m.relative_pairs += pairs.count - totals.golden_zero;
  m.sum_relative += totals.sum_relative;
  m.max_relative = std::max(m.max_relative, totals.max_relative);
  m.within_1e3 += pairs.count - totals.over_1e3;
  m.within_5e3 += pairs.count - totals.over_5e3;
  m.sum_relative_above_epsilon += totals.sum_relative_above_epsilon;
  m.max_relative_above_epsilon =
      std::max(m.max_relative_above_epsilon, totals.max_relative_above_epsilon);
  m.max_ulp = std::max(m.max_ulp, totals.max_ulp);
  for (std::size_t k = 0; k < totals.ulp.size(); ++k) {
    m.ulp_histogram[k] += totals.ulp[k];
  }
}

void PairMeter::raise_peak(std::uint64_t tile, float peak) {
  if (!peaks_.empty() && peaks_.back().tile == tile) {
    peaks_.back().value = std::max(peaks_.back().value, peak);
  } else {
    peaks_.push_back({tile, peak});
  }
}

template <typename T>
void PairMeter::note_peak(const Pairs<T>& pairs, double peak) {
  const std::span<const IndexMap::Run> runs = pairs.where->runs;
  const auto value = static_cast<float>(peak);
  if (runs.size() == 1) {
    const std::uint64_t last = pairs.index_of(pairs.count - 1) / kTileElements;
    for (std::uint64_t tile = pairs.index_of(0) / kTileElements; tile <= last; ++tile) {
      raise_peak(tile, value);
    }
    return;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::size_t end = r + 1 < runs.size() ? runs[r + 1].position : kBlock;
    const std::uint64_t last = (runs[r].first + (end - runs[r].position) - 1) / kTileElements;
    for (std::uint64_t tile = runs[r].first / kTileElements; tile <= last; ++tile) {
      raise_peak(tile, value);
    }
  }
}

std::vector<float> PairMeter::peaks(std::uint64_t count) const {
  std::vector<float> all((count + kTileElements - 1) / kTileElements, 0.0F);
  for (const Peak& peak : peaks_) {
    if (peak.tile < all.size()) {
      all[peak.tile] = std::max(all[peak.tile], peak.value);
    }
  }
  return all;
}

double PairMeter::centred(const float* values, std::size_t count, double mean) const {
  return count % kGrain == 0 ? table_->centred_squares(values, count, mean) : kNan;
}

double PairMeter::centred(const double* values, std::size_t count, double mean) const {
  const bool vectors = table_ != nullptr && count % kGrain == 0;
  return vectors ? table_->centred_squares64(values, count, mean)
                 : kernels::scalar_centred_squares(values, count, mean);
}

/// Completes the statistics of a side with what asks for its values again.
template <typename T>
SideTotals PairMeter::side_of(const T* values, SideTotals side, const SideLimits& limits) const {
  if (side.min != side.max) {
    const double mean = side.sum / static_cast<double>(side.count);
    side.sum_centred_squares = close_together(side.min, side.max)
                                   ? centred(values, side.count, mean)
                                   : std::max(0.0, side.sum_squares - side.sum * mean);
  }
  side.saturated = count_saturated(values, side.count, side.min, side.max, limits);
  return side;
}

template <typename T>
void PairMeter::add_sides(const Pairs<T>& pairs, const BlockTotals& totals) {
  add_totals(result_.golden,
             side_of(pairs.golden, golden_totals(totals, pairs.count), golden_limits_));
  add_totals(result_.target,
             side_of(pairs.target, target_totals(totals, pairs.count), target_limits_));
}

template <typename T>
void PairMeter::look_at(const Pairs<T>& pairs, std::size_t i, double scale) {
  const auto golden = static_cast<double>(pairs.golden[i]);
  const auto target = static_cast<double>(pairs.target[i]);
  const auto keep = [&](Worst& worst, double value) {
    if (worst.index == kNoIndex || value > worst.value) {
      worst = {value, pairs.index_of(i), golden, target};
    }
  };
  keep(result_.max_abs, std::abs(target - golden));
  keep(result_.max_scaled, kernels::scaled_error(golden, target, scale));
}

void PairMeter::point_at_worst(const Pairs<float>& pairs, const BlockTotals& totals, double scale) {
  const auto limit = [](const Worst& known, double found, double slack) {
    const bool look = known.index == kNoIndex || found > known.value * (1.0 + slack);
    return look ? static_cast<float>(found * (1.0 - 4.0 * slack))
                : std::numeric_limits<float>::infinity();
  };
  kernels::LargeLimits limits;
  limits.abs_d = limit(result_.max_abs, totals.max_abs_d, kAbsSlack);
  limits.scaled = limit(result_.max_scaled, totals.max_scaled, kScaledSlack);
  limits.scale = static_cast<float>(scale);
  if (std::isinf(limits.abs_d) && std::isinf(limits.scaled)) {
    return;
  }
  const std::size_t found =
      table_->find_large(pairs.golden, pairs.target, pairs.count, limits, scratch().large.data());
  for (std::size_t k = 0; k < found; ++k) {
    look_at(pairs, scratch().large[k], scale);
  }
}

void PairMeter::point_at_worst(const Pairs<double>& pairs, const BlockTotals& totals,
                               double scale) {
  const auto larger = [](const Worst& known, double found) {
    return known.index == kNoIndex || found > known.value;
  };
  if (larger(result_.max_abs, totals.max_abs_d) || larger(result_.max_scaled, totals.max_scaled)) {
    for (std::size_t i = 0; i < pairs.count; ++i) {
      look_at(pairs, i, scale);
    }
  }
}

void PairMeter::merge(const PairMeter& later) {
  Measurement& m = result_;
  const Measurement& o = later.result_;
  m.count += o.count;
  add_stats(m.golden, o.golden);
  add_stats(m.target, o.target);
  m.finite_pairs += o.finite_pairs;
  m.class_mismatches += o.class_mismatches;
  m.equal_bits += o.equal_bits;
  m.sum_d += o.sum_d;
  m.sum_abs_d += o.sum_abs_d;
  m.sum_d2 += o.sum_d2;
  m.sum_golden2 += o.sum_golden2;
  m.sum_target2 += o.sum_target2;
  m.sum_product += o.sum_product;
  m.sum_golden += o.sum_golden;
  m.sum_target += o.sum_target;
  m.relative_pairs += o.relative_pairs;
  m.sum_relative += o.sum_relative;
  m.max_relative = std::max(m.max_relative, o.max_relative);
  m.within_1e3 += o.within_1e3;
  m.within_5e3 += o.within_5e3;
  m.sum_relative_above_epsilon += o.sum_relative_above_epsilon;
  m.max_relative_above_epsilon =
      std::max(m.max_relative_above_epsilon, o.max_relative_above_epsilon);
  for (std::size_t g = 0; g < m.nonfinite.counts.size(); ++g) {
    for (std::size_t t = 0; t < m.nonfinite.counts[g].size(); ++t) {
      m.nonfinite.counts[g][t] += o.nonfinite.counts[g][t];
    }
  }
  keep_larger(m.max_abs, o.max_abs);
  keep_larger(m.max_scaled, o.max_scaled);
  for (std::size_t k = 0; k < m.ulp_histogram.size(); ++k) {
    m.ulp_histogram[k] += o.ulp_histogram[k];
  }
  m.max_ulp = std::max(m.max_ulp, o.max_ulp);
  peaks_.insert(peaks_.end(), later.peaks_.begin(), later.peaks_.end());
}

}  // namespace opdrift::metrics
