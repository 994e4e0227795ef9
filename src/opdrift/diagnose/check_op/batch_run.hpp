#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/diagnose/check_op/single_run.hpp"
#include "opdrift/engine/tapped_session.hpp"
#include "opdrift/io/scratch_file.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose {

/// What the pieces are run with.
struct PieceSetting {
  const engine::PlacedModel& placed;
  std::vector<Piece>& pieces;
  const pipeline::DumpIndex& target;
  const ElementTypes& types;
  engine::Runtime& runtime;
  const SingleRunOptions& options;
};

/// What became of one output.
struct KeptOutput {
  std::string reason;  ///< why there is nothing; "" when there is
  tensor::TensorDesc desc;
  bool same = false;        ///< as the target's
  std::uint64_t start = 0;  ///< else in the scratch file
  std::uint64_t bytes = 0;
};

/// One session: some pieces, what they read and what they made. For one use.
class BatchRun {
 public:
  BatchRun(const PieceSetting& setting, std::unordered_map<std::string, GivenInput>& given)
      : setting_(setting), given_(given) {}

  /// False, and a reason, when an input of the piece cannot be fed.
  bool add(Piece& piece);

  /// Runs the pieces; the results stand in the order of their outputs. Fails as opening and running
  /// a session do, and with what keeping a result may fail with.
  Result<std::vector<KeptOutput>> run(const std::vector<std::size_t>& batch);

  /// Where results are kept; null when every one is the target's.
  io::ScratchFile* scratch() { return scratch_ ? &*scratch_ : nullptr; }

 private:
  /// A tensor of the target as the model reads it.
  struct Feed {
    tensor::View view;
    tensor::TensorDesc desc;
  };

  Result<Feed> feed_of(const std::string& value, std::size_t position) const;
  void tap_outputs(io::onnx::Model& model, const std::vector<const Piece*>& pieces);
  std::string name_beside(io::onnx::Model& model, const PieceOutput& output);
  Result<std::vector<engine::NamedTensor>> source_inputs(io::onnx::Model& model);
  engine::RunHooks hooks();
  Result<KeptOutput> keep(const engine::RunValue& value, const engine::RunValue& beside);

  const PieceSetting& setting_;
  std::unordered_map<std::string, GivenInput>& given_;
  std::unordered_map<std::string, Feed> feeds_;             // by name in the model of pieces
  std::unordered_map<std::size_t, std::string> by_tensor_;  // one of them, by position
  std::vector<const Feed*> sourced_;                        // by number
  std::vector<std::size_t> tapped_;                         // of the outputs, by number
  std::vector<std::size_t> fetched_;                        // of the outputs, the others
  std::vector<std::string> fetched_names_;
  std::vector<KeptOutput> kept_;
  std::optional<io::ScratchFile> scratch_;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace opdrift::diagnose
