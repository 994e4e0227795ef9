#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace opdrift::verdict::judging {

/// The median, the upper one where there are two; 0 of nothing. Reorders the values.
inline double median_of(std::vector<double>& values) {
  if (values.empty()) {
    return 0.0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace opdrift::verdict::judging
