#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace opdrift::tensor {

/// Element types that can stand in a dump. Bit patterns are kept as stored.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  e5m2,
  e4m3fn,
  e8m0,
  hif8,  // one byte
  e3m2,
  e2m3,
  e2m1,
  e1m2,  // 6 and 4 bits
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  i4,
  u4,
  i2,
  u2,
  u1,  // less than one byte
  boolean,
  c128,
  c64,
  c32,
  undefined,  // Ascend type 0: read as int8 over all bytes
  resource,   // Ascend type 23: read as int64
  string,
  raw,  // bytes nothing is known about
};

enum class DTypeKind : std::uint8_t {
  floating,
  signed_int,
  unsigned_int,
  boolean,
  complex,
  opaque
};

/// What is known about one element type.
struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as printed: "float16", "bfloat16", "float8_e4m3fn"
  DTypeKind kind;
  unsigned bits;               ///< storage per element; 0 for string and raw
  std::string_view npy_descr;  ///< little-endian NumPy descr, "" when NumPy has none
  int ascend_number;           ///< number in Ascend dumps, -1 when it has none
  bool decodable;              ///< can be turned into double (or pairs of double)
  double max_finite;           ///< largest finite value; 0 for types without that notion
  double min_normal;           ///< smallest positive normal value; 0 for integers
  double unit_roundoff;        ///< half the gap at 1; 0 for integers
  unsigned mantissa_bits;      ///< explicit mantissa bits; 0 for integers
};

/// Row of the table; every DType has one.
const DTypeInfo& info(DType dtype);

/// All rows, for listings and tests.
std::span<const DTypeInfo> all_dtypes();

std::string_view name_of(DType dtype);

/// Finds a type by printed name or by common alias (fp32, f32, float, half, bf16, fp16, int32,
/// i32, bool, ...). Case is ignored.
std::optional<DType> dtype_by_name(std::string_view name);

/// The type behind a number of the Ascend dump format; nothing when the number is unknown.
std::optional<DType> dtype_by_ascend_number(int number);

/// Bytes that `count` elements occupy, rounded up to whole bytes; nothing on overflow or when the
/// element size is unknown.
std::optional<std::uint64_t> storage_bytes(DType dtype, std::uint64_t count);

/// The type of one half of a complex element (c64: f32); other types are their own component. A
/// complex tensor of n elements decodes as 2n components.
DType component_dtype(DType dtype);

inline bool is_floating(DType dtype) {
  return info(dtype).kind == DTypeKind::floating;
}

}  // namespace opdrift::tensor
