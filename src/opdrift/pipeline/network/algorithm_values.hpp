#pragma once

#include <string>
#include <vector>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/pipeline/network/result.hpp"

namespace opdrift::pipeline {

/// What the algorithms want to know beside the measurement.
struct AlgorithmContext {
  std::string target_path;
  std::string golden_path;
  bool scalar = false;
  bool reference = false;
};

/// Texts of the named algorithms, in order; unknown names give NaN and a message.
std::vector<AlgorithmValue> algorithm_values(const std::vector<std::string>& names,
                                             const metrics::Measurement& measurement,
                                             const AlgorithmContext& context);

/// True when one of them needs the divergence, which costs a second pass.
bool needs_divergence(const std::vector<std::string>& names);

}  // namespace opdrift::pipeline
