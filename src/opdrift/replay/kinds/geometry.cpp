#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// AffineGrid: the points theta (x, y[, z], 1) of an even grid over [-1, 1], and determinants.

namespace opdrift::replay {

namespace {

/// A planned AffineGrid over two or three axes.
struct Grid {
  const Array* theta = nullptr;
  std::size_t axes = 2;
  std::vector<std::vector<double>> points;  ///< per axis, outermost first
  tensor::Shape shape;                      ///< of the result
};

std::vector<double> even_points(std::size_t count, bool align) {
  const auto n = static_cast<double>(count);
  std::vector<double> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i);
    points.push_back(align ? (count == 1 ? 0.0 : 2.0 * at / (n - 1.0) - 1.0)
                           : (2.0 * at + 1.0) / n - 1.0);
  }
  return points;
}

Result<Grid> grid_of(const Call& call) {
  Grid grid;
  OPDRIFT_TRY(grid.theta, call.need(0, "theta"));
  OPDRIFT_TRY(const Array* size, call.need(1, "size"));
  OPDRIFT_TRY(const auto extents, integers_of(*size));
  if (extents.size() != 4 && extents.size() != 5) {
    return call.not_modelled("expected two or three spatial axes");
  }
  grid.axes = extents.size() - 2;
  const tensor::Shape expected = {grid.theta->rank() == 0 ? 0 : grid.theta->shape[0], grid.axes,
                                  grid.axes + 1};
  if (grid.theta->shape != expected || extents[0] != static_cast<std::int64_t>(expected[0])) {
    return call.not_modelled("matrices of shape " + tensor::to_string(grid.theta->shape));
  }
  const bool align = call.integer({"align_corners"}, 0) != 0;
  grid.shape = {expected[0]};
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    const std::int64_t extent = extents[axis + 2];
    if (extent < 1 || extent > std::int64_t{1} << 24) {
      return call.not_modelled("an extent is out of range");
    }
    grid.shape.push_back(static_cast<std::uint64_t>(extent));
    grid.points.push_back(even_points(static_cast<std::size_t>(extent), align));
  }
  grid.shape.push_back(grid.axes);
  return grid;
}

// Sums over products of a matrix row with a point, whose coordinates run from the innermost axis.
template <typename Term>
Result<Array> summed(const Call& call, const Grid& grid, Term term) {
  OPDRIFT_TRY(Array y, call.make(grid.shape, grid.theta->dtype));
  const std::size_t plane = y.size() / std::max<std::size_t>(grid.shape[0], 1);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t matrix = at / plane * grid.axes + at % grid.axes;
    const double* row = grid.theta->values.data() + matrix * (grid.axes + 1);
    std::size_t rest = at % plane / grid.axes;
    double sum = term(row[grid.axes], 1.0);
    for (std::size_t axis = grid.axes; axis-- > 0;) {
      const std::vector<double>& points = grid.points[axis];
      sum += term(row[grid.axes - 1 - axis], points[rest % points.size()]);
      rest /= points.size();
    }
    y.values[at] = sum;
  }
  return y;
}

// Gaussian elimination with the largest pivot of a column; the matrix is consumed.
double determinant_of(std::vector<double>& m, std::size_t n) {
  double product = 1.0;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t best = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      best = std::abs(m[row * n + column]) > std::abs(m[best * n + column]) ? row : best;
    }
    const double pivot = m[best * n + column];
    if (pivot == 0.0) {
      return 0.0;
    }
    if (best != column) {
      std::swap_ranges(m.begin() + static_cast<std::ptrdiff_t>(best * n),
                       m.begin() + static_cast<std::ptrdiff_t>((best + 1) * n),
                       m.begin() + static_cast<std::ptrdiff_t>(column * n));
      product = -product;
    }
    product *= pivot;
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = m[row * n + column] / pivot;
      for (std::size_t k = column; k < n; ++k) {
        m[row * n + k] -= factor * m[column * n + k];
      }
    }
  }
  return product;
}

Result<std::size_t> matrix_side(const Call& call, const Array& x) {
  if (x.rank() < 2 || x.shape[x.rank() - 1] != x.shape[x.rank() - 2] || x.shape.back() == 0) {
    return call.not_modelled("expected square matrices");
  }
  const std::size_t n = x.shape.back();
  OPDRIFT_CHECK_OK(call.check_work(x.size(), n));
  return n;
}

}  // namespace

Result<Outputs> affine_grid(const Call& call) {
  OPDRIFT_TRY(const Grid grid, grid_of(call));
  OPDRIFT_TRY(Array y, summed(call, grid, [](double w, double x) { return w * x; }));
  return one_output(std::move(y));
}

// The points themselves are rounded, once or twice.
Result<Terms> affine_grid_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Grid grid, grid_of(call));
  OPDRIFT_TRY(Array squares, summed(call, grid, [](double w, double x) { return w * w * x * x; }));
  OPDRIFT_TRY(Array rounded, summed(call, grid, [](double w, double) { return w * w; }));
  Terms terms;
  terms.n = static_cast<double>(grid.axes + 1);
  terms.a2 = std::move(squares.values);
  terms.extra = std::move(rounded.values);
  return terms;
}

Result<Outputs> determinant(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const std::size_t n, matrix_side(call, *x));
  OPDRIFT_TRY(Array y, call.make({x->shape.begin(), x->shape.end() - 2}, x->dtype));
  for (std::size_t at = 0; at < y.size(); ++at) {
    const auto first = x->values.begin() + static_cast<std::ptrdiff_t>(at * n * n);
    std::vector<double> matrix(first, first + static_cast<std::ptrdiff_t>(n * n));
    y.values[at] = determinant_of(matrix, n);
  }
  return one_output(std::move(y));
}

// What is cancelled may be as large as the product of the lengths of the rows (Hadamard).
Result<Terms> determinant_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const std::size_t n, matrix_side(call, *x));
  Terms terms;
  terms.n = static_cast<double>(n);
  for (std::size_t at = 0; at < y.size(); ++at) {
    double bound = 1.0;
    for (std::size_t row = 0; row < n; ++row) {
      double squares = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const double value = x->values[(at * n + row) * n + k];
        squares += value * value;
      }
      bound *= squares;
    }
    terms.a2.push_back(bound);
  }
  return terms;
}

}  // namespace opdrift::replay
