#include "opdrift/pipeline/stats/array_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>

#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/float_bits.hpp"

namespace opdrift::pipeline {

namespace {

using tensor::DType;

/// NumPy's iterator hands elements to a sum in blocks of this many.
constexpr std::uint64_t kSumBlock = 8192;
constexpr std::uint64_t kPairwiseBlock = 128;

/// Elements of a mapped array, each read as T and handed out as Sum.
template <typename T>
struct Elements {
  const std::byte* data;

  T at(std::uint64_t index) const {
    T value{};
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
  }
};

/// The sum as NumPy's pairwise summation forms it; `get(i)` is element i as Sum.
template <typename Sum, typename Get>
Sum pairwise_sum(const Get& get, std::uint64_t first, std::uint64_t count) {
  if (count < 8) {
    Sum sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      sum += get(first + i);
    }
    return sum;
  }
  if (count <= kPairwiseBlock) {
    std::array<Sum, 8> strands{};
    for (std::uint64_t k = 0; k < 8; ++k) {
      strands[k] = get(first + k);
    }
    const std::uint64_t whole = count - count % 8;
    for (std::uint64_t i = 8; i < whole; i += 8) {
      for (std::uint64_t k = 0; k < 8; ++k) {
        strands[k] += get(first + i + k);
      }
    }
    Sum sum = ((strands[0] + strands[1]) + (strands[2] + strands[3])) +
              ((strands[4] + strands[5]) + (strands[6] + strands[7]));
    for (std::uint64_t i = whole; i < count; ++i) {
      sum += get(first + i);
    }
    return sum;
  }
  std::uint64_t half = count / 2;
  half -= half % 8;
  return pairwise_sum<Sum>(get, first, half) + pairwise_sum<Sum>(get, first + half, count - half);
}

template <typename Sum, typename Get>
Sum blockwise_sum(const Get& get, std::uint64_t count) {
  Sum sum = 0;
  for (std::uint64_t first = 0; first < count; first += kSumBlock) {
    sum += pairwise_sum<Sum>(get, first, std::min(kSumBlock, count - first));
  }
  return sum;
}

template <typename Value>
struct Extremes {
  Value max{};
  Value min{};
};

/// NaN, once met, stays.
template <typename Value, typename Get>
Extremes<Value> extremes(const Get& get, std::uint64_t count) {
  Extremes<Value> found{get(0), get(0)};
  for (std::uint64_t i = 1; i < count; ++i) {
    const Value value = get(i);
    if constexpr (std::is_floating_point_v<Value>) {
      if (std::isnan(value)) {
        return {value, value};
      }
      if (std::isnan(found.max)) {
        return found;
      }
    }
    found.max = std::max(found.max, value);
    found.min = std::min(found.min, value);
  }
  return found;
}

/// Digits and exponent of the shortest `%e` text for which `reads_back` holds.
std::string shortest_exponent_text(double value, int max_digits,
                                   const std::function<bool(double)>& reads_back) {
  std::array<char, 64> text{};
  for (int digits = 0; digits < max_digits; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*e", digits, value);
    if (reads_back(std::strtod(text.data(), nullptr))) {
      break;
    }
  }
  return text.data();
}

std::string positional(std::string digits, int exponent) {
  const int point = exponent + 1;
  if (point <= 0) {
    return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  }
  const auto place = static_cast<std::size_t>(point);
  if (place >= digits.size()) {
    digits.append(place - digits.size(), '0');
    return digits + ".0";
  }
  return digits.substr(0, place) + "." + digits.substr(place);
}

std::string float_text(double value, int max_digits,
                       const std::function<bool(double)>& reads_back) {
  if (std::isnan(value)) {
    return "nan";
  }
  const std::string sign = std::signbit(value) ? "-" : "";
  const double magnitude = std::abs(value);
  if (std::isinf(value)) {
    return sign + "inf";
  }
  if (magnitude == 0.0) {
    return sign + "0.0";
  }
  const std::string text = shortest_exponent_text(magnitude, max_digits, [&](double read) {
    return reads_back(std::signbit(value) ? -read : read);
  });
  const std::size_t mark = text.find('e');
  if (!(magnitude >= 1e-4 && magnitude < 1e16)) {
    return sign + text;
  }
  std::string digits = text.substr(0, mark);
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  return sign + positional(digits, std::atoi(text.c_str() + mark + 1));
}

template <typename T>
std::string integer_text(T value) {
  return std::to_string(value);
}

template <typename T>
void summarise_integers(const std::byte* data, std::uint64_t count, ArraySummary& summary) {
  const Elements<T> elements{data};
  const auto found = extremes<T>([&](std::uint64_t i) { return elements.at(i); }, count);
  summary.max = integer_text(found.max);
  summary.min = integer_text(found.min);
  const auto as_double = [&](std::uint64_t i) { return static_cast<double>(elements.at(i)); };
  summary.mean = numpy_text(blockwise_sum<double>(as_double, count) / static_cast<double>(count));
}

template <typename T>
void summarise_floats(const std::byte* data, std::uint64_t count, ArraySummary& summary) {
  const Elements<T> elements{data};
  const auto get = [&](std::uint64_t i) { return elements.at(i); };
  const auto found = extremes<T>(get, count);
  summary.max = numpy_text(found.max);
  summary.min = numpy_text(found.min);
  summary.mean = numpy_text(blockwise_sum<T>(get, count) / static_cast<T>(count));
}

void summarise_f16(const std::byte* data, std::uint64_t count, ArraySummary& summary) {
  const Elements<std::uint16_t> elements{data};
  const auto get = [&](std::uint64_t i) { return tensor::f16_to_f32(elements.at(i)); };
  const auto found = extremes<float>(get, count);
  summary.max = numpy_text_f16(found.max);
  summary.min = numpy_text_f16(found.min);
  const float mean = blockwise_sum<float>(get, count) / static_cast<float>(count);
  summary.mean = numpy_text_f16(tensor::f16_to_f32(tensor::f32_to_f16(mean)));
}

void summarise_bools(const std::byte* data, std::uint64_t count, ArraySummary& summary) {
  const Elements<std::uint8_t> elements{data};
  const auto get = [&](std::uint64_t i) { return elements.at(i) != 0 ? 1.0 : 0.0; };
  const auto found = extremes<double>(get, count);
  summary.max = found.max != 0.0 ? "True" : "False";
  summary.min = found.min != 0.0 ? "True" : "False";
  summary.mean = numpy_text(blockwise_sum<double>(get, count) / static_cast<double>(count));
}

Status summarise_elements(DType dtype, const std::byte* data, std::uint64_t count,
                          ArraySummary& summary) {
  switch (dtype) {
    case DType::f64: summarise_floats<double>(data, count, summary); break;
    case DType::f32: summarise_floats<float>(data, count, summary); break;
    case DType::f16: summarise_f16(data, count, summary); break;
    case DType::i64: summarise_integers<std::int64_t>(data, count, summary); break;
    case DType::i32: summarise_integers<std::int32_t>(data, count, summary); break;
    case DType::i16: summarise_integers<std::int16_t>(data, count, summary); break;
    case DType::i8: summarise_integers<std::int8_t>(data, count, summary); break;
    case DType::u64: summarise_integers<std::uint64_t>(data, count, summary); break;
    case DType::u32: summarise_integers<std::uint32_t>(data, count, summary); break;
    case DType::u16: summarise_integers<std::uint16_t>(data, count, summary); break;
    case DType::u8: summarise_integers<std::uint8_t>(data, count, summary); break;
    case DType::boolean: summarise_bools(data, count, summary); break;
    default:
      return Error{ErrorCode::unsupported_dtype,
                   "expected real numbers, found " + std::string(tensor::name_of(dtype))};
  }
  return Unit{};
}

std::string shape_text(const tensor::Shape& shape) {
  return "(" + tensor::to_string(shape, ", ") + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string numpy_text(double value) {
  return float_text(value, 17, [&](double read) { return read == value; });
}

std::string numpy_text(float value) {
  return float_text(static_cast<double>(value), 9,
                    [&](double read) { return static_cast<float>(read) == value; });
}

std::string numpy_text_f16(float value) {
  return float_text(static_cast<double>(value), 6, [&](double read) {
    return tensor::f16_to_f32(tensor::f64_to_f16(read)) == value;
  });
}

Result<ArraySummary> summarise_npy(const std::string& path) {
  OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
  OPDRIFT_TRY(const tensor::Tensor array, io::load_tensor(dump.tensors.front()));
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(array.desc.shape));
  if (count == 0) {
    return Error{ErrorCode::malformed, "expected at least one element", path};
  }
  ArraySummary summary;
  summary.shape = shape_text(array.desc.shape);
  summary.dtype = std::string(tensor::name_of(array.desc.dtype));
  OPDRIFT_CHECK_OK(summarise_elements(array.desc.dtype, array.bytes.span.data(), count, summary));
  return summary;
}

}  // namespace opdrift::pipeline
