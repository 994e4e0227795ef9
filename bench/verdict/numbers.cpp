#include "numbers.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::evaluation {

namespace {

using tensor::DType;

struct FormatRow {
  DType dtype;
  int bits;  ///< significant, hidden one included
  int smallest_exponent;
  double largest;
  bool saturates;
};

constexpr FormatRow kRows[] = {
    {DType::f32, 24, -126, 3.4028234663852886e38, false},
    {DType::f16, 11, -14, 65504.0, false},
    {DType::bf16, 8, -126, 3.3895313892515355e38, false},
    {DType::e4m3fn, 4, -6, 448.0, true},
    {DType::f16, 11, -14, 65504.0, false},
    {DType::f16, 11, -14, 65504.0, false},
    {DType::f32, 11, -126, 3.4028234663852886e38, false},
};

const FormatRow& row_of(Format format) {
  return kRows[static_cast<std::size_t>(format)];
}

// 2^exponent for the exponents of f32 quanta, far from the ends of double.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

float round_one(float value, Format format, const FormatRow& row) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int biased = static_cast<int>((bits >> 23U) & 0xFFU);
  if (biased == 0xFF || value == 0.0F) {
    return value;
  }
  const int exponent = std::max(biased - 127, row.smallest_exponent);
  const double quantum = power_of_two(exponent - row.bits + 1);
  const double scaled = static_cast<double>(value) / quantum;
  const double whole =
      format == Format::fp16_truncated ? std::trunc(scaled) : std::nearbyint(scaled);
  const double result = whole * quantum;
  const float sign = std::signbit(value) ? -1.0F : 1.0F;
  if (std::abs(result) > row.largest) {
    return sign * (row.saturates ? static_cast<float>(row.largest)
                                 : std::numeric_limits<float>::infinity());
  }
  if (format == Format::fp16_flushed && std::abs(result) < 0x1p-14) {
    return sign * 0.0F;
  }
  return static_cast<float>(result);
}

void round_through_bits(DType dtype, std::span<float> values) {
  std::vector<std::byte> narrow(values.size() * 2);
  if (dtype == DType::f16) {
    tensor::f32_to_f16(values.data(), values.size(), narrow.data());
    tensor::f16_to_f32(narrow.data(), values.size(), values.data());
  } else {
    tensor::f32_to_bf16(values.data(), values.size(), narrow.data());
    tensor::bf16_to_f32(narrow.data(), values.size(), values.data());
  }
}

tensor::Tensor described(const tensor::Shape& shape, DType dtype) {
  tensor::Tensor made;
  made.desc.dtype = dtype;
  made.desc.shape = shape;
  return made;
}

}  // namespace

tensor::DType dtype_of(Format format) {
  return row_of(format).dtype;
}

void round_floats(Format format, std::span<float> values) {
  if (format == Format::fp32) {
    return;
  }
  if (format == Format::fp16 || format == Format::bf16) {
    round_through_bits(dtype_of(format), values);
    return;
  }
  const FormatRow& row = row_of(format);
  for (float& value : values) {
    value = round_one(value, format, row);
  }
}

std::span<const float> floats_of(const tensor::Tensor& tensor) {
  const ByteSpan bytes = tensor.bytes.span;
  // Every tensor here was made by make_floats, aligned_copy or the runtime.
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};  // NOLINT
}

tensor::Tensor make_floats(const tensor::Shape& shape, std::vector<float> values) {
  tensor::Tensor made = described(shape, DType::f32);
  auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  made.bytes = {std::as_bytes(std::span<const float>(*owner)), owner};
  return made;
}

tensor::Tensor aligned_copy(const tensor::Tensor& tensor) {
  const ByteSpan bytes = tensor.bytes.span;
  auto owner = std::make_shared<std::vector<double>>((bytes.size() + 7) / 8);
  if (!bytes.empty()) {
    std::memcpy(owner->data(), bytes.data(), bytes.size());
  }
  tensor::Tensor made = tensor;
  made.bytes = {std::as_bytes(std::span<const double>(*owner)).first(bytes.size()), owner};
  return made;
}

tensor::Tensor stored(const tensor::Tensor& tensor, Format format) {
  const DType dtype = dtype_of(format);
  if (tensor.desc.dtype != DType::f32 || dtype == DType::f32) {
    return tensor;
  }
  const std::span<const float> values = floats_of(tensor);
  tensor::Tensor made = described(tensor.desc.shape, dtype);
  std::vector<std::byte> bytes(values.size() * (dtype == DType::e4m3fn ? 1 : 2));
  if (dtype == DType::f16) {
    tensor::f32_to_f16(values.data(), values.size(), bytes.data());
  } else if (dtype == DType::bf16) {
    tensor::f32_to_bf16(values.data(), values.size(), bytes.data());
  } else {
    const std::vector<double> wide(values.begin(), values.end());
    tensor::encode(dtype, wide.data(), wide.size(), bytes.data());
  }
  made.bytes = own_bytes(std::move(bytes));
  return made;
}

tensor::Tensor rounded(const tensor::Tensor& tensor, Format format) {
  if (tensor.desc.dtype != DType::f32 || format == Format::fp32) {
    return tensor;
  }
  const std::span<const float> values = floats_of(tensor);
  std::vector<float> copy(values.begin(), values.end());
  round_floats(format, copy);
  return make_floats(tensor.desc.shape, std::move(copy));
}

tensor::Tensor widened(const tensor::Tensor& tensor) {
  const DType dtype = tensor.desc.dtype;
  if (dtype != DType::f16 && dtype != DType::bf16) {
    return tensor;
  }
  std::vector<float> wide(tensor.bytes.size() / 2);
  (dtype == DType::f16 ? tensor::f16_to_f32 : tensor::bf16_to_f32)(tensor.bytes.span.data(),
                                                                   wide.size(), wide.data());
  return make_floats(tensor.desc.shape, std::move(wide));
}

Random::Random(std::string_view name) : state_(0xcbf29ce484222325U) {
  for (const char letter : name) {  // FNV-1a
    state_ = (state_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

double Random::uniform() {
  return static_cast<double>(next() >> 11U) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t Random::below(std::uint64_t bound) {
  return next() % bound;
}

}  // namespace opdrift::evaluation
