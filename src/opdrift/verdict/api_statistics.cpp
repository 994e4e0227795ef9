#include "opdrift/verdict/api_statistics.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"

namespace opdrift::verdict {

namespace {

using graph::ApiValue;

enum class Class : std::uint8_t { nan, inf, minus_inf, number, device, not_available, other };

struct Classified {
  Class kind = Class::other;
  double number = 0.0;
};

bool names_device(std::string_view text) {
  if (text.find_first_of("pPuU") == std::string_view::npos) {  // most texts: no copy for them
    return false;
  }
  const std::string lower = to_lower(text);
  return lower.find("npu") != std::string::npos || lower.find("cpu") != std::string::npos ||
         lower.find("cuda") != std::string::npos;
}

Classified classify(const ApiValue& value) {
  const std::string_view text = value.text();
  if (value.kind == ApiValue::Kind::none) {
    return {};
  }
  if (text == "N/A") {
    return {Class::not_available, 0.0};
  }
  if (const std::optional<double> number = graph::python_number(text)) {
    if (std::isnan(*number)) {
      return {Class::nan, *number};
    }
    if (std::isinf(*number)) {
      return {*number > 0 ? Class::inf : Class::minus_inf, *number};
    }
    return {Class::number, *number};
  }
  return {names_device(text) ? Class::device : Class::other, 0.0};
}

std::string_view word_for(Class x, Class y) {
  if (x == Class::not_available || y == Class::not_available) {
    return "N/A";
  }
  if (x == Class::device && y == Class::device) {
    return "N/A";
  }
  const bool plain = x <= Class::number && y <= Class::number;
  if (!plain) {
    return "Diff";
  }
  if (x == Class::nan || y == Class::nan) {
    return "Nan";
  }
  if (x == Class::number) {
    return y == Class::inf ? "-inf" : "inf";
  }
  return x == Class::inf ? "inf" : "-inf";
}

std::uint32_t crc32_of(std::string_view text) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1U) != 0 ? 0xEDB88320U ^ (value >> 1U) : value >> 1U;
      }
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
  }
  return ~crc;
}

}  // namespace

double StatisticDifference::relative() const {
  if (kind == Kind::word) {
    return word == "inf" ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return kind == Kind::equal ? 0.0 : relative_percent / 100.0;
}

StatisticDifference compare_statistic(const ApiValue& target, const ApiValue& golden) {
  StatisticDifference difference;
  if (target.text() == golden.text()) {
    return difference;
  }
  const Classified x = classify(target);
  const Classified y = classify(golden);
  if (x.kind == Class::number && y.kind == Class::number) {
    difference.kind = StatisticDifference::Kind::number;
    difference.difference = x.number - y.number;
    difference.relative_percent = y.number == 0.0
                                      ? std::numeric_limits<double>::infinity()
                                      : std::abs(difference.difference / y.number * 100.0);
    return difference;
  }
  difference.kind = StatisticDifference::Kind::word;
  difference.word = word_for(x.kind, y.kind);
  return difference;
}

void append_relative(const StatisticDifference& difference, std::string& out) {
  if (difference.kind == StatisticDifference::Kind::equal) {
    out += '0';
  } else if (difference.kind == StatisticDifference::Kind::word) {
    out += difference.word;
  } else if (std::isinf(difference.relative_percent)) {
    out += "inf";
  } else {
    graph::append_python_float(difference.relative_percent, out);
    out += '%';
  }
}

std::string checksum_text(const graph::ApiLeaf& leaf) {
  if (leaf.missing_argument) {
    return "N/A";
  }
  if (!leaf.checksum.empty()) {
    return std::string(leaf.checksum);
  }
  std::array<char, 12> text{};
  std::snprintf(text.data(), text.size(), "%08x", crc32_of(leaf.has_value ? leaf.value : ""));
  return text.data();
}

}  // namespace opdrift::verdict
