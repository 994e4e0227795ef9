#include "opdrift/tensor/decode.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/small_float.hpp"

namespace opdrift::tensor {

namespace {

template <typename Stored, typename Out>
void decode_plain(const std::byte* data, std::uint64_t count, std::size_t step, Out* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Stored value = {};
    std::memcpy(&value, data + i * step, sizeof(Stored));
    out[i] = static_cast<Out>(value);
  }
}

template <typename Out>
void decode_bool(const std::byte* data, std::uint64_t count, Out* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = data[i] != std::byte{0} ? Out{1} : Out{0};
  }
}

using Widen = void (*)(const std::byte*, std::size_t, float*);

void decode_half(Widen widen, const std::byte* data, std::uint64_t count, float* out) {
  widen(data, static_cast<std::size_t>(count), out);
}

void decode_half(Widen widen, const std::byte* data, std::uint64_t count, double* out) {
  std::array<float, 512> block = {};
  for (std::uint64_t done = 0; done < count; done += block.size()) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - done));
    widen(data + 2 * done, part, block.data());
    std::copy_n(block.begin(), part, out + done);
  }
}

template <typename Out>
void decode_complex_half(const std::byte* data, std::uint64_t count, Out* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    float real = 0.0F;
    f16_to_f32(data + 4 * i, 1, &real);
    out[i] = static_cast<Out>(real);
  }
}

std::span<const double> values_for(DType dtype, const double*) {
  return small_float_values(dtype);
}

std::span<const float> values_for(DType dtype, const float*) {
  return small_float_values_f32(dtype);
}

template <typename Out>
void decode_by_table(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                     Out* out) {
  const std::span<const Out> values = values_for(dtype, out);
  const unsigned bits = info(dtype).bits;
  if (bits == 8) {
    for (std::uint64_t i = 0; i < count; ++i) {
      out[i] = values[std::to_integer<unsigned>(data[first + i])];
    }
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = values[get_packed(data, first + i, bits)];
  }
}

template <typename Out>
void decode_packed_int(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                       Out* out) {
  const DTypeInfo& row = info(dtype);
  const bool is_signed = row.kind == DTypeKind::signed_int;
  const int sign = is_signed ? 1 << (row.bits - 1U) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto code = static_cast<int>(get_packed(data, first + i, row.bits));
    out[i] = static_cast<Out>((code ^ sign) - sign);
  }
}

template <typename Out>
void decode(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
            Out* out) {
  const std::size_t step = info(dtype).bits / 8;
  const std::byte* start = data + first * step;
  switch (dtype) {
    case DType::f64:
    case DType::c128: return decode_plain<double>(start, count, step, out);
    case DType::f32:
    case DType::c64: return decode_plain<float>(start, count, step, out);
    case DType::f16: return decode_half(static_cast<Widen>(&f16_to_f32), start, count, out);
    case DType::c32: return decode_complex_half(start, count, out);
    case DType::bf16: return decode_half(static_cast<Widen>(&bf16_to_f32), start, count, out);
    case DType::i64:
    case DType::resource: return decode_plain<std::int64_t>(start, count, step, out);
    case DType::i32: return decode_plain<std::int32_t>(start, count, step, out);
    case DType::i16: return decode_plain<std::int16_t>(start, count, step, out);
    case DType::i8:
    case DType::undefined: return decode_plain<std::int8_t>(start, count, step, out);
    case DType::u64: return decode_plain<std::uint64_t>(start, count, step, out);
    case DType::u32: return decode_plain<std::uint32_t>(start, count, step, out);
    case DType::u16: return decode_plain<std::uint16_t>(start, count, step, out);
    case DType::u8: return decode_plain<std::uint8_t>(start, count, step, out);
    case DType::boolean: return decode_bool(start, count, out);
    case DType::i4:
    case DType::u4:
    case DType::i2:
    case DType::u2:
    case DType::u1: return decode_packed_int(dtype, data, first, count, out);
    default:
      OPDRIFT_CHECK(is_small_float(dtype));
      return decode_by_table(dtype, data, first, count, out);
  }
}

}  // namespace

void decode_to_double(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                      double* out) {
  decode(dtype, data, first, count, out);
}

void decode_to_float(DType dtype, const std::byte* data, std::uint64_t first, std::uint64_t count,
                     float* out) {
  decode(dtype, data, first, count, out);
}

}  // namespace opdrift::tensor
