#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/pipeline/msprobe/api_sides.hpp"

/// Metrics of tensors saved beside dump.json, in the columns' order:
///
///   Cosine        n.b / (|n| |b|); 1 when both are zero, "Nan" when one is; above 0.9999 six
///                 decimals
///   EucDist       |n - b|
///   MaxAbsErr     max |n - b|
///   MaxRelativeErr, One Thousandth Err Ratio, Five Thousandths Err Ratio
///                 largest r, share of r < 0.001 and of r < 0.005; r as in
///                 metrics/algorithms/torch_pair.hpp
///
/// All but EucDist are rounded to twelve decimals.
namespace opdrift::pipeline {

/// A metric: a number, or a word in its place.
struct RealMetric {
  double number = 0.0;
  std::string_view word;  ///< "" for a number

  bool is_number() const { return word.empty(); }
};

struct RealRow {
  std::array<RealMetric, 6> metrics;
  std::vector<std::string> reasons;  ///< why something could not be compared, or what to mind
  bool compared = false;             ///< numbers came out
};

/// One row per pair of the match, in its order. Reads every pair of files once, in parallel.
std::vector<RealRow> measure_real_rows(const ApiSides& sides, const ApiCompareOptions& options);

}  // namespace opdrift::pipeline
