#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::engine {

/// What nodes of taps.hpp talk to. Called on the thread that runs the model, in the order in which
/// nodes run; after the first failure no more.
struct RunHooks {
  /// A value was made. Both values lend their bytes until the function returns; `beside` is empty
  /// where the Tap has none.
  std::function<Status(std::size_t tap, const RunValue& value, const RunValue& beside)> show;
  std::vector<tensor::Shape> shapes;  ///< of the sources, by number
  /// Writes all of a source's bytes: dense, little-endian.
  std::function<Status(std::size_t source, std::span<std::byte> bytes)> fill;
};

/// A model with nodes of taps.hpp, ready to run. One thread at a time.
class TappedSession {
 public:
  TappedSession() = default;
  TappedSession(const TappedSession&) = delete;
  TappedSession& operator=(const TappedSession&) = delete;
  virtual ~TappedSession() = default;

  /// Runs once; the results stand in the order of `outputs`. Fails with what a hook fails with, and
  /// as Session::run does.
  virtual Result<std::vector<RunValue>> run(std::span<const NamedTensor> inputs,
                                            std::span<const std::string> outputs,
                                            const RunHooks& hooks) = 0;
};

/// Encodes and opens a model with taps. Fails as open_model does.
Result<std::unique_ptr<TappedSession>> open_tapped(Runtime& runtime, const PlacedModel& placed,
                                                   SessionOptions options);

}  // namespace opdrift::engine
