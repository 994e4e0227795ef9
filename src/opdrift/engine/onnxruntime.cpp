#include "opdrift/engine/onnxruntime.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/engine/library_search.hpp"
#include "opdrift/engine/library_values.hpp"
#include "opdrift/engine/round_op.hpp"
#include "opdrift/engine/tap_op.hpp"
#include "opdrift/engine/tapped_session.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

using io::onnx::ValueInfo;
using io::onnx::ValueKind;

// The oldest interface with everything used here (ONNX Runtime 1.14, February 2023).
constexpr unsigned kOldestApi = 14;

ErrorCode code_of(OrtErrorCode code) {
  switch (code) {
    case ORT_INVALID_ARGUMENT: return ErrorCode::invalid_argument;
    case ORT_NO_SUCHFILE:
    case ORT_NO_MODEL: return ErrorCode::not_found;
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH: return ErrorCode::malformed;
    default: return ErrorCode::unsupported;
  }
}

/// The room's only door for exceptions.
template <typename T, typename Body>
Result<T> guarded(const std::string& what, Body body) {
  try {
    return body();
  } catch (const Ort::Exception& error) {
    return Error{code_of(error.GetOrtErrorCode()), what + ": " + printable(error.what())};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, what + ": not enough memory"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, what + ": " + printable(error.what())};
  }
}

ValueInfo describe(std::string name, const Ort::TypeInfo& type) {
  ValueInfo info;
  info.name = std::move(name);
  info.kind = kind_of(type.GetONNXType());
  if (info.kind != ValueKind::tensor) {
    return info;
  }
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  info.element_type = static_cast<int>(tensor.GetElementType());
  const std::vector<std::int64_t> extents = tensor.GetShape();
  std::vector<const char*> symbols(extents.size(), nullptr);
  tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  auto& shape = info.shape.emplace();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    io::onnx::Dim dim;
    if (extents[i] >= 0) {
      dim.value = static_cast<std::uint64_t>(extents[i]);
    } else if (symbols[i] != nullptr) {
      dim.symbol = symbols[i];
    }
    shape.push_back(std::move(dim));
  }
  return info;
}

RunValue take_value(Ort::Value&& value) {
  const auto owner = std::make_shared<const Ort::Value>(std::move(value));
  RunValue taken = borrow_value(owner->GetConst());
  if (taken.tensor) {
    taken.tensor->bytes.owner = owner;
  }
  return taken;
}

/// The library does not write to inputs, though its interface asks for non-const pointers.
Ort::Value borrow(const tensor::Tensor& tensor) {
  static std::byte nothing{};
  std::vector<std::int64_t> shape(tensor.desc.shape.begin(), tensor.desc.shape.end());
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  auto* data = const_cast<std::byte*>(tensor.bytes.span.data());
  const auto type =
      static_cast<ONNXTensorElementDataType>(io::onnx::data_type_of(tensor.desc.dtype));
  return Ort::Value::CreateTensor(memory, data == nullptr ? &nothing : data,
                                  tensor.bytes.span.size(), shape.data(), shape.size(), type);
}

class LoadedSession final : public Session {
 public:
  LoadedSession(Ort::Session session, std::shared_ptr<Runtime> runtime)
      : runtime_(std::move(runtime)), session_(std::move(session)) {
    Ort::AllocatorWithDefaultOptions allocator;
    for (std::size_t i = 0; i < session_.GetInputCount(); ++i) {
      const auto name = session_.GetInputNameAllocated(i, allocator);
      inputs_.push_back(describe(name.get(), session_.GetInputTypeInfo(i)));
    }
    for (std::size_t i = 0; i < session_.GetOutputCount(); ++i) {
      const auto name = session_.GetOutputNameAllocated(i, allocator);
      outputs_.push_back(describe(name.get(), session_.GetOutputTypeInfo(i)));
    }
  }

  const std::vector<ValueInfo>& inputs() const override { return inputs_; }
  const std::vector<ValueInfo>& outputs() const override { return outputs_; }

  Result<std::vector<RunValue>> run(std::span<const NamedTensor> inputs,
                                    std::span<const std::string> outputs) override {
    return run(inputs, outputs, Ort::RunOptions{nullptr});
  }

  Result<std::vector<RunValue>> run(std::span<const NamedTensor> inputs,
                                    std::span<const std::string> outputs,
                                    const Ort::RunOptions& options) {
    return guarded<std::vector<RunValue>>("ONNX Runtime could not run the model",
                                          [&] { return run_guarded(inputs, outputs, options); });
  }

 private:
  std::vector<RunValue> run_guarded(std::span<const NamedTensor> inputs,
                                    std::span<const std::string> outputs,
                                    const Ort::RunOptions& options) {
    std::vector<const char*> input_names;
    std::vector<Ort::Value> values;
    for (const NamedTensor& input : inputs) {
      input_names.push_back(input.name.c_str());
      values.push_back(borrow(input.tensor));
    }
    std::vector<const char*> output_names;
    output_names.reserve(outputs.size());
    for (const std::string& output : outputs) {
      output_names.push_back(output.c_str());
    }
    std::vector<Ort::Value> results =
        session_.Run(options, input_names.data(), values.data(), values.size(), output_names.data(),
                     output_names.size());
    std::vector<RunValue> taken;
    taken.reserve(results.size());
    for (Ort::Value& result : results) {
      taken.push_back(take_value(std::move(result)));
    }
    return taken;
  }

  std::shared_ptr<Runtime> runtime_;
  Ort::Session session_;
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

class LoadedTappedSession final : public TappedSession {
 public:
  LoadedTappedSession(std::unique_ptr<TapDomain> taps, Ort::Session session,
                      std::shared_ptr<Runtime> runtime)
      : taps_(std::move(taps)), session_(std::move(session), std::move(runtime)) {}

  Result<std::vector<RunValue>> run(std::span<const NamedTensor> inputs,
                                    std::span<const std::string> outputs,
                                    const RunHooks& hooks) override {
    OPDRIFT_TRY(Ort::RunOptions options,
                guarded<Ort::RunOptions>("ONNX Runtime", [] { return Ort::RunOptions(); }));
    taps_->begin(hooks, options);
    Result<std::vector<RunValue>> values = session_.run(inputs, outputs, options);
    OPDRIFT_CHECK_OK(taps_->end());
    return values;
  }

 private:
  std::unique_ptr<TapDomain> taps_;  // outlives the session, which keeps pointing to it
  LoadedSession session_;
};

GraphOptimizationLevel level_of(Optimization level) {
  switch (level) {
    case Optimization::basic: return ORT_ENABLE_BASIC;
    case Optimization::extended: return ORT_ENABLE_EXTENDED;
    case Optimization::all: return ORT_ENABLE_ALL;
    case Optimization::none: break;
  }
  return ORT_DISABLE_ALL;
}

void append_cuda(Ort::SessionOptions& options) {
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateCUDAProviderOptions(&cuda));
  const std::unique_ptr<OrtCUDAProviderOptionsV2, void (*)(OrtCUDAProviderOptionsV2*)> owner(
      cuda, [](auto* p) { Ort::GetApi().ReleaseCUDAProviderOptions(p); });
  options.AppendExecutionProvider_CUDA_V2(*cuda);
}

void append_cann(Ort::SessionOptions& options) {
  OrtCANNProviderOptions* cann = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateCANNProviderOptions(&cann));
  const std::unique_ptr<OrtCANNProviderOptions, void (*)(OrtCANNProviderOptions*)> owner(
      cann, [](auto* p) { Ort::GetApi().ReleaseCANNProviderOptions(p); });
  options.AppendExecutionProvider_CANN(*cann);
}

struct Provider {
  std::string_view name;
  std::string_view library_name;
  void (*append)(Ort::SessionOptions&);
};

constexpr Provider kProviders[] = {
    {"cpu", "CPUExecutionProvider", nullptr},
    {"cuda", "CUDAExecutionProvider", &append_cuda},
    {"cann", "CANNExecutionProvider", &append_cann},
};

void append_provider(Ort::SessionOptions& options, const std::string& name) {
  for (const Provider& provider : kProviders) {
    if (provider.name == to_lower(name)) {
      if (provider.append != nullptr) {
        provider.append(options);
      }
      return;
    }
  }
  options.AppendExecutionProvider(name, {});
}

Ort::SessionOptions library_options(const SessionOptions& options, unsigned api_version) {
  Ort::SessionOptions out;
  out.Add(rounding_domain(api_version));
  out.SetGraphOptimizationLevel(level_of(options.optimization));
  if (!options.disabled_optimizers.empty()) {
    out.AddConfigEntry("optimization.disable_specified_optimizers",
                       join(options.disabled_optimizers, ";").c_str());
  }
  out.SetExecutionMode(ORT_SEQUENTIAL);
  if (options.threads > 0) {
    out.SetIntraOpNumThreads(static_cast<int>(options.threads));
  }
  append_provider(out, options.provider);
  if (!options.external_folder.empty()) {
    out.AddConfigEntry("session.model_external_initializers_file_folder_path",
                       options.external_folder.c_str());
  }
  if (!options.save_optimized.empty()) {
    out.SetOptimizedModelFilePath(options.save_optimized.c_str());
    const std::string::size_type slash = options.save_optimized.rfind('/');
    const std::string weights = options.save_optimized.substr(slash + 1) + ".weights";
    out.AddConfigEntry("session.optimized_model_external_initializers_file_name", weights.c_str());
    out.AddConfigEntry("session.optimized_model_external_initializers_min_size_in_bytes", "1024");
  }
  return out;
}

class LoadedRuntime final : public Runtime, public std::enable_shared_from_this<LoadedRuntime> {
 public:
  LoadedRuntime(std::string path, std::string version, unsigned api)
      : path_(std::move(path)),
        version_(std::move(version)),
        api_(api),
        // Errors come back as exceptions; the library's own log would only repeat them.
        env_(ORT_LOGGING_LEVEL_FATAL, "opdrift") {}

  const std::string& version() const override { return version_; }
  const std::string& library_path() const override { return path_; }
  unsigned api_version() const override { return api_; }
  std::vector<std::string> providers() const override {
    return guarded<std::vector<std::string>>("ONNX Runtime",
                                             [] { return Ort::GetAvailableProviders(); })
        .value_or(std::vector<std::string>{});
  }

  Result<std::unique_ptr<Session>> open(ByteSpan model, const SessionOptions& options) override {
    return open_with(options, [&](const Ort::SessionOptions& o) {
      return Ort::Session(env_, model.data(), model.size(), o);
    });
  }

  Result<std::unique_ptr<Session>> open_file(const std::string& path,
                                             const SessionOptions& options) override {
    Result<std::unique_ptr<Session>> session = open_with(
        options, [&](const Ort::SessionOptions& o) { return Ort::Session(env_, path.c_str(), o); });
    if (!session) {
      session.error().path = path;
    }
    return session;
  }

  Result<std::unique_ptr<TappedSession>> open_tapped(ByteSpan model,
                                                     const SessionOptions& options) {
    OPDRIFT_CHECK_OK(check_provider(options.provider));
    return guarded<std::unique_ptr<TappedSession>>(kNotLoaded, [&] {
      auto taps = std::make_unique<TapDomain>(api_);
      Ort::SessionOptions wanted = library_options(options, api_);
      wanted.Add(taps->domain());
      Ort::Session session(env_, model.data(), model.size(), wanted);
      return std::unique_ptr<TappedSession>(std::make_unique<LoadedTappedSession>(
          std::move(taps), std::move(session), shared_from_this()));
    });
  }

 private:
  static constexpr const char* kNotLoaded = "ONNX Runtime could not load the model";

  template <typename Maker>
  Result<std::unique_ptr<Session>> open_with(const SessionOptions& options, Maker make) {
    OPDRIFT_CHECK_OK(check_provider(options.provider));
    return guarded<std::unique_ptr<Session>>(kNotLoaded, [&]() -> std::unique_ptr<Session> {
      return std::make_unique<LoadedSession>(make(library_options(options, api_)),
                                             shared_from_this());
    });
  }

  Status check_provider(const std::string& name) const {
    const std::vector<std::string> available = providers();
    std::string wanted = to_lower(name) + "executionprovider";
    for (const std::string& provider : available) {
      if (to_lower(provider) == wanted) {
        return Unit{};
      }
    }
    return Error{ErrorCode::invalid_argument, "provider '" + printable(name) +
                                                  "' is not in this ONNX Runtime, which offers " +
                                                  join(available, ", ")};
  }

  std::string path_;
  std::string version_;
  unsigned api_;
  Ort::Env env_;
};

/// "1.16.3" -> 16: interface versions follow the minor version of the library.
unsigned minor_version(std::string_view version) {
  const std::vector<std::string_view> parts = split(version, '.');
  return parts.size() < 2 ? 0 : static_cast<unsigned>(parse_u64(parts[1]).value_or(0));
}

Result<std::shared_ptr<Runtime>> adopt(void* library, const std::string& path) {
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase"));
  if (get_base == nullptr || get_base() == nullptr) {
    return Error{ErrorCode::unsupported, "expected ONNX Runtime, found a library without its API",
                 path};
  }
  const OrtApiBase* base = get_base();
  const std::string version = base->GetVersionString();
  // Asking for more than the library has would make it complain on stderr.
  const unsigned api = std::min<unsigned>(minor_version(version), ORT_API_VERSION);
  const OrtApi* table = api < kOldestApi ? nullptr : base->GetApi(api);
  if (table == nullptr) {
    return Error{ErrorCode::unsupported,
                 "ONNX Runtime " + version + " is too old: expected 1." +
                     std::to_string(kOldestApi) + " or later",
                 path};
  }
  return guarded<std::shared_ptr<Runtime>>("ONNX Runtime could not start", [&] {
    Ort::InitApi(table);
    return std::shared_ptr<Runtime>(std::make_shared<LoadedRuntime>(path, version, api));
  });
}

}  // namespace

Result<std::unique_ptr<TappedSession>> open_tapped(Runtime& runtime, const PlacedModel& placed,
                                                   SessionOptions options) {
  OPDRIFT_TRY(const io::onnx::EncodedModel encoded, io::onnx::encode(placed.model));
  const std::vector<std::byte> bytes = encoded.flatten();
  options.external_folder = placed.folder;
  // There is no other kind of runtime than the one made here.
  return static_cast<LoadedRuntime&>(runtime).open_tapped({bytes.data(), bytes.size()}, options);
}

Result<std::shared_ptr<Runtime>> Runtime::load(const std::string& library) {
  std::string tried;
  for (const LibraryCandidate& candidate : library_candidates(library)) {
    void* handle = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      Result<std::shared_ptr<Runtime>> runtime = adopt(handle, candidate.path);
      if (runtime || candidate.required) {
        return runtime;
      }
      tried += "; " + candidate.origin + ": " + runtime.error().to_string();
      continue;
    }
    const char* why = dlerror();
    tried += "; " + candidate.origin + ": " + (why == nullptr ? "cannot be loaded" : why);
  }
  return Error{ErrorCode::not_found, how_to_get_onnxruntime() + " (tried" + tried + ")"};
}

}  // namespace opdrift::engine
