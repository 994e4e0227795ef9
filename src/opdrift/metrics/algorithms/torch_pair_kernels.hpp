#pragma once

#include <cstddef>
#include <cstdint>

/// Blocks of finite pairs for torch_pair.hpp, once as plain double code and once per instruction
/// set. The vector code and the plain code agree within the bounds given there.
namespace opdrift::metrics::kernels {

/// Sums of one block; names as in TorchPairSums.
struct TorchBlock {
  double product = 0.0;
  double golden2 = 0.0;
  double target2 = 0.0;
  double distance2 = 0.0;
  double max_abs = 0.0;
  double max_relative = 0.0;
  std::uint64_t within_1e3 = 0;
  std::uint64_t within_5e3 = 0;
  double max_ratio = 0.0;
  double sum_ratio = 0.0;
  double max_difference = 0.0;
  double sum_difference = 0.0;
  double golden_max = 0.0;
  double golden_min = 0.0;
  double golden_sum = 0.0;
  double target_max = 0.0;
  double target_min = 0.0;
  double target_sum = 0.0;
};

/// Exponentials of one block above given tops:
///
///   golden = sum e^(g - G)    target = sum e^(m - M)    cross = sum e^(g - G) ((g - G) - (m - M))
struct SoftmaxBlock {
  double golden = 0.0;
  double target = 0.0;
  double cross = 0.0;
};

/// How r is computed.
enum class RelativeIn : std::uint8_t { float32, float64 };

void torch_block_plain(const float* golden, const float* target, std::size_t count, bool with_sides,
                       RelativeIn relative, TorchBlock& out);
void torch_block_plain(const double* golden, const double* target, std::size_t count,
                       bool with_sides, RelativeIn relative, TorchBlock& out);
void softmax_block_plain(const float* golden, const float* target, std::size_t count, float top_g,
                         float top_m, SoftmaxBlock& out);

/// Best code of this machine, relative in float. False when a value is not finite: `out` then means
/// nothing.
bool torch_block(const float* golden, const float* target, std::size_t count, bool with_sides,
                 TorchBlock& out);
void softmax_block(const float* golden, const float* target, std::size_t count, float top_g,
                   float top_m, SoftmaxBlock& out);

}  // namespace opdrift::metrics::kernels
