#include "opdrift/replay/product.hpp"

#include <algorithm>

#include <Eigen/Core>

#include "opdrift/base/check.hpp"

namespace opdrift::replay {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ColumnMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
using Spaced = Eigen::OuterStride<>;

Eigen::Index index(std::size_t value) {
  return static_cast<Eigen::Index>(value);
}

template <typename Left, typename Right>
void multiply_maps(const Left& left, const Right& right, double* c, bool add) {
  Eigen::Map<RowMajor> out(c, left.rows(), right.cols());
  if (add) {
    out.noalias() += left * right;
  } else {
    out.noalias() = left * right;
  }
}

// A matrix whose columns are dense is a column-major map with the row distance of 1.
bool row_major(const Matrix& matrix) {
  return matrix.column == 1;
}

Eigen::Map<const RowMajor, 0, Spaced> rows(const Matrix& x, std::size_t m, std::size_t n) {
  return {x.data, index(m), index(n), Spaced(index(x.row))};
}

Eigen::Map<const ColumnMajor, 0, Spaced> columns(const Matrix& x, std::size_t m, std::size_t n) {
  return {x.data, index(m), index(n), Spaced(index(x.column))};
}

}  // namespace

void multiply(std::size_t m, std::size_t n, std::size_t k, Matrix a, Matrix b, double* c,
              bool add) {
  OPDRIFT_CHECK((a.row == 1 || a.column == 1) && (b.row == 1 || b.column == 1));
  if (m == 0 || n == 0) {
    return;
  }
  if (k == 0) {
    if (!add) {
      std::fill_n(c, m * n, 0.0);
    }
    return;
  }
  if (row_major(a) && row_major(b)) {
    multiply_maps(rows(a, m, k), rows(b, k, n), c, add);
  } else if (row_major(a)) {
    multiply_maps(rows(a, m, k), columns(b, k, n), c, add);
  } else if (row_major(b)) {
    multiply_maps(columns(a, m, k), rows(b, k, n), c, add);
  } else {
    multiply_maps(columns(a, m, k), columns(b, k, n), c, add);
  }
}

}  // namespace opdrift::replay
