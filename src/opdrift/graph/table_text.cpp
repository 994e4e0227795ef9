#include "opdrift/graph/table_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

/// Digits and decimal exponent of the shortest text: "d.ddde+XX" without the point.
struct Shortest {
  std::array<char, 24> digits{};
  std::size_t count = 0;
  int exponent = 0;  // of the first digit
};

bool starts_unsafe(std::string_view text) {
  constexpr std::array<std::string_view, 10> kStarts = {"+",  "-",  "=",  "%",  "@",
                                                        "＋", "－", "＝", "％", "＠"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

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

bool is_unsafe_text(std::string_view text) {
  while (true) {
    if (starts_unsafe(text)) {
      return true;
    }
    const std::size_t semicolon = text.find(';');
    if (semicolon == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(semicolon + 1);
  }
}

bool is_malicious_cell(std::string_view text) {
  if (!is_unsafe_text(text)) {
    return false;
  }
  bool all_numbers = true;
  for (const std::string_view part : split(text, ';')) {
    all_numbers = all_numbers && python_number(part).has_value();
    if (starts_unsafe(part) && !all_numbers) {
      return true;
    }
  }
  return false;
}

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(code));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

std::optional<double> python_number(std::string_view text) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  std::string_view magnitude = text;
  if (negative || text.starts_with('+')) {
    magnitude.remove_prefix(1);
  }
  if (magnitude.empty() || magnitude.front() == '-' || magnitude.front() == '+') {
    return std::nullopt;
  }
  const std::string lower = to_lower(magnitude.substr(0, 9));
  if (lower == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double value = 0.0;
  if (lower == "inf" || lower == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else {
    const auto [end, error] =
        std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), value);
    if (end != magnitude.data() + magnitude.size() || error == std::errc::invalid_argument) {
      return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) {
      const bool tiny = magnitude.find("e-") != std::string_view::npos ||
                        magnitude.find("E-") != std::string_view::npos;
      value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    }
  }
  return negative ? -value : value;
}

}  // namespace opdrift::graph
