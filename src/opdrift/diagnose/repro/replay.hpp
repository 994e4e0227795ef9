#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose {

struct ReplayOptions {
  std::string bundle;   ///< folder or zip
  std::string library;  ///< of ONNX Runtime
  pipeline::CompareOptions compare;
};

struct Replay {
  std::string operator_name;
  std::string operator_type;
  std::string library_version;              ///< of ONNX Runtime; "" when it did not run
  std::string not_run;                      ///< why it did not; "" when it did
  std::vector<engine::OutputCheck> checks;  ///< the golden outputs against those made now
  verdict::RunResult compared;              ///< target against golden
};

/// Runs the operator of a bundle on its golden inputs, compares what comes out with the golden
/// outputs, and the target with the golden. An operator that ONNX Runtime cannot run, or a missing
/// library, leaves `not_run`; the comparison is made all the same. Fails as OpenBundle::open does,
/// with bad_json or malformed for a description or a model that cannot be read, and as
/// compare_dumps does.
Result<Replay> replay_repro(const ReplayOptions& options);

}  // namespace opdrift::diagnose
