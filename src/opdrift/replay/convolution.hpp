#pragma once

#include <cstdint>
#include <span>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/replay/window.hpp"

// y[n, m, o] = sum over c in the group of m and over taps of x[n, c, tap] * w[m, c, tap]
// Transposed: w[c, m, tap], and the taps that reach o. Shared with the quantised kinds.

namespace opdrift::replay {

struct Convolution {
  Window window;
  bool transposed = false;
  std::size_t batches = 0;
  std::size_t groups = 1;
  std::size_t in_channels = 0;   ///< of one group
  std::size_t out_channels = 0;  ///< of one group
  tensor::Shape shape;           ///< of the result

  std::size_t reduction() const { return in_channels * window.kernel_count(); }
};

/// Checks shapes and attributes. Fails with `unsupported`.
Result<Convolution> plan_convolution(const Call& call, const Array& x, const Array& w,
                                     bool transposed);

/// The whole result, in blocks of bounded memory.
Result<Array> run_convolution(const Call& call, const Convolution& conv, const Array& x,
                              const Array& w);

/// Values at flat positions; with `squares`, sums of x^2 w^2.
std::vector<double> run_convolution_at(const Convolution& conv, const Array& x, const Array& w,
                                       std::span<const std::uint64_t> positions, bool squares);

/// Output channel of a flat position.
std::size_t channel_of(const Convolution& conv, std::uint64_t position);

}  // namespace opdrift::replay
