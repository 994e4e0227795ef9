#pragma once

#include <cstddef>

// Dense products in double through Eigen, the only place that includes it.
//
//   C[i, j] (+)= sum_k A[i, k] * B[k, j]

namespace opdrift::replay {

/// A matrix in memory: element (i, j) at data[i * row + j * column].
struct Matrix {
  const double* data = nullptr;
  std::size_t row = 0;
  std::size_t column = 1;
};

/// Writes (or adds to) the row-major m x n matrix `c`. k may be 0. Either matrix must have one of
/// its distances equal to 1.
void multiply(std::size_t m, std::size_t n, std::size_t k, Matrix a, Matrix b, double* c,
              bool add = false);

}  // namespace opdrift::replay
