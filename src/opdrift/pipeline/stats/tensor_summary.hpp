#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/metrics/sketch.hpp"
#include "opdrift/pipeline/stats/stats_record.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/gates.hpp"

/// What is left of a tensor of which only statistics were kept, and the weaker comparison of two
/// such. g and t stand for golden and target, n for the element count:
///
///   relative L2   estimated by the sketches when both sides have one, else at least
///                   max( ||t| - |g||, sqrt(n) |mean t - mean g|, |max t - max g|, |min t - min g|
///                   ) / |g|
///                 because every term is a lower bound of |t - g|
///   extremes      max(|max t - max g|, |min t - min g|) / max(|max g|, |min g|)
///   classes       difference of the counts of NaN, +Inf and -Inf, where they are known
///   check sums    equal: every element agrees as far as a check sum can tell
///
/// Tensors of which nothing but the extremes was kept on purpose are asked these one by one, by a
/// limit of their own:
///
///   |max t - max g| / |max g|  and  |min t - min g| / |min g|   at most `extremes_limit`
///
/// A number that one side lacks is not asked. Statistics can only accuse: that they agree does not
/// show that the tensors do, so a result never says that bits are equal.
namespace opdrift::pipeline {

struct TensorSummary {
  tensor::DType dtype = tensor::DType::raw;
  tensor::Shape shape;
  std::uint64_t count = 0;
  bool count_known = true;  ///< false for tensors reduced to their extremes
  // Over the finite elements when `classes` are known, else as the dump tells them.
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> mean;
  std::optional<double> l2;
  std::optional<metrics::ClassCounts> classes;
  std::optional<double> extremes_limit;  ///< of dumps reduced to extremes
  std::string checksum;  ///< "" when not recorded; a text for values that are no numbers
  std::shared_ptr<const metrics::Sketch> sketch;
};

TensorSummary summary_of(const TensorRecord& record);

/// What is known, in the form of a measured tensor; NaN for what is not.
metrics::SideStats side_stats(const TensorSummary& summary);

/// Reads a tensor that is there, for comparison with one that is not.
Result<TensorSummary> summarise(const tensor::View& view);

/// Outcome of comparing two summaries. The measurement holds what is known and NaN elsewhere.
struct SummaryComparison {
  metrics::Measurement measurement;
  bool passed = false;
  std::string reason;  ///< "" when passed
};

/// Fails with mismatch when the shapes hold different numbers of elements, with unsupported when
/// the two sides have no statistic in common.
Result<SummaryComparison> compare_summaries(const TensorSummary& golden,
                                            const TensorSummary& target,
                                            const verdict::Gates& gates);

}  // namespace opdrift::pipeline
