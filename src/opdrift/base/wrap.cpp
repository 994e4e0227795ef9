#include "opdrift/base/wrap.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift {

std::string wrapped(std::string_view text, std::size_t columns, std::size_t margin) {
  constexpr std::size_t kLeastRoom = 20;
  const std::size_t room = std::max(columns, margin + kLeastRoom) - margin;
  std::string out;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = display_width(word);
    if (used > 0 && used + 1 + width > room) {
      out += "\n" + std::string(margin, ' ');
      used = 0;
    }
    out += used > 0 ? " " : "";
    out += word;
    used += width + (used > 0 ? 1 : 0);
  }
  return out;
}

}  // namespace opdrift
