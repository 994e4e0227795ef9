#include "opdrift/base/natural_order.hpp"

#include <algorithm>
#include <cstddef>

namespace opdrift {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The run of digits at the front, without leading zeros; `text` moves behind it.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x != y) {
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      }
    } else if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

}  // namespace opdrift
