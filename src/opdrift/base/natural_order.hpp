#pragma once

#include <string_view>

namespace opdrift {

/// Order of names for people: runs of digits count as numbers, so "step9" is before "step10".
/// Leading zeros decide where all else is equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace opdrift
