#pragma once

#include <optional>

#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/metrics/measurement.hpp"

/// One comparison of two tensors as the flow wants it.
namespace opdrift::diagnose::evidence {

/// The number that stands for a pair of tensors:
///
///   both zero                        1
///   integers, bools                  1, or 0 with more than 0.1 % unequal elements
///   elements of different class      NaN
///   one side zero                    0
///   constant reference               1 - relative L2, at least 0
///   otherwise                        the cosine
double cosine_of(const metrics::Measurement& measurement);

/// Keeps the larger of two numbers; NaN never is.
void keep_larger(double value, std::optional<double>& kept);

/// Adds the numbers of one output to those of its operator; the worse ones stay.
void add_numbers(const metrics::Measurement& measurement, flow::OperatorNumbers& numbers);

}  // namespace opdrift::diagnose::evidence
