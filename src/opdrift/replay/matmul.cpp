#include "opdrift/replay/matmul.hpp"

#include <algorithm>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/product.hpp"
#include "opdrift/replay/walk.hpp"

namespace opdrift::replay {

namespace {

struct Place {
  std::size_t batch = 0;
  std::size_t i = 0;
  std::size_t j = 0;
};

Place place_of(const Product& product, std::uint64_t position) {
  const std::size_t size = product.m * product.n;
  return {position / size, position % size / product.n, position % product.n};
}

std::int64_t batch_start(const Product& product, const Operand& operand, std::size_t batch) {
  std::int64_t start = 0;
  for (std::size_t axis = product.batch.size(); axis-- > 0;) {
    const std::size_t extent = product.batch[axis];
    start += static_cast<std::int64_t>(batch % extent) * operand.batch[axis];
    batch /= extent;
  }
  return start;
}

// Eigen wants one distance of 1; operands of an Einsum may have none and are copied.
struct Dense {
  Matrix matrix;
  std::vector<double> copy;
};

Dense dense(const Operand& operand, std::int64_t start, std::size_t rows, std::size_t columns,
            std::int64_t row, std::int64_t column) {
  Dense result;
  // The distance along an axis of one element is free to choose.
  const std::int64_t own_row =
      rows == 1 ? (column == 1 ? static_cast<std::int64_t>(columns) : 1) : row;
  const std::int64_t own_column =
      columns == 1 ? (own_row == 1 ? static_cast<std::int64_t>(rows) : 1) : column;
  if ((own_row == 1 && own_column > 0) || (own_column == 1 && own_row > 0)) {
    result.matrix = {operand.array->values.data() + start, static_cast<std::size_t>(own_row),
                     static_cast<std::size_t>(own_column)};
    return result;
  }
  result.copy.resize(rows * columns);
  copy_strided(operand.array->values.data(), start, {rows, columns}, {row, column},
               result.copy.data());
  result.matrix = {result.copy.data(), columns, 1};
  return result;
}

/// The sum of `term` over the factors of one element.
template <typename Term>
double sum_at(const Product& product, std::uint64_t position, const double* left,
              const double* right, const Term& term) {
  const Place at = place_of(product, position);
  const double* a = left + batch_start(product, product.left, at.batch) +
                    static_cast<std::int64_t>(at.i) * product.left.free;
  const double* b = right + batch_start(product, product.right, at.batch) +
                    static_cast<std::int64_t>(at.j) * product.right.free;
  double sum = 0.0;
  for (std::size_t k = 0; k < product.k; ++k) {
    sum += term(*a, *b);
    a += product.left.reduced;
    b += product.right.reduced;
  }
  return sum;
}

double value_at(const Product& product, std::uint64_t position, const double* left,
                const double* right) {
  return product.scale *
         sum_at(product, position, left, right, [](double a, double b) { return a * b; });
}

double squares_at(const Product& product, std::uint64_t position, const double* left,
                  const double* right) {
  return product.scale * product.scale *
         sum_at(product, position, left, right, [](double a, double b) { return a * a * b * b; });
}

Product squares_of(const Product& product, const Array& left, const Array& right) {
  Product squares = with_arrays(product, left, right);
  squares.scale = product.scale * product.scale;
  return squares;
}

void add_to(std::vector<double>& sums, const std::vector<double>& more) {
  if (sums.empty()) {
    sums = more;
    return;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += more[i];
  }
}

bool fits(const Array* delta, const Array* array) {
  return delta != nullptr && delta->size() == array->size();
}

}  // namespace

Product with_arrays(const Product& product, const Array& left, const Array& right) {
  Product other = product;
  other.left.array = &left;
  other.right.array = &right;
  return other;
}

Result<Product> plan_matmul(const Call& call, const Array& left, const Array& right,
                            bool transpose_left, bool transpose_right) {
  if (left.rank() == 0 || right.rank() == 0) {
    return call.not_modelled("expected matrices, found a scalar");
  }
  // A vector is a row on the left and a column on the right; its axis leaves the result again.
  tensor::Shape a = left.shape;
  tensor::Shape b = right.shape;
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) {
    a.insert(a.begin(), 1);
  }
  if (column) {
    b.push_back(1);
  }
  const Strides a_strides = strides_of(a);
  const Strides b_strides = strides_of(b);
  const std::size_t a_rows = a.size() - (transpose_left && !row ? 1 : 2);
  const std::size_t a_columns = 2 * a.size() - 3 - a_rows;
  const std::size_t b_rows = b.size() - (transpose_right && !column ? 1 : 2);
  const std::size_t b_columns = 2 * b.size() - 3 - b_rows;
  if (a[a_columns] != b[b_rows]) {
    return call.not_modelled("inner extents differ: " + tensor::to_string(left.shape) + " times " +
                             tensor::to_string(right.shape));
  }
  Product product;
  product.m = a[a_rows];
  product.n = b[b_columns];
  product.k = a[a_columns];
  const tensor::Shape a_batch(a.begin(), a.end() - 2);
  const tensor::Shape b_batch(b.begin(), b.end() - 2);
  OPDRIFT_TRY(product.batch, broadcast_shape(a_batch, b_batch));
  const auto batch_strides = [&](const tensor::Shape& own, const Strides& full) {
    Strides strides(product.batch.size(), 0);
    const std::size_t missing = product.batch.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
      strides[i + missing] = own[i] == 1 ? 0 : full[i];
    }
    return strides;
  };
  product.left = {&left, batch_strides(a_batch, a_strides), a_strides[a_rows],
                  a_strides[a_columns]};
  product.right = {&right, batch_strides(b_batch, b_strides), b_strides[b_columns],
                   b_strides[b_rows]};
  product.shape = product.batch;
  if (!row) {
    product.shape.push_back(product.m);
  }
  if (!column) {
    product.shape.push_back(product.n);
  }
  return product;
}

Result<Array> run_product(const Call& call, const Product& product) {
  OPDRIFT_TRY(Array y, call.make(product.shape, product.left.array->dtype));
  OPDRIFT_CHECK_OK(call.check_work(y.size(), product.k));
  const std::size_t size = product.m * product.n;
  const std::size_t batches = size == 0 ? 0 : y.size() / size;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Dense a = dense(product.left, batch_start(product, product.left, batch), product.m,
                          product.k, product.left.free, product.left.reduced);
    const Dense b = dense(product.right, batch_start(product, product.right, batch), product.k,
                          product.n, product.right.reduced, product.right.free);
    multiply(product.m, product.n, product.k, a.matrix, b.matrix, y.values.data() + batch * size);
  }
  if (product.scale != 1.0) {
    for (double& value : y.values) {
      value *= product.scale;
    }
  }
  return y;
}

std::vector<double> run_product_at(const Product& product,
                                   std::span<const std::uint64_t> positions) {
  std::vector<double> values;
  values.reserve(positions.size());
  for (const std::uint64_t position : positions) {
    values.push_back(value_at(product, position, product.left.array->values.data(),
                              product.right.array->values.data()));
  }
  return values;
}

Result<Terms> product_terms(const Call& call, const Product& product, const Array* left_delta,
                            const Array* right_delta) {
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(product.k, 1));
  const Array left = squared(*product.left.array);
  const Array right = squared(*product.right.array);
  OPDRIFT_TRY(Array a2, run_product(call, squares_of(product, left, right)));
  terms.a2 = std::move(a2.values);
  if (fits(right_delta, product.right.array)) {
    const Array delta = squared(*right_delta);
    OPDRIFT_TRY(const Array w, run_product(call, squares_of(product, left, delta)));
    add_to(terms.weights, w.values);
  }
  if (fits(left_delta, product.left.array)) {
    const Array delta = squared(*left_delta);
    OPDRIFT_TRY(const Array w, run_product(call, squares_of(product, delta, right)));
    add_to(terms.weights, w.values);
  }
  return terms;
}

Terms product_terms_at(const Product& product, const Array* left_delta, const Array* right_delta,
                       std::span<const std::uint64_t> positions) {
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(product.k, 1));
  const double* left = product.left.array->values.data();
  const double* right = product.right.array->values.data();
  const bool left_narrow = fits(left_delta, product.left.array);
  const bool right_narrow = fits(right_delta, product.right.array);
  for (const std::uint64_t position : positions) {
    terms.a2.push_back(squares_at(product, position, left, right));
    double w = 0.0;
    w += right_narrow ? squares_at(product, position, left, right_delta->values.data()) : 0.0;
    w += left_narrow ? squares_at(product, position, left_delta->values.data(), right) : 0.0;
    if (left_narrow || right_narrow) {
      terms.weights.push_back(w);
    }
  }
  return terms;
}

}  // namespace opdrift::replay
