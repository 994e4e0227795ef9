#include "opdrift/diagnose/check_op/single_run.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "opdrift/diagnose/check_op/batch_run.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;

/// The library keeps something for every node and value; a session of more helps no further.
constexpr std::size_t kMaxPieces = 4096;

bool is_foreign(const onnx::Node& node) {
  constexpr std::array<std::string_view, 4> kDomains = {"", "ai.onnx", "ai.onnx.ml",
                                                        "com.microsoft"};
  return std::find(kDomains.begin(), kDomains.end(), node.domain) == kDomains.end();
}

class Runner {
 public:
  explicit Runner(const PieceSetting& setting)
      : setting_(setting), pieces_(setting.pieces), options_(setting.options) {}

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
    return std::any_of(piece.nodes.begin(), piece.nodes.end(), [&](std::size_t n) {
      return is_foreign(setting_.placed.model.graph.nodes[n]);
    });
  }

  /// Twice the stored size where the model computes in a wider type.
  std::uint64_t bytes_of(const Piece& piece) const {
    std::uint64_t bytes = 0;
    const auto add = [&](const std::string& value, std::size_t position) {
      const tensor::TensorDesc& desc = setting_.target.tensors[position].desc;
      const auto dtype = onnx::dtype_of(fed_type(setting_.types, value, desc.dtype));
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
    BatchRun run(setting_, runs_.given);
    std::erase_if(batch, [&](std::size_t p) { return !run.add(pieces_[p]); });
    if (batch.empty() || cancelled()) {
      return Unit{};
    }
    ++runs_.sessions;
    auto results = run.run(batch);
    if (results) {
      return keep(batch, std::move(*results), run.scratch());
    }
    if (cancelled()) {
      return Unit{};
    }
    if (results.error().code == ErrorCode::write_failed) {
      return results.error();
    }
    if (batch.size() == 1) {
      pieces_[batch[0]].reason = without_marks(results.error().message);
      return Unit{};
    }
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    OPDRIFT_CHECK_OK(run_batch({batch.begin(), middle}));
    return run_batch({middle, batch.end()});
  }

  Status keep(const std::vector<std::size_t>& batch, std::vector<KeptOutput> results,
              io::ScratchFile* scratch) {
    Bytes kept;
    if (scratch != nullptr) {
      OPDRIFT_TRY(kept, scratch->map());
    }
    std::size_t next = 0;
    for (const std::size_t p : batch) {
      for (std::size_t o = 0; o < pieces_[p].outputs.size(); ++o, ++next) {
        KeptOutput& result = results[next];
        if (!result.reason.empty()) {
          pieces_[p].reason = std::move(result.reason);
          continue;
        }
        tensor::Tensor tensor{std::move(result.desc), {}};
        if (!result.same) {
          tensor.bytes = kept.part(result.start, result.bytes);
        }
        runs_.values.push_back({p, o, std::move(tensor), result.same});
      }
    }
    if (options_.progress) {
      options_.progress(batch.back() + 1, pieces_.size());
    }
    return Unit{};
  }

  const PieceSetting& setting_;
  std::vector<Piece>& pieces_;
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
  return Runner({placed, pieces, target, types, runtime, options}).run();
}

}  // namespace opdrift::diagnose
