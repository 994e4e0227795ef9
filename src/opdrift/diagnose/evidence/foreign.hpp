#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/verdict/explain/fingerprints.hpp"
#include "opdrift/verdict/explanation.hpp"

/// Data of one tensor in the place of another: what overwritten memory and stale buffers leave
/// behind. Found by the fingerprints of all tensors of a dump (verdict/explain/fingerprints.hpp).
namespace opdrift::diagnose::evidence {

/// The sentences among `explanations` that name another tensor, or bytes of other data.
std::vector<std::string> foreign_data(const std::vector<verdict::Explanation>& explanations);

/// All tensors of one dump by their fingerprints.
class DumpFingerprints {
 public:
  /// Reads the dump once. Tensors that cannot be loaded are left out. Fails as index_dump does, and
  /// when cancelled.
  static Result<DumpFingerprints> read(const std::string& folder, std::size_t jobs,
                                       const CancelFlag* cancel);

  /// What the target of a pair holds of other tensors. `label` is its own ("conv1:output:0").
  std::vector<std::string> look_at(const pipeline::AlignedPair& pair,
                                   const std::string& label) const;

 private:
  verdict::TensorFingerprints known_;
};

}  // namespace opdrift::diagnose::evidence
