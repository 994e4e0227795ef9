#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "opdrift/tensor/tensor.hpp"

/// Number formats of emulated targets, and seeded random numbers.
///
///   fp16, bf16        nearest, ties to even, overflow to infinity
///   e4m3              nearest, overflow to the largest finite value (448)
///   fp16_truncated    towards zero
///   fp16_flushed      nearest, results below 2^-14 become 0
///   tf32              nearest, 11 significant bits in the range of f32; for operands only
///
/// The rounded values stay f32 while a target runs; `stored` brings them to the type that a device
/// would dump.
namespace opdrift::evaluation {

enum class Format : std::uint8_t { fp32, fp16, bf16, e4m3, fp16_truncated, fp16_flushed, tf32 };

/// The type in which values of a format are dumped.
tensor::DType dtype_of(Format format);

/// Rounds in place.
void round_floats(Format format, std::span<float> values);

/// Elements of an f32 tensor. The bytes must be aligned, as those of every tensor here are.
std::span<const float> floats_of(const tensor::Tensor& tensor);

tensor::Tensor make_floats(const tensor::Shape& shape, std::vector<float> values);

/// A copy whose bytes are aligned for its element type.
tensor::Tensor aligned_copy(const tensor::Tensor& tensor);

/// An f32 tensor of rounded values in the type of the format; other tensors as they are.
tensor::Tensor stored(const tensor::Tensor& tensor, Format format);

/// An f32 tensor rounded; other tensors as they are.
tensor::Tensor rounded(const tensor::Tensor& tensor, Format format);

/// A tensor of f16 or bf16 as f32; other tensors as they are.
tensor::Tensor widened(const tensor::Tensor& tensor);

/// SplitMix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  explicit Random(std::string_view name);

  std::uint64_t next();
  double uniform();  ///< in [0, 1)
  double normal();   ///< mean 0, deviation 1
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

}  // namespace opdrift::evaluation
