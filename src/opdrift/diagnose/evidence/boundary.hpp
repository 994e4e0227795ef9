#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Evidence about what enters and leaves the network.
namespace opdrift::diagnose::evidence {

/// Two folders of input_* and output_* of the same original data. Tensors pair by name; one that
/// has no partner, or cannot be compared, counts as NaN. Fails when a folder cannot be read, and
/// with not_found when there is no pair of inputs.
Result<flow::BoundaryFacts> compare_boundary(const std::string& online, const std::string& offline);

/// What AIPP makes against the golden's network inputs.
struct AippEvidence {
  std::optional<double> cosine;       ///< the worst; nothing when there is nothing to compare
  bool close = true;                  ///< relative L2 of all at most 1e-2
  std::vector<std::string> findings;  ///< of the classifier, with the keys to change
};

/// Outputs of the Aipp operators of a device dump and the network inputs of a golden dump, in
/// order. `config` is the AIPP file's path, "" when it is not known. Fails when that cannot be
/// read.
Result<AippEvidence> compare_aipp(const pipeline::DumpIndex& device,
                                  const pipeline::DumpIndex& golden, const std::string& config);

}  // namespace opdrift::diagnose::evidence
