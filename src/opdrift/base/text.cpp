#include "opdrift/base/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <utility>

namespace opdrift {

namespace {

/// Decodes one code point at `position`; its length in bytes, or 0 when malformed.
std::size_t decode(std::string_view text, std::size_t position, std::int32_t& code_point) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + position);
  const auto left = static_cast<utf8proc_ssize_t>(text.size() - position);
  const utf8proc_ssize_t used = utf8proc_iterate(bytes, left, &code_point);
  return used > 0 ? static_cast<std::size_t>(used) : 0;
}

std::size_t width_of(std::int32_t code_point) {
  return static_cast<std::size_t>(std::max(0, utf8proc_charwidth(code_point)));
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Letters to insert, remove, replace or swap with their neighbour to turn one word into the other.
std::size_t typing_errors(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t k = 1; k <= to.size(); ++k) {
      const std::size_t replaced = last[k - 1] + (from[i - 1] == to[k - 1] ? 0 : 1);
      row[k] = std::min({replaced, last[k] + 1, row[k - 1] + 1});
      if (i > 1 && k > 1 && from[i - 1] == to[k - 2] && from[i - 2] == to[k - 1]) {
        row[k] = std::min(row[k], before[k - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    if (end == std::string_view::npos) {
      parts.push_back(text.substr(start));
      return parts;
    }
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      text += separator;
    }
    text += parts[i];
  }
  return text;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t start = 0;
  while (!from.empty()) {
    const std::size_t hit = text.find(from, start);
    if (hit == std::string_view::npos) {
      break;
    }
    result.append(text, start, hit - start);
    result += to;
    start = hit + from.size();
  }
  result.append(text, start);
  return result;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  return is_digits(text) ? parse_number<std::uint64_t>(text) : std::nullopt;
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

std::optional<double> parse_double(std::string_view text) {
  return parse_number<double>(text);
}

bool is_utf8(std::string_view text) {
  std::int32_t code_point = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t used = decode(text, i, code_point);
    if (used == 0) {
      return false;
    }
    i += used;
  }
  return true;
}

std::string without_bad_utf8(std::string_view text) {
  std::string kept;
  std::int32_t code_point = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t used = decode(text, i, code_point);
    kept.append(text, i, used);
    i += std::max<std::size_t>(used, 1);
  }
  return kept;
}

std::string printable(std::string_view text) {
  std::string safe;
  std::int32_t code_point = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t used = decode(text, i, code_point);
    const bool control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
    if (used == 0 || control) {
      const std::size_t count = std::max<std::size_t>(used, 1);
      for (std::size_t k = 0; k < count; ++k) {
        std::array<char, 5> escaped{};
        std::snprintf(escaped.data(), escaped.size(), "\\x%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(text[i + k])));
        safe += escaped.data();
      }
      i += count;
    } else {
      safe.append(text, i, used);
      i += used;
    }
  }
  return safe;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  std::int32_t code_point = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t used = decode(text, i, code_point);
    width += used == 0 ? 1 : width_of(code_point);
    i += std::max<std::size_t>(used, 1);
  }
  return width;
}

std::string ellipsize_middle(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns || columns == 0) {
    return std::string(text);
  }
  std::vector<std::string_view> glyphs;
  std::int32_t code_point = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t used = std::max<std::size_t>(decode(text, i, code_point), 1);
    glyphs.push_back(text.substr(i, used));
    i += used;
  }
  const std::size_t room = columns - 1;
  std::string head;
  std::size_t head_width = 0;
  for (std::size_t i = 0; i < glyphs.size() && head_width + display_width(glyphs[i]) <= room / 2;
       ++i) {
    head += glyphs[i];
    head_width += display_width(glyphs[i]);
  }
  std::string tail;
  std::size_t tail_width = 0;
  for (std::size_t i = glyphs.size();
       i > 0 && tail_width + display_width(glyphs[i - 1]) <= room - head_width; --i) {
    tail.insert(0, glyphs[i - 1]);
    tail_width += display_width(glyphs[i - 1]);
  }
  return head + "…" + tail;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kMostNames = 3;
  constexpr std::size_t kLongestWord = 64;  // nobody mistypes more, and the work is quadratic
  const std::string wanted = to_lower(word.substr(0, kLongestWord));
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : candidates) {
    const std::string lower = to_lower(candidate.substr(0, kLongestWord));
    const bool inside = wanted.size() >= 3 && lower.find(wanted) != std::string::npos;
    const std::size_t distance = inside ? 1 : typing_errors(wanted, lower);
    if (distance <= std::max<std::size_t>(1, wanted.size() / 3)) {
      near.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  near.resize(std::min(near.size(), kMostNames));
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += (i == 0 ? "; did you mean '" : i + 1 == near.size() ? "' or '" : "', '");
    text += near[i].second;
  }
  return near.empty() ? text : text + "'?";
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < kUnits.size()) {
    value /= 1000.0;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return text.data();
}

}  // namespace opdrift
