#pragma once

#include <cstddef>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/call.hpp"

// Scales of codes as Ascend IR stores them. In 64 bits:
//   0-31 the scale in single precision   46 set where there is nothing else   others: a shift, an
//   offset, which are not modelled

namespace opdrift::replay {

/// The scales of input `index`, packed or plain. Fails with `unsupported`.
Result<std::vector<double>> unpacked_scales(const Call& call, const Array& scales);

/// One number for all elements of a tensor, or one per entry of an axis.
class AxisParameter {
 public:
  /// `values` are one, or as many as `shape` has along `axis`. Fails with `unsupported`.
  static Result<AxisParameter> create(const Call& call, std::vector<double> values,
                                      const tensor::Shape& shape, std::int64_t axis);
  double at(std::size_t position) const {
    return values_.size() == 1 ? values_.front() : values_[position / inner_ % values_.size()];
  }

 private:
  std::vector<double> values_;
  std::size_t inner_ = 1;
};

}  // namespace opdrift::replay
