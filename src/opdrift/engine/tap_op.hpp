#pragma once

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <memory>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/tapped_session.hpp"

namespace opdrift::engine {

/// The kernels of the nodes that taps.hpp adds, for one session.
///
///   Tap(value, token?, beside?) -> token      shows `value` to RunHooks::show
///   Source<n>() -> tensor of element type n   has it filled by RunHooks::fill
///
/// Must outlive the session. Functions may throw Ort::Exception.
class TapDomain {
 public:
  explicit TapDomain(unsigned api_version);
  TapDomain(const TapDomain&) = delete;
  TapDomain& operator=(const TapDomain&) = delete;
  ~TapDomain();

  OrtCustomOpDomain* domain() const;

  /// Makes the kernels talk to `hooks` and end `run` after the first failure.
  void begin(const RunHooks& hooks, Ort::RunOptions& run);
  /// The first failure of a hook since `begin`.
  Status end();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace opdrift::engine
