#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "opdrift/metrics/kernels/block.hpp"

/// The kernels of one instruction set. Names, slowest first: scalar, sse4, avx2, avx3 (AVX-512),
/// neon. The best level of the machine is used; the environment variable OPDRIFT_CPU names another
/// one, and is ignored when it names none this machine has.
namespace opdrift::metrics::kernels {

/// One side in a 16-bit format: its patterns when they lie ready, else the values to be rounded.
struct PatternSide {
  const std::uint16_t* bits = nullptr;
  const float* values = nullptr;
};

/// Functions on blocks of floats, finite ones but for split_classes. `count` is a multiple of
/// kGrain, at most kBlock. Pointers are aligned as their type demands.
struct KernelTable {
  void (*widen_f16)(const std::uint16_t* bits, std::size_t count, float* out);
  void (*widen_bf16)(const std::uint16_t* bits, std::size_t count, float* out);
  /// Sums over pairs; NaN or infinite in sum_golden2 or sum_target2 exactly when a value of that
  /// side is not finite.
  void (*sums)(const float* golden, const float* target, std::size_t count, Upcoming& next,
               BlockTotals& out);
  /// Everything about elements. False when a float overflowed or the scale does not fit: the block
  /// then needs the scalar kernel.
  bool (*shape)(const float* golden, const float* target, std::size_t count,
                const ShapeLimits& limits, Upcoming& next, BlockTotals& out);
  /// Distances of f16 or bf16 patterns; `scratch` holds kBlock elements.
  void (*ulp_f16)(const PatternSide& golden, const PatternSide& target, std::size_t count,
                  std::uint16_t* scratch, Upcoming& next, BlockTotals& out);
  void (*ulp_bf16)(const PatternSide& golden, const PatternSide& target, std::size_t count,
                   std::uint16_t* scratch, Upcoming& next, BlockTotals& out);
  void (*ulp32)(const float* golden, const float* target, std::size_t count, std::uint16_t* scratch,
                Upcoming& next, BlockTotals& out);
  /// Positions, rising, of the pairs whose errors may be among the largest; returns how many.
  std::size_t (*find_large)(const float* golden, const float* target, std::size_t count,
                            const LargeLimits& limits, std::uint16_t* positions);
  double (*centred_squares)(const float* values, std::size_t count, double mean);
  /// For blocks with values that are not finite. Arrays of `split` may hold anything behind what is
  /// counted.
  void (*split_classes)(const float* golden, const float* target, std::size_t count,
                        ClassSplit<float>& split);
  void (*kl)(const float* golden, const float* target, std::size_t count, const KlMap& map,
             KlSums& out);

  // The same on doubles, for dtypes that do not fit a float.
  bool (*all_finite64)(const double* values, std::size_t count);
  void (*sums64)(const double* golden, const double* target, std::size_t count, BlockTotals& out);
  void (*shape64)(const double* golden, const double* target, std::size_t count,
                  const ShapeLimits& limits, BlockTotals& out);
  double (*centred_squares64)(const double* values, std::size_t count, double mean);
};

struct Level {
  std::string_view name;
  const KernelTable* table;  ///< nullptr for scalar
};

/// The levels this machine can run, slowest first; the first is `scalar`.
std::span<const Level> available_levels();

/// The level in use: OPDRIFT_CPU when it names an available one, else the last. Chosen once.
const Level& default_level();

/// The level of that name, case ignored; the best one when this machine has none of the name.
const Level& choose_level(std::string_view name);

}  // namespace opdrift::metrics::kernels
