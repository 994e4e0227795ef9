#include "opdrift/tensor/dtype.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "opdrift/base/check.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::tensor {

namespace {

using Kind = DTypeKind;

constexpr double power_of_two(int exponent) {
  double value = 1.0;
  for (int i = 0; i < exponent; ++i) {
    value *= 2.0;
  }
  for (int i = 0; i > exponent; --i) {
    value /= 2.0;
  }
  return value;
}

constexpr DTypeInfo floating(DType dtype, std::string_view name, unsigned bits,
                             std::string_view descr, int number, double max_finite,
                             int min_exponent, unsigned mantissa_bits) {
  const int half_gap = -static_cast<int>(mantissa_bits) - 1;
  return {dtype,
          name,
          Kind::floating,
          bits,
          descr,
          number,
          true,
          max_finite,
          power_of_two(min_exponent),
          power_of_two(half_gap),
          mantissa_bits};
}

constexpr DTypeInfo integer(DType dtype, std::string_view name, Kind kind, unsigned bits,
                            std::string_view descr, int number) {
  const int value_bits = static_cast<int>(bits) - (kind == Kind::signed_int ? 1 : 0);
  const double max_finite = bits > 1 ? power_of_two(value_bits) - 1.0 : 0.0;
  return {dtype, name, kind, bits, descr, number, true, max_finite, 0.0, 0.0, 0};
}

constexpr DTypeInfo complex_of(DTypeInfo part, DType dtype, std::string_view name,
                               std::string_view descr, int number) {
  part.dtype = dtype;
  part.name = name;
  part.kind = Kind::complex;
  part.bits *= 2;
  part.npy_descr = descr;
  part.ascend_number = number;
  return part;
}

constexpr DTypeInfo opaque(DType dtype, std::string_view name, int number) {
  return {dtype, name, Kind::opaque, 0, "", number, false, 0.0, 0.0, 0.0, 0};
}

constexpr double kMaxF64 = std::numeric_limits<double>::max();
constexpr double kMaxF32 = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kMaxBf16 = 255.0 * power_of_two(120);  // 1.9921875 * 2^127
constexpr auto kF64 = floating(DType::f64, "float64", 64, "<f8", 12, kMaxF64, -1022, 52);
constexpr auto kF32 = floating(DType::f32, "float32", 32, "<f4", 1, kMaxF32, -126, 23);
constexpr auto kF16 = floating(DType::f16, "float16", 16, "<f2", 2, 65504.0, -14, 10);

// In the order of the enumeration, so that a row is found by its number.
constexpr std::array kTable = {
    kF64,
    kF32,
    kF16,
    floating(DType::bf16, "bfloat16", 16, "", 27, kMaxBf16, -126, 7),
    floating(DType::e5m2, "float8_e5m2", 8, "", 34, 57344.0, -14, 2),
    floating(DType::e4m3fn, "float8_e4m3fn", 8, "", 35, 448.0, -6, 3),
    floating(DType::e8m0, "float8_e8m0", 8, "", 36, power_of_two(127), -127, 0),
    floating(DType::hif8, "hifloat8", 8, "", 33, 32768.0, -15, 3),
    floating(DType::e3m2, "float6_e3m2", 6, "", 37, 28.0, -2, 2),
    floating(DType::e2m3, "float6_e2m3", 6, "", 38, 7.5, 0, 3),
    floating(DType::e2m1, "float4_e2m1", 4, "", 39, 6.0, 0, 1),
    floating(DType::e1m2, "float4_e1m2", 4, "", 40, 1.75, 0, 2),
    integer(DType::i64, "int64", Kind::signed_int, 64, "<i8", 8),
    integer(DType::i32, "int32", Kind::signed_int, 32, "<i4", 7),
    integer(DType::i16, "int16", Kind::signed_int, 16, "<i2", 5),
    integer(DType::i8, "int8", Kind::signed_int, 8, "|i1", 3),
    integer(DType::u64, "uint64", Kind::unsigned_int, 64, "<u8", 10),
    integer(DType::u32, "uint32", Kind::unsigned_int, 32, "<u4", 9),
    integer(DType::u16, "uint16", Kind::unsigned_int, 16, "<u2", 6),
    integer(DType::u8, "uint8", Kind::unsigned_int, 8, "|u1", 4),
    integer(DType::i4, "int4", Kind::signed_int, 4, "", 28),
    integer(DType::u4, "uint4", Kind::unsigned_int, 4, "", -1),
    integer(DType::i2, "int2", Kind::signed_int, 2, "", 30),
    integer(DType::u2, "uint2", Kind::unsigned_int, 2, "", 31),
    integer(DType::u1, "uint1", Kind::unsigned_int, 1, "", 29),
    DTypeInfo{DType::boolean, "bool", Kind::boolean, 8, "|b1", 11, true, 0.0, 0.0, 0.0, 0},
    complex_of(kF64, DType::c128, "complex128", "<c16", 17),
    complex_of(kF32, DType::c64, "complex64", "<c8", 16),
    complex_of(kF16, DType::c32, "complex32", "", 32),
    integer(DType::undefined, "undefined", Kind::signed_int, 8, "|i1", 0),
    integer(DType::resource, "resource", Kind::signed_int, 64, "<i8", 23),
    opaque(DType::string, "string", 13),
    opaque(DType::raw, "raw", -1),
};

constexpr bool rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].dtype) != i) {
      return false;
    }
  }
  return kTable.size() == static_cast<std::size_t>(DType::raw) + 1;
}
static_assert(rows_follow_the_enumeration());

struct Alias {
  std::string_view name;
  DType dtype;
};

constexpr Alias kAliases[] = {
    {"f64", DType::f64},
    {"fp64", DType::f64},
    {"double", DType::f64},
    {"f32", DType::f32},
    {"fp32", DType::f32},
    {"float", DType::f32},
    {"f16", DType::f16},
    {"fp16", DType::f16},
    {"half", DType::f16},
    {"bf16", DType::bf16},
    {"e5m2", DType::e5m2},
    {"f8e5m2", DType::e5m2},
    {"e4m3fn", DType::e4m3fn},
    {"f8e4m3fn", DType::e4m3fn},
    {"e4m3", DType::e4m3fn},
    {"float8_e4m3", DType::e4m3fn},
    {"e8m0", DType::e8m0},
    {"float8_e8m0fnu", DType::e8m0},
    {"hif8", DType::hif8},
    {"e3m2", DType::e3m2},
    {"e2m3", DType::e2m3},
    {"float6_e3m2fn", DType::e3m2},
    {"float6_e2m3fn", DType::e2m3},
    {"float4_e2m1fn", DType::e2m1},
    {"e2m1", DType::e2m1},
    {"e1m2", DType::e1m2},
    {"i64", DType::i64},
    {"long", DType::i64},
    {"i32", DType::i32},
    {"int", DType::i32},
    {"i16", DType::i16},
    {"short", DType::i16},
    {"i8", DType::i8},
    {"char", DType::i8},
    {"u64", DType::u64},
    {"u32", DType::u32},
    {"u16", DType::u16},
    {"u8", DType::u8},
    {"byte", DType::u8},
    {"i4", DType::i4},
    {"u4", DType::u4},
    {"i2", DType::i2},
    {"u2", DType::u2},
    {"u1", DType::u1},
    {"boolean", DType::boolean},
    {"bool_", DType::boolean},
    {"c128", DType::c128},
    {"c64", DType::c64},
    {"c32", DType::c32},
    {"chalf", DType::c32},
};

}  // namespace

const DTypeInfo& info(DType dtype) {
  const auto row = static_cast<std::size_t>(dtype);
  OPDRIFT_CHECK(row < kTable.size());
  return kTable[row];
}

std::span<const DTypeInfo> all_dtypes() {
  return kTable;
}

std::string_view name_of(DType dtype) {
  return info(dtype).name;
}

std::optional<DType> dtype_by_name(std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const DTypeInfo& row : kTable) {
    if (row.name == wanted) {
      return row.dtype;
    }
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == wanted) {
      return alias.dtype;
    }
  }
  return std::nullopt;
}

std::optional<DType> dtype_by_ascend_number(int number) {
  if (number < 0) {
    return std::nullopt;
  }
  for (const DTypeInfo& row : kTable) {
    if (row.ascend_number == number) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

DType component_dtype(DType dtype) {
  switch (dtype) {
    case DType::c128: return DType::f64;
    case DType::c64: return DType::f32;
    case DType::c32: return DType::f16;
    default: return dtype;
  }
}

std::optional<std::uint64_t> storage_bytes(DType dtype, std::uint64_t count) {
  const std::uint64_t bits = info(dtype).bits;
  if (bits == 0) {
    return std::nullopt;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (bits % 8 == 0) {
    const std::uint64_t bytes = bits / 8;
    return count > kMost / bytes ? std::nullopt : std::optional(count * bytes);
  }
  const std::uint64_t whole = count / 8 * bits;  // bits < 8: no overflow
  return whole + (count % 8 * bits + 7) / 8;
}

}  // namespace opdrift::tensor
