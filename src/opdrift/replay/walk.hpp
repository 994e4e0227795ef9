#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "opdrift/replay/array.hpp"

// Walking over a shape while several arrays keep their own place in it.
//
//   for every index (i0, ..., ik) in row-major order: place_j = start_j + sum_a i_a * strides_j[a]

namespace opdrift::replay {

/// A run of elements along the innermost axis: where each array stands at its first element, how
/// far it moves per element, and how many there are.
template <std::size_t N>
struct Row {
  std::array<std::int64_t, N> at{};
  std::array<std::int64_t, N> step{};
  std::size_t length = 0;
};

/// Neighbouring axes that every array crosses evenly become one, so that rows get long.
template <std::size_t N>
void merge_axes(tensor::Shape& shape, std::array<Strides, N>& strides) {
  std::size_t last = 0;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    const std::uint64_t extent = shape[axis];
    if (extent == 1) {
      continue;
    }
    bool even = true;
    for (const Strides& own : strides) {
      even = even && own[last] == own[axis] * static_cast<std::int64_t>(extent);
    }
    const bool merged = even || shape[last] == 1;
    last += merged ? 0 : 1;
    shape[last] = merged ? shape[last] * extent : extent;
    for (Strides& own : strides) {
      own[last] = own[axis];
    }
  }
  shape.resize(last + 1);
}

/// Calls `visit(const Row<N>&)` for every row of `shape`, in row-major order; never for an empty
/// shape. Every entry of `strides` has one distance per axis.
template <std::size_t N, typename Visit>
void walk(tensor::Shape shape, std::array<Strides, N> strides, Visit visit) {
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
    return;
  }
  if (shape.empty()) {
    shape.push_back(1);
    for (Strides& own : strides) {
      own.push_back(0);
    }
  }
  merge_axes(shape, strides);
  Row<N> row;
  const std::size_t inner = shape.size() - 1;
  row.length = shape[inner];
  for (std::size_t j = 0; j < N; ++j) {
    row.step[j] = strides[j][inner];
  }
  std::array<std::size_t, kMaxRank + 1> index{};
  while (true) {
    visit(row);
    std::size_t axis = inner;
    while (axis > 0) {
      --axis;
      ++index[axis];
      for (std::size_t j = 0; j < N; ++j) {
        row.at[j] += strides[j][axis];
      }
      if (index[axis] < shape[axis]) {
        break;
      }
      for (std::size_t j = 0; j < N; ++j) {
        row.at[j] -= strides[j][axis] * static_cast<std::int64_t>(shape[axis]);
      }
      index[axis] = 0;
      if (axis == 0) {
        return;
      }
    }
    if (inner == 0) {
      return;
    }
  }
}

/// out[row-major over shape] = source[start + sum of index * stride].
inline void copy_strided(const double* source, std::int64_t start, const tensor::Shape& shape,
                         const Strides& strides, double* out) {
  walk<1>(shape, {strides}, [&](const Row<1>& row) {
    const double* from = source + start + row.at[0];
    if (row.step[0] == 1) {
      out = std::copy_n(from, row.length, out);
      return;
    }
    for (std::size_t i = 0; i < row.length; ++i) {
      *out++ = from[static_cast<std::int64_t>(i) * row.step[0]];
    }
  });
}

}  // namespace opdrift::replay
