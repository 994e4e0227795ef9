// Stands in for onnxruntime.cpp where the headers of ONNX Runtime were not there at build time.
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/tapped_session.hpp"

namespace opdrift::engine {

Result<std::shared_ptr<Runtime>> Runtime::load(const std::string& /*library*/) {
  return Error{ErrorCode::unsupported,
               "this opdrift was built without the headers of ONNX Runtime and cannot run models. "
               "Run `tools/setup.sh engine` (or install libonnxruntime-dev) and build again"};
}

Result<std::unique_ptr<TappedSession>> open_tapped(Runtime& /*runtime*/,
                                                   const PlacedModel& /*placed*/,
                                                   SessionOptions /*options*/) {
  return Error{ErrorCode::unsupported, "this opdrift was built without ONNX Runtime"};
}

}  // namespace opdrift::engine
