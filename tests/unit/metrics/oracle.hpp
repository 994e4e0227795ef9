#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/view.hpp"

/// A slow twin of measure(): one loop, long double sums, written from the formulas of
/// measurement.hpp and kl.hpp.
namespace opdrift::metrics::testing {

struct OracleOptions {
  bool ulp = true;
  bool kl = false;
};

/// Measures decoded values. Dtypes give limits and the unit of distances.
Measurement oracle(tensor::DType golden_dtype, const std::vector<double>& golden,
                   tensor::DType target_dtype, const std::vector<double>& target,
                   const OracleOptions& options = {});

/// Fails the running test where `measured` differs from `expected` by more than the bounds the
/// headers promise.
void expect_close(const Measurement& measured, const Measurement& expected);

/// Every bit of the two.
void expect_identical(const Measurement& left, const Measurement& right);

/// Repeatable random bits.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  double uniform();  ///< in [-1, 1)

 private:
  std::uint64_t state_;
};

/// A flat view over values encoded in `dtype`, `shift` bytes off an aligned address.
tensor::View view_of(tensor::DType dtype, const std::vector<double>& values, std::size_t shift = 0);

/// The values that are left of `values` in `dtype`.
std::vector<double> stored_values(tensor::DType dtype, const std::vector<double>& values);

}  // namespace opdrift::metrics::testing
