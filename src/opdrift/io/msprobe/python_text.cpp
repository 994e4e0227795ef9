#include "opdrift/io/msprobe/python_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace opdrift::io {

namespace {

/// Digits and decimal exponent of the shortest text: "d.ddde+XX" without the point.
struct Shortest {
  std::array<char, 24> digits{};
  std::size_t count = 0;
  int exponent = 0;  // of the first digit
};

Shortest shortest_of(double magnitude) {
  std::array<char, 40> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), magnitude,
                                    std::chars_format::scientific);
  Shortest shortest;
  const char* position = text.data();
  while (position != result.ptr && *position != 'e') {
    if (*position != '.') {
      shortest.digits[shortest.count++] = *position;
    }
    ++position;
  }
  shortest.exponent = static_cast<int>(std::strtol(position + 1, nullptr, 10));
  return shortest;
}

void append_scientific(const Shortest& shortest, std::string& out) {
  out += shortest.digits[0];
  if (shortest.count > 1) {
    out += '.';
    out.append(&shortest.digits[1], shortest.count - 1);
  }
  out += shortest.exponent < 0 ? "e-" : "e+";
  const int size = std::abs(shortest.exponent);
  out += size < 10 ? "0" : "";
  out += std::to_string(size);
}

void append_fixed(const Shortest& shortest, std::string& out) {
  if (shortest.exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-shortest.exponent - 1), '0');
    out.append(shortest.digits.data(), shortest.count);
    return;
  }
  const auto whole = static_cast<std::size_t>(shortest.exponent) + 1;
  if (shortest.count <= whole) {
    out.append(shortest.digits.data(), shortest.count);
    out.append(whole - shortest.count, '0');
    out += ".0";
    return;
  }
  out.append(shortest.digits.data(), whole);
  out += '.';
  out.append(&shortest.digits[whole], shortest.count - whole);
}

}  // namespace

void append_python_float(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  out += std::signbit(value) ? "-" : "";
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  const double magnitude = std::fabs(value);
  if (magnitude == 0.0) {
    out += "0.0";
    return;
  }
  const Shortest shortest = shortest_of(magnitude);
  if (shortest.exponent < -4 || shortest.exponent >= 16) {
    append_scientific(shortest, out);
  } else {
    append_fixed(shortest, out);
  }
}

std::string python_float(double value) {
  std::string text;
  append_python_float(value, text);
  return text;
}

std::string python_repr(std::string_view text) {
  const bool use_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code == 0x7F) {
      std::array<char, 5> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned>(code));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

}  // namespace opdrift::io
