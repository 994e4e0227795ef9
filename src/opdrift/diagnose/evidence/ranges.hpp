#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/pipeline/align_pair.hpp"

/// What a second look at the two tensors of an operator that differs tells: is it the range of
/// float16, and where do they differ?
namespace opdrift::diagnose::evidence {

struct RangeCounts {
  std::uint64_t count = 0;
  std::uint64_t over = 0;       ///< finite |reference| > 65504
  std::uint64_t saturated = 0;  ///< |candidate| = 65504
  std::uint64_t flushed = 0;    ///< 0 < |reference| < 2^-14 and the candidate is 0
};

/// Fails with unsupported_dtype.
Result<RangeCounts> count_ranges(const pipeline::AlignedPair& pair);

/// Adds the counts of one output to the numbers of its operator.
void add_ranges(const RangeCounts& counts, flow::OperatorNumbers& numbers);

/// Where two tensors differ, in words: the first element, then the intervals (gaps of up to 64
/// elements bridged, the first four), and whether all of them begin at multiples of 32 bytes.
/// Fails with unsupported_dtype.
Result<std::vector<std::string>> describe_places(const pipeline::AlignedPair& pair);

}  // namespace opdrift::diagnose::evidence
