#include "opdrift/metrics/algorithms/torch_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "opdrift/metrics/algorithms/float_sum.hpp"
#include "opdrift/metrics/algorithms/torch_pair_kernels.hpp"
#include "opdrift/metrics/block_source.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::metrics {

namespace {

using kernels::RelativeIn;
using tensor::DType;
using tensor::View;

/// Running sums of exponentials whose tops may still rise.
class SoftmaxSums {
 public:
  void add(const float* golden, const float* target, std::size_t count, double golden_max,
           double target_max) {
    raise(golden_max, target_max);
    kernels::SoftmaxBlock block;
    kernels::softmax_block(golden, target, count, static_cast<float>(top_golden_),
                           static_cast<float>(top_target_), block);
    golden_ += block.golden;
    target_ += block.target;
    cross_ += block.cross;
  }

  void merge(const SoftmaxSums& later) {
    SoftmaxSums other = later;
    const double top_golden = std::max(top_golden_, other.top_golden_);
    const double top_target = std::max(top_target_, other.top_target_);
    raise(top_golden, top_target);
    other.raise(top_golden, top_target);
    golden_ += other.golden_;
    target_ += other.target_;
    cross_ += other.cross_;
  }

  double divergence() const {
    if (!(golden_ > 0.0) || !(target_ > 0.0)) {
      return 0.0;
    }
    const double value = cross_ / golden_ + std::log(target_) - std::log(golden_);
    return value < 0.0 ? 0.0 : value;
  }

 private:
  /// Every exponential shrinks by the rise of its top, and the differences shift with both.
  void raise(double golden_max, double target_max) {
    const double golden_top = std::max(top_golden_, golden_max);
    const double target_top = std::max(top_target_, target_max);
    if (golden_ > 0.0) {
      const double golden_shift = top_golden_ - golden_top;
      const double target_shift = top_target_ - target_top;
      const double factor = std::exp(golden_shift);
      cross_ = factor * (cross_ + (golden_shift - target_shift) * golden_);
      golden_ *= factor;
      target_ *= std::exp(target_shift);
    }
    top_golden_ = golden_top;
    top_target_ = target_top;
  }

  double top_golden_ = -std::numeric_limits<double>::infinity();
  double top_target_ = -std::numeric_limits<double>::infinity();
  double golden_ = 0.0;
  double target_ = 0.0;
  double cross_ = 0.0;
};

/// Takes the blocks of one shard.
class TorchMeter final : public BlockSink {
 public:
  TorchMeter(bool float32, RelativeIn relative) : float32_(float32), relative_(relative) {}

  void take(const Block& block) override {
    if (block.golden.f32 != nullptr) {
      take_values(block.golden.f32, block.target.f32, block.count);
    } else {
      take_values(block.golden.f64, block.target.f64, block.count);
    }
  }

  void take_values(const float* golden, const float* target, std::size_t count) {
    kernels::TorchBlock sums;
    if (relative_ == RelativeIn::float32 &&
        kernels::torch_block(golden, target, count, float32_, sums)) {
      add(sums, count);
      if (float32_) {
        softmax_.add(golden, target, count, sums.golden_max, sums.target_max);
      }
      return;
    }
    take_one_by_one(golden, target, count);
  }

  void take_values(const double* golden, const double* target, std::size_t count) {
    take_one_by_one(golden, target, count);
  }

  void merge(const TorchMeter& later) {
    const TorchPairSums& part = later.sums_;
    sums_.golden_nonfinite += part.golden_nonfinite;
    sums_.target_nonfinite += part.target_nonfinite;
    sums_.nan_places_differ = sums_.nan_places_differ || part.nan_places_differ;
    sums_.inf_places_differ = sums_.inf_places_differ || part.inf_places_differ;
    sums_.inf_signs_differ = sums_.inf_signs_differ || part.inf_signs_differ;
    kernels::TorchBlock block;
    block.product = part.product;
    block.golden2 = part.golden2;
    block.target2 = part.target2;
    block.distance2 = part.distance2;
    block.max_abs = part.max_abs;
    block.max_relative = part.max_relative;
    block.within_1e3 = part.within_1e3;
    block.within_5e3 = part.within_5e3;
    block.max_ratio = part.max_ratio;
    block.sum_ratio = part.sum_ratio;
    block.max_difference = part.max_difference;
    block.sum_difference = part.sum_difference;
    block.golden_max = part.golden_max;
    block.golden_min = part.golden_min;
    block.golden_sum = part.golden_sum;
    block.target_max = part.target_max;
    block.target_min = part.target_min;
    block.target_sum = part.target_sum;
    if (part.count > 0) {
      add(block, part.count);
      softmax_.merge(later.softmax_);
    }
  }

  TorchPairSums result() const {
    TorchPairSums sums = sums_;
    sums.divergence = softmax_.divergence();
    return sums;
  }

 private:
  /// Maxima as arithmetic with NaN would give them: once NaN, always NaN.
  static double larger(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b);
  }
  static double smaller(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b);
  }

  void add(const kernels::TorchBlock& block, std::uint64_t count) {
    const bool first = sums_.count == 0;
    sums_.count += count;
    sums_.product += block.product;
    sums_.golden2 += block.golden2;
    sums_.target2 += block.target2;
    sums_.distance2 += block.distance2;
    sums_.max_abs = std::max(sums_.max_abs, block.max_abs);
    sums_.max_relative = std::max(sums_.max_relative, block.max_relative);
    sums_.within_1e3 += block.within_1e3;
    sums_.within_5e3 += block.within_5e3;
    sums_.max_ratio = std::max(sums_.max_ratio, block.max_ratio);
    sums_.sum_ratio += block.sum_ratio;
    sums_.max_difference = std::max(sums_.max_difference, block.max_difference);
    sums_.sum_difference += block.sum_difference;
    sums_.golden_max = first ? block.golden_max : larger(sums_.golden_max, block.golden_max);
    sums_.golden_min = first ? block.golden_min : smaller(sums_.golden_min, block.golden_min);
    sums_.target_max = first ? block.target_max : larger(sums_.target_max, block.target_max);
    sums_.target_min = first ? block.target_min : smaller(sums_.target_min, block.target_min);
    sums_.golden_sum += block.golden_sum;
    sums_.target_sum += block.target_sum;
  }

  /// Blocks with values that are not finite, and those in double.
  template <typename T>
  void take_one_by_one(const T* golden, const T* target, std::size_t count) {
    std::vector<T> g(golden, golden + count);
    std::vector<T> m(target, target + count);
    kernels::TorchBlock sides;
    if (float32_) {
      note_sides(golden, target, count, sides);
    }
    for (std::size_t i = 0; i < count; ++i) {
      clear_nonfinite(g[i], m[i]);
    }
    kernels::TorchBlock sums;
    kernels::torch_block_plain(g.data(), m.data(), count, float32_, relative_, sums);
    if (float32_) {
      sums.golden_max = sides.golden_max;
      sums.golden_min = sides.golden_min;
      sums.golden_sum = sides.golden_sum;
      sums.target_max = sides.target_max;
      sums.target_min = sides.target_min;
      sums.target_sum = sides.target_sum;
      // Doubles are rounded floats here: the scalar level knows no others.
      add_softmax(std::vector<float>(g.begin(), g.end()), std::vector<float>(m.begin(), m.end()));
    }
    add(sums, count);
  }

  void add_softmax(const std::vector<float>& golden, const std::vector<float>& target) {
    const auto top = [](const std::vector<float>& values) {
      return static_cast<double>(*std::max_element(values.begin(), values.end()));
    };
    softmax_.add(golden.data(), target.data(), golden.size(), top(golden), top(target));
  }

  template <typename T>
  void note_sides(const T* golden, const T* target, std::size_t count, kernels::TorchBlock& sides) {
    sides.golden_max = sides.golden_min = static_cast<double>(golden[0]);
    sides.target_max = sides.target_min = static_cast<double>(target[0]);
    for (std::size_t i = 0; i < count; ++i) {
      const auto g = static_cast<double>(golden[i]);
      const auto m = static_cast<double>(target[i]);
      sides.golden_max = larger(sides.golden_max, g);
      sides.golden_min = smaller(sides.golden_min, g);
      sides.golden_sum += g;
      sides.target_max = larger(sides.target_max, m);
      sides.target_min = smaller(sides.target_min, m);
      sides.target_sum += m;
    }
  }

  template <typename T>
  void clear_nonfinite(T& golden, T& target) {
    const bool golden_finite = std::isfinite(golden);
    const bool target_finite = std::isfinite(target);
    if (golden_finite && target_finite) {
      return;
    }
    sums_.golden_nonfinite += golden_finite ? 0 : 1;
    sums_.target_nonfinite += target_finite ? 0 : 1;
    sums_.nan_places_differ = sums_.nan_places_differ || std::isnan(golden) != std::isnan(target);
    sums_.inf_places_differ = sums_.inf_places_differ || std::isinf(golden) != std::isinf(target);
    sums_.inf_signs_differ =
        sums_.inf_signs_differ ||
        (std::isinf(golden) && std::isinf(target) && std::signbit(golden) != std::signbit(target));
    golden = T{0};
    target = T{0};
  }

  bool float32_;
  RelativeIn relative_;
  TorchPairSums sums_;
  SoftmaxSums softmax_;
};

bool needs_double(DType dtype) {
  return tensor::info(dtype).kind != tensor::DTypeKind::floating || dtype == DType::f64;
}

bool is_complex(const View& view) {
  return tensor::info(view.tensor.desc.dtype).kind == tensor::DTypeKind::complex;
}

/// Element by element, for the few tensors of complex numbers.
class ElementReader {
 public:
  ElementReader(const View& view, bool real_part) : view_(&view), real_part_(real_part) {}

  void read(std::uint64_t first, std::size_t count, double* out) {
    const DType dtype = view_->tensor.desc.dtype;
    bytes_.resize(count * ((tensor::info(dtype).bits + 7) / 8));
    tensor::gather(*view_, first, count, bytes_.data());
    if (!is_complex(*view_) || real_part_) {
      tensor::decode_to_double(dtype, bytes_.data(), 0, count, out);
      return;
    }
    parts_.resize(2 * count);
    tensor::decode_to_double(tensor::component_dtype(dtype), bytes_.data(), 0, 2 * count,
                             parts_.data());
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = std::hypot(parts_[2 * i], parts_[2 * i + 1]);
    }
  }

 private:
  const View* view_;
  bool real_part_;
  std::vector<std::byte> bytes_;
  std::vector<double> parts_;
};

TorchPairSums measure_complex(const View& golden, const View& target,
                              const TorchPairOptions& options) {
  constexpr std::size_t kStep = 4096;
  const std::uint64_t count = golden.count();
  ElementReader golden_reader(golden, options.real_part);
  ElementReader target_reader(target, options.real_part);
  TorchMeter meter(options.float32, RelativeIn::float32);
  std::vector<double> g(kStep);
  std::vector<double> m(kStep);
  for (std::uint64_t first = 0; first < count; first += kStep) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(kStep, count - first));
    golden_reader.read(first, step, g.data());
    target_reader.read(first, step, m.data());
    if (options.float32) {
      const std::vector<float> gf(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(step));
      const std::vector<float> mf(m.begin(), m.begin() + static_cast<std::ptrdiff_t>(step));
      meter.take_values(gf.data(), mf.data(), step);
    } else {
      meter.take_values(g.data(), m.data(), step);
    }
  }
  return meter.result();
}

/// Means of few numbers depend on the order of the additions when they nearly cancel, so small
/// tensors are added as torch adds them; see float_sum.hpp.
constexpr std::uint64_t kOrderedSums = 32768;

double ordered_sum(const View& view, std::uint64_t count) {
  const DType dtype = view.tensor.desc.dtype;
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::byte> bytes((size * tensor::info(dtype).bits + 7) / 8 + 8);
  tensor::gather(view, 0, count, bytes.data());
  std::vector<float> values(size);
  tensor::decode_to_float(dtype, bytes.data(), 0, count, values.data());
  return static_cast<double>(torch_float_sum(values));
}

void use_ordered_sums(const View& golden, const View& target, TorchPairSums& sums) {
  if (sums.count > 0 && sums.count <= kOrderedSums) {
    sums.golden_sum = ordered_sum(golden, sums.count);
    sums.target_sum = ordered_sum(target, sums.count);
  }
}

}  // namespace

Result<TorchPairSums> measure_torch_pair(const View& golden, const View& target,
                                         const TorchPairOptions& options) {
  if (golden.count() != target.count()) {
    return Error{ErrorCode::mismatch, "expected " + std::to_string(golden.count()) +
                                          " elements, found " + std::to_string(target.count())};
  }
  for (const View* view : {&golden, &target}) {
    const tensor::DTypeInfo& info = tensor::info(view->tensor.desc.dtype);
    if (!info.decodable) {
      return Error{ErrorCode::unsupported_dtype,
                   "elements of type " + std::string(info.name) + " are no numbers"};
    }
  }
  if (golden.count() == 0) {
    return TorchPairSums{};
  }
  if (is_complex(golden) || is_complex(target)) {
    return measure_complex(golden, target, options);
  }
  const bool in_double = !options.float32 && (needs_double(golden.tensor.desc.dtype) ||
                                              needs_double(target.tensor.desc.dtype));
  Precision precision;
  precision.table = kernels::default_level().table;
  precision.rounded_to_float32 = options.float32;
  const std::array<const View*, 1> targets = {&target};
  const BlockSource source(golden, targets, precision, 0);
  const RelativeIn relative = in_double ? RelativeIn::float64 : RelativeIn::float32;
  std::vector<TorchMeter> meters(source.shard_count(), TorchMeter(options.float32, relative));
  parallel_for(
      meters.size(), options.jobs,
      [&](std::size_t shard) {
        BlockSink* sink = &meters[shard];
        source.walk(shard, {&sink, 1});
      },
      options.cancel);
  if (options.cancel != nullptr && options.cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  TorchMeter total(options.float32, relative);
  for (const TorchMeter& meter : meters) {
    total.merge(meter);
  }
  TorchPairSums sums = total.result();
  if (options.float32) {
    use_ordered_sums(golden, target, sums);
  }
  return sums;
}

}  // namespace opdrift::metrics
