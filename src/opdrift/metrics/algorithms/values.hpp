#pragma once

#include "opdrift/metrics/algorithms/algorithm.hpp"

/// The algorithms, each in a file of its name. Formulas: docs/metrics.md and the rows of
/// registry.cpp; x target, y golden.
namespace opdrift::metrics {

AlgorithmValue cosine_similarity(const AlgorithmInput& input);
AlgorithmValue max_absolute_error(const AlgorithmInput& input);
AlgorithmValue accumulated_relative_error(const AlgorithmInput& input);
AlgorithmValue relative_euclidean_distance(const AlgorithmInput& input);
AlgorithmValue kullback_leibler_divergence(const AlgorithmInput& input);
AlgorithmValue standard_deviation(const AlgorithmInput& input);
AlgorithmValue mean_absolute_error(const AlgorithmInput& input);
AlgorithmValue root_mean_square_error(const AlgorithmInput& input);
AlgorithmValue max_relative_error(const AlgorithmInput& input);
AlgorithmValue mean_relative_error(const AlgorithmInput& input);

AlgorithmValue relative_l2(const AlgorithmInput& input);
AlgorithmValue sqnr(const AlgorithmInput& input);
AlgorithmValue one_minus_cosine(const AlgorithmInput& input);
AlgorithmValue max_scaled_error(const AlgorithmInput& input);
AlgorithmValue bias(const AlgorithmInput& input);
AlgorithmValue equal_bits(const AlgorithmInput& input);
AlgorithmValue within_one_thousandth(const AlgorithmInput& input);
AlgorithmValue within_five_thousandths(const AlgorithmInput& input);
AlgorithmValue ulp_max(const AlgorithmInput& input);
AlgorithmValue ulp_median(const AlgorithmInput& input);
AlgorithmValue ulp_99_percent(const AlgorithmInput& input);

}  // namespace opdrift::metrics
