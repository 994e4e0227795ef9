#include "opdrift/diagnose/evidence/cosines.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/tensor/dtype.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kMostUnequal = 1e-3;

bool is_exact(tensor::DType dtype) {
  const tensor::DTypeKind kind = tensor::info(dtype).kind;
  return kind == tensor::DTypeKind::signed_int || kind == tensor::DTypeKind::unsigned_int ||
         kind == tensor::DTypeKind::boolean;
}

void keep_smaller(double value, std::optional<double>& kept) {
  if (!std::isnan(value) && (!kept || value < *kept)) {
    kept = value;
  }
}

std::uint64_t nonfinite(const metrics::SideStats& side) {
  return side.classes.nan + side.classes.positive_inf + side.classes.negative_inf;
}

double absmax(const metrics::SideStats& side) {
  return side.finite == 0 ? metrics::kNan : side.max_abs();
}

}  // namespace

void keep_larger(double value, std::optional<double>& kept) {
  if (!std::isnan(value) && (!kept || value > *kept)) {
    kept = value;
  }
}

double cosine_of(const metrics::Measurement& m) {
  if (is_exact(m.golden.dtype) && is_exact(m.target.dtype)) {
    const double unequal =
        m.count == 0 ? 0.0
                     : static_cast<double>(m.count - m.equal_bits) / static_cast<double>(m.count);
    return unequal > kMostUnequal ? 0.0 : 1.0;
  }
  if (m.class_mismatches > 0) {
    return metrics::kNan;
  }
  const bool zero_golden = m.sum_golden2 == 0.0;
  const bool zero_target = m.sum_target2 == 0.0;
  if (zero_golden || zero_target) {
    return zero_golden && zero_target ? 1.0 : 0.0;
  }
  if (m.count > 1 && m.golden.min == m.golden.max) {
    return std::max(0.0, 1.0 - m.relative_l2());
  }
  return 1.0 - m.one_minus_cosine();
}

void add_numbers(const metrics::Measurement& m, flow::OperatorNumbers& n) {
  keep_larger(m.max_abs.value, n.max_abs);
  keep_larger(m.relative_l2(), n.relative_l2);
  keep_smaller(m.golden.min, n.ref_min);
  keep_larger(m.golden.max, n.ref_max);
  keep_smaller(m.target.min, n.cand_min);
  keep_larger(m.target.max, n.cand_max);
  keep_larger(absmax(m.golden), n.ref_absmax);
  keep_larger(absmax(m.target), n.cand_absmax);
  const std::uint64_t made = nonfinite(m.target);
  const std::uint64_t had = nonfinite(m.golden);
  if (made > had) {
    n.nonfinite = n.nonfinite.value_or(0.0) + static_cast<double>(made - had);
  }
}

}  // namespace opdrift::diagnose::evidence
