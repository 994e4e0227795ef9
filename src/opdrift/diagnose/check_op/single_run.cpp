#include "opdrift/diagnose/check_op/single_run.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/scratch_file.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;
using engine::NamedTensor;
using engine::RunValue;

constexpr std::uint64_t kAlignment = 64;
/// The library keeps something for every node and value; a session of more helps no further.
constexpr std::size_t kMaxPieces = 4096;

bool is_foreign(const onnx::Node& node) {
  constexpr std::array<std::string_view, 4> kDomains = {"", "ai.onnx", "ai.onnx.ml",
                                                        "com.microsoft"};
  return std::find(kDomains.begin(), kDomains.end(), node.domain) == kDomains.end();
}

class Runner {
 public:
  Runner(const engine::PlacedModel& placed, std::vector<Piece>& pieces,
         const pipeline::DumpIndex& target, const ElementTypes& types, engine::Runtime& runtime,
         const SingleRunOptions& options)
      : placed_(placed),
        pieces_(pieces),
        target_(target),
        types_(types),
        runtime_(runtime),
        options_(options) {}

  Result<SingleRuns> run() {
    std::vector<std::size_t> batch;
    std::uint64_t bytes = 0;
    for (std::size_t p = 0; p < pieces_.size() && !cancelled(); ++p) {
      if (!pieces_[p].reason.empty()) {
        continue;
      }
      const bool alone = runs_alone(pieces_[p]);
      const std::uint64_t own = bytes_of(pieces_[p]);
      if (!batch.empty() &&
          (alone || batch.size() == kMaxPieces ||
           own > options_.memory_budget - std::min(bytes, options_.memory_budget))) {
        OPDRIFT_CHECK_OK(run_batch(std::exchange(batch, {})));
        bytes = 0;
      }
      batch.push_back(p);
      bytes += own;
      if (alone) {
        OPDRIFT_CHECK_OK(run_batch(std::exchange(batch, {})));
        bytes = 0;
      }
    }
    if (!batch.empty() && !cancelled()) {
      OPDRIFT_CHECK_OK(run_batch(std::move(batch)));
    }
    runs_.complete = !cancelled();
    return std::move(runs_);
  }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  bool runs_alone(const Piece& piece) const {
    return std::any_of(piece.nodes.begin(), piece.nodes.end(),
                       [&](std::size_t n) { return is_foreign(placed_.model.graph.nodes[n]); });
  }

  /// Twice the stored size where the model computes in a wider type.
  std::uint64_t bytes_of(const Piece& piece) const {
    std::uint64_t bytes = 0;
    const auto add = [&](const std::string& value, std::size_t position) {
      const tensor::TensorDesc& desc = target_.tensors[position].desc;
      const auto dtype = onnx::dtype_of(fed_type(types_, value, desc.dtype));
      const std::uint64_t count = tensor::element_count(desc.shape).value_or(0U);
      bytes += tensor::storage_bytes(dtype.value_or(tensor::DType::f64), count).value_or(0);
    };
    for (const PieceInput& input : piece.inputs) {
      add(input.value, input.tensor);
    }
    for (const PieceOutput& output : piece.outputs) {
      add(output.value, output.tensor);
    }
    return bytes;
  }

  /// Opens, runs, keeps the results. A failure that is not about the results is told by halving.
  Status run_batch(std::vector<std::size_t> batch) {
    std::vector<NamedTensor> inputs;
    std::unordered_map<std::string, std::size_t> known;
    std::erase_if(batch, [&](std::size_t p) { return !bring_in(pieces_[p], known, inputs); });
    if (batch.empty() || cancelled()) {
      return Unit{};
    }
    auto values = run_session(batch, inputs);
    if (values) {
      return keep(batch, std::move(*values));
    }
    if (batch.size() == 1) {
      pieces_[batch[0]].reason = without_marks(values.error().message);
      return Unit{};
    }
    inputs.clear();
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    OPDRIFT_CHECK_OK(run_batch({batch.begin(), middle}));
    return run_batch({middle, batch.end()});
  }

  /// False, and a reason, when an input cannot be fed.
  bool bring_in(Piece& piece, std::unordered_map<std::string, std::size_t>& known,
                std::vector<NamedTensor>& inputs) {
    for (const PieceInput& input : piece.inputs) {
      if (!known.emplace(input.name, inputs.size()).second) {
        continue;
      }
      auto fed = feed(input);
      if (!fed) {
        known.erase(input.name);
        piece.reason = "input '" + input.value + "': " + fed.error().to_string();
        return false;
      }
      runs_.given[input.name] = {onnx::data_type_of(fed->desc.dtype), fed->desc.shape};
      inputs.push_back({input.name, std::move(*fed)});
    }
    return true;
  }

  Result<tensor::Tensor> feed(const PieceInput& input) const {
    const pipeline::IndexedTensor& source = target_.tensors[input.tensor];
    OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(source));
    OPDRIFT_TRY(const tensor::View view, pipeline::logical_view(loaded));
    const auto wanted = onnx::dtype_of(fed_type(types_, input.value, loaded.desc.dtype));
    if (!wanted) {
      return Error{ErrorCode::unsupported_dtype, "the model reads no tensor of numbers there"};
    }
    return as_fed(view, *wanted);
  }

  Result<std::vector<RunValue>> run_session(const std::vector<std::size_t>& batch,
                                            const std::vector<NamedTensor>& inputs) {
    std::vector<const Piece*> pieces;
    std::vector<std::string> outputs;
    for (const std::size_t p : batch) {
      pieces.push_back(&pieces_[p]);
      for (const PieceOutput& output : pieces_[p].outputs) {
        outputs.push_back(output.name);
      }
    }
    const engine::PlacedModel model{
        model_of_pieces(placed_.model, pieces, runs_.given, PieceNames::marked), placed_.folder};
    engine::SessionOptions session_options;
    session_options.threads = options_.threads;
    ++runs_.sessions;
    OPDRIFT_TRY(const auto session, engine::open_model(runtime_, model, session_options));
    return session->run(used(model.model, inputs), outputs);
  }

  /// Inputs of pieces that were dropped for another input are not part of the model.
  static std::vector<NamedTensor> used(const onnx::Model& model,
                                       const std::vector<NamedTensor>& inputs) {
    std::vector<NamedTensor> used;
    for (const NamedTensor& input : inputs) {
      const bool read =
          std::any_of(model.graph.inputs.begin(), model.graph.inputs.end(),
                      [&](const onnx::ValueInfo& info) { return info.name == input.name; });
      if (read) {
        used.push_back(input);
      }
    }
    return used;
  }

  Status keep(const std::vector<std::size_t>& batch, std::vector<RunValue> values) {
    OPDRIFT_TRY(io::ScratchFile file, io::ScratchFile::create());
    std::vector<std::uint64_t> starts;
    std::uint64_t at = 0;
    for (const RunValue& value : values) {
      starts.push_back(at);
      if (!value.tensor) {
        continue;
      }
      const std::vector<std::byte> gap((kAlignment - value.tensor->bytes.size() % kAlignment) %
                                       kAlignment);
      OPDRIFT_CHECK_OK(file.write(value.tensor->bytes.span));
      OPDRIFT_CHECK_OK(file.write(gap));
      at += value.tensor->bytes.size() + gap.size();
    }
    OPDRIFT_TRY(const Bytes kept, file.map());
    std::size_t next = 0;
    for (const std::size_t p : batch) {
      for (std::size_t o = 0; o < pieces_[p].outputs.size(); ++o, ++next) {
        if (!values[next].tensor) {
          pieces_[p].reason = values[next].reason;
          continue;
        }
        tensor::Tensor tensor = *values[next].tensor;
        tensor.bytes = kept.part(starts[next], tensor.bytes.size());
        runs_.values.push_back({p, o, std::move(tensor)});
      }
    }
    if (options_.progress) {
      options_.progress(batch.back() + 1, pieces_.size());
    }
    return Unit{};
  }

  const engine::PlacedModel& placed_;
  std::vector<Piece>& pieces_;
  const pipeline::DumpIndex& target_;
  const ElementTypes& types_;
  engine::Runtime& runtime_;
  const SingleRunOptions& options_;
  SingleRuns runs_;
};

}  // namespace

int fed_type(const ElementTypes& types, const std::string& value, tensor::DType dumped) {
  const auto found = types.find(value);
  if (found != types.end()) {
    return found->second;
  }
  const bool narrow = tensor::is_floating(dumped) && dumped != tensor::DType::f64;
  return onnx::data_type_of(narrow ? tensor::DType::f32 : dumped);
}

Result<SingleRuns> run_pieces(const engine::PlacedModel& placed, std::vector<Piece>& pieces,
                              const pipeline::DumpIndex& target, const ElementTypes& types,
                              engine::Runtime& runtime, const SingleRunOptions& options) {
  return Runner(placed, pieces, target, types, runtime, options).run();
}

}  // namespace opdrift::diagnose
