#pragma once

#include <optional>
#include <span>
#include <string>

#include "opdrift/verdict/explain/fingerprints.hpp"
#include "opdrift/verdict/explain/refit.hpp"

// Hypotheses about a part of the tensor that holds other data, everything else being right:
//   other tensor   every byte is that of a tensor of the index, or of a part of one
//   overwritten    up to 8 ranges of bytes, half of the tensor at most, that are those of another
//                  tensor, or zeros, or not correlated with the base (r < 0.9) and no single slice
//                  of an axis, which an operator could have made
//   padding only   the last or first indices of an axis, or the last elements read flat, half of
//   the
//                  tensor at most, not correlated with the base either
// The refit is the base outside the part and the target inside it.

namespace opdrift::verdict::refit {

/// What the target holds is known from this index, if there is one.
struct KnownTensors {
  const TensorFingerprints* index = nullptr;
  std::span<const std::string> without;  ///< labels that do not count
  std::span<const std::string> inputs;   ///< labels of what the operator reads
};

Candidates other_tensor_candidates(const Evidence& evidence, const KnownTensors& known);
Candidates overwritten_candidates(const Evidence& evidence, const KnownTensors& known);
Candidates padding_candidates(const Evidence& evidence);
/// Those of the above that hold zeros: simpler than a channel "scaled by 0".
Candidates zero_padding_candidates(const Evidence& evidence);

}  // namespace opdrift::verdict::refit
