#include "opdrift/verdict/error_profile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "opdrift/verdict/explain/values.hpp"

namespace opdrift::verdict {

namespace {

using refit::kTile;
using refit::Values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kFields = 2048;  // exponent field of a double: 0 for zero and subnormals
constexpr int kFieldBias = 1023;
constexpr std::uint64_t kShard = std::uint64_t{1} << 22;

void take_larger(ErrorBin& bin, double error, double golden) {
  if (error > bin.largest) {
    bin.largest = error;
    bin.golden_largest = golden;
  }
}

void take_ratio(ErrorBin& bin, double error, double golden) {
  // Compared crosswise, without a division per element, where no product can leave a double.
  const bool ordinary = golden > 0x1p-500 && golden < 0x1p500;
  if (ordinary ? error * bin.ratio_golden > bin.ratio_error * golden
               : error / golden > bin.ratio()) {
    bin.ratio_error = error;
    bin.ratio_golden = golden;
  }
}

/// Bins of one part of the tensors, by exponent field.
class Profiler {
 public:
  Profiler() : bins_(kFields) {
    for (ErrorBin& bin : bins_) {
      bin.smallest_golden = kInfinity;
    }
  }

  void add(const double* golden, const double* target, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double error = std::abs(target[i] - golden[i]);
      if (!(error <= std::numeric_limits<double>::max())) {
        special(golden[i], target[i]);
        continue;
      }
      const double size = std::abs(golden[i]);
      ErrorBin& bin = bins_[std::bit_cast<std::uint64_t>(size) >> 52U];
      ++bin.count;
      take_larger(bin, error, size);
      take_ratio(bin, error, size);
      bin.smallest_golden = std::min(bin.smallest_golden, size);
    }
  }

  ErrorProfile result() const {
    ErrorProfile profile = counts_;
    for (std::size_t field = 0; field < kFields; ++field) {
      if (bins_[field].count > 0) {
        profile.bins.push_back(bins_[field]);
        profile.bins.back().exponent =
            field == 0 ? ErrorBin::kZero : static_cast<int>(field) - kFieldBias;
      }
    }
    return profile;
  }

 private:
  void special(double golden, double target) {
    if (std::isnan(golden) && std::isnan(target)) {
      ++counts_.both_nan;
    } else if (golden != target) {
      ++counts_.unequal_class;
    }
  }

  std::vector<ErrorBin> bins_;
  ErrorProfile counts_;
};

/// Largest |d| - rtol |g| that an element of the bin can have.
double most_beyond(const ErrorBin& bin, double rtol) {
  if (bin.exponent == ErrorBin::kZero && bin.smallest_golden == 0.0) {
    return bin.largest;
  }
  if (rtol >= bin.ratio()) {
    return (bin.ratio() - rtol) * bin.smallest_golden;
  }
  return bin.largest - rtol * std::max(bin.smallest_golden, bin.largest / bin.ratio());
}

/// Largest |d| - rtol |g| of the elements that were kept.
double kept_beyond(const ErrorBin& bin, double rtol) {
  return std::max(bin.largest - rtol * bin.golden_largest,
                  bin.ratio_error - rtol * bin.ratio_golden);
}

/// Smallest rtol for one element.
double rtol_of(double error, double golden, double atol) {
  if (error <= atol) {
    return 0.0;
  }
  return golden > 0.0 ? (error - atol) / golden : kInfinity;
}

/// Bounds on the smallest rtol for every element of the bin.
Bounds rtol_bounds(const ErrorBin& bin, double atol) {
  Bounds bounds;
  bounds.low = std::max(rtol_of(bin.largest, bin.golden_largest, atol),
                        rtol_of(bin.ratio_error, bin.ratio_golden, atol));
  if (bin.largest <= atol) {
    return bounds;
  }
  const double ratio = bin.ratio();
  // (min(D, R g) - atol) / g is largest where D = R g, if such a g can be.
  const double golden = std::max(bin.smallest_golden, ratio > 0.0 ? bin.largest / ratio : 0.0);
  bounds.high = std::max(bounds.low, rtol_of(bin.largest, golden, atol));
  return bounds;
}

bool hopeless(const ErrorProfile& profile, bool equal_nan) {
  return profile.unequal_class > 0 || (profile.both_nan > 0 && !equal_nan);
}

}  // namespace

Decision ErrorProfile::decide(double atol, double rtol, bool equal_nan) const {
  if (!(atol >= 0.0) || !(rtol >= 0.0) || hopeless(*this, equal_nan)) {
    return Decision::fail;
  }
  bool sure = true;
  for (const ErrorBin& bin : bins) {
    if (!(kept_beyond(bin, rtol) <= atol)) {
      return Decision::fail;
    }
    sure = sure && most_beyond(bin, rtol) <= atol;
  }
  return sure ? Decision::pass : Decision::undecided;
}

Bounds ErrorProfile::smallest_rtol(double atol, bool equal_nan) const {
  if (!(atol >= 0.0) || hopeless(*this, equal_nan)) {
    return {kInfinity, kInfinity};
  }
  Bounds bounds;
  for (const ErrorBin& bin : bins) {
    const Bounds one = rtol_bounds(bin, atol);
    bounds.low = std::max(bounds.low, one.low);
    bounds.high = std::max(bounds.high, std::max(one.low, one.high));
  }
  return bounds;
}

Bounds ErrorProfile::smallest_atol(double rtol, bool equal_nan) const {
  if (!(rtol >= 0.0) || hopeless(*this, equal_nan)) {
    return {kInfinity, kInfinity};
  }
  Bounds bounds;
  for (const ErrorBin& bin : bins) {
    const double low = std::max(0.0, kept_beyond(bin, rtol));
    bounds.low = std::max(bounds.low, low);
    bounds.high = std::max(bounds.high, std::max(low, most_beyond(bin, rtol)));
  }
  return bounds;
}

void ErrorProfile::merge(const ErrorProfile& other) {
  both_nan += other.both_nan;
  unequal_class += other.unequal_class;
  for (const ErrorBin& bin : other.bins) {
    const auto at =
        std::lower_bound(bins.begin(), bins.end(), bin.exponent,
                         [](const ErrorBin& one, int exponent) { return one.exponent < exponent; });
    if (at == bins.end() || at->exponent != bin.exponent) {
      bins.insert(at, bin);
      continue;
    }
    at->count += bin.count;
    take_larger(*at, bin.largest, bin.golden_largest);
    take_ratio(*at, bin.ratio_error, bin.ratio_golden);
    at->smallest_golden = std::min(at->smallest_golden, bin.smallest_golden);
  }
}

Result<ErrorProfile> profile_errors(const tensor::View& golden, const tensor::View& target,
                                    std::size_t jobs, const CancelFlag* cancel) {
  OPDRIFT_TRY(const Values golden_values, Values::of(golden));
  OPDRIFT_TRY(const Values target_values, Values::of(target));
  const std::uint64_t count = golden_values.count();
  if (count != target_values.count()) {
    return Error{ErrorCode::mismatch, "expected " + std::to_string(count) + " elements, found " +
                                          std::to_string(target_values.count())};
  }
  std::vector<ErrorProfile> parts(static_cast<std::size_t>((count + kShard - 1) / kShard));
  parallel_for(
      parts.size(), jobs,
      [&](std::size_t part) {
        Profiler profiler;
        std::array<double, kTile> g;
        std::array<double, kTile> t;
        const std::uint64_t end = std::min(count, (part + 1) * kShard);
        for (std::uint64_t at = part * kShard; at < end; at += kTile) {
          const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kTile, end - at));
          golden_values.read(at, size, g.data());
          target_values.read(at, size, t.data());
          profiler.add(g.data(), t.data(), size);
        }
        parts[part] = profiler.result();
      },
      cancel);
  if (cancel != nullptr && cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "the comparison was interrupted"};
  }
  ErrorProfile profile;
  for (const ErrorProfile& part : parts) {
    profile.merge(part);
  }
  return profile;
}

}  // namespace opdrift::verdict
