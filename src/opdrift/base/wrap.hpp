#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opdrift {

/// Breaks text between words so that it fits into `columns` behind a margin of `margin` columns:
/// every line but the first begins with that many blanks. Words wider than a line stand alone.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t margin);

}  // namespace opdrift
