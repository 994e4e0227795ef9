#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/tensor.hpp"

/// ONNX Runtime, loaded while running. Nothing links against it: see library_search.hpp for where
/// it is found. All of its exceptions end in onnxruntime.cpp and come out as errors.
namespace opdrift::engine {

/// How much ONNX Runtime may rewrite the graph before running it.
enum class Optimization : std::uint8_t { none, basic, extended, all };

std::string_view to_string(Optimization level);
std::optional<Optimization> optimization_by_name(std::string_view name);

struct SessionOptions {
  Optimization optimization = Optimization::none;
  std::string provider = "cpu";  ///< "cuda", "cann", or a name ONNX Runtime knows
  unsigned threads = 0;          ///< 0: as many as the library likes
  std::string external_folder;   ///< of external data, for models that come from memory
  std::vector<std::string> disabled_optimizers;  ///< by the library's names
  std::string save_optimized;  ///< path for the rewritten model; weights in `<path>.weights`
};

/// A tensor going into a session; dense, little-endian.
struct NamedTensor {
  std::string name;
  tensor::Tensor tensor;
};

/// What came out under one name.
struct RunValue {
  io::onnx::ValueKind kind = io::onnx::ValueKind::unknown;
  std::optional<tensor::Tensor> tensor;  ///< owns its bytes; set when they are numbers
  std::string reason;                    ///< why there is no tensor
};

/// A loaded model, ready to run. One thread at a time.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session();

  /// Name, kind, element type and shape as ONNX Runtime inferred them. `message` is empty.
  virtual const std::vector<io::onnx::ValueInfo>& inputs() const = 0;
  virtual const std::vector<io::onnx::ValueInfo>& outputs() const = 0;

  /// Runs once; the results stand in the order of `outputs`. Fails with invalid_argument when the
  /// library refuses the inputs, out_of_memory, or unsupported for all other failures of a kernel.
  virtual Result<std::vector<RunValue>> run(std::span<const NamedTensor> inputs,
                                            std::span<const std::string> outputs) = 0;
};

/// The loaded library. Stays loaded until the process ends. Safe from several threads.
class Runtime {
 public:
  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime();

  /// Fails with not_found (no library; the message says how to get one) or unsupported (too old, or
  /// built without the engine).
  static Result<std::shared_ptr<Runtime>> load(const std::string& library = {});

  virtual const std::string& version() const = 0;       ///< "1.30.0"
  virtual const std::string& library_path() const = 0;  ///< as given to the system loader
  virtual unsigned api_version() const = 0;             ///< of the interface in use
  virtual std::vector<std::string> providers() const = 0;

  /// Fails with unsupported (operator, provider), malformed (model), not_found and so on.
  virtual Result<std::unique_ptr<Session>> open(ByteSpan model, const SessionOptions& options) = 0;
  /// External data is found beside the file.
  virtual Result<std::unique_ptr<Session>> open_file(const std::string& path,
                                                     const SessionOptions& options) = 0;
};

}  // namespace opdrift::engine
