#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/tensor/dtype.hpp"

/// Stored elements to numbers, each type as its standard defines it:
///
///   f64 f32 f16 bf16      IEEE values, subnormals and NaN included
///   e5m2 ... hif8         small_float.hpp
///   i* u*, undefined, resource   two's complement or plain integers; undefined is int8, resource
///                         int64. 64-bit values round to nearest when the result cannot hold them
///   i4 u4 i2 u2 u1        bit_pack.hpp
///   bool                  0 or 1; any byte but zero is 1
///   c128 c64 c32          the real part (both parts: decode twice the count as component_dtype)
///
/// `data` is little-endian and need not be aligned; `first` and `count` are element positions in
/// it, so packed types work at any position. string and raw must not be passed (see
/// DTypeInfo::decodable). Thread-safe.
namespace opdrift::tensor {

void decode_to_double(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                      double* out);

/// As above, rounded to nearest where a float cannot hold the value (f64, wide integers).
void decode_to_float(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                     float* out);

/// One element as a double.
inline double decode_one(DType dtype, const std::byte* data, std::uint64_t index) {
  double value = 0.0;
  decode_to_double(dtype, data, index, 1, &value);
  return value;
}

}  // namespace opdrift::tensor
