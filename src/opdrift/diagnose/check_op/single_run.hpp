#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/diagnose/check_op/piece_model.hpp"
#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/pipeline/dump_index.hpp"

/// Runs pieces of a network, many in one session: opening a session costs more than most operators.
///
///   batch    as many pieces, in order, as keep inputs and outputs within the memory budget; one
///            at least. Operators of foreign domains, which the library may not know, run alone
///   input    read from the dump when the piece is about to run (a Source of engine/taps.hpp)
///   output   seen when the piece has run (a Tap). One that equals the target's tensor bit for bit
///            is not kept, the target's stands for it; others go to files without a name
///            (io/scratch_file.hpp)
///   failure  a batch that cannot be opened or run is halved until the pieces to blame are alone
///
/// Optimisation is off and everything is computed in the model's own types. Memory holds what the
/// network as a whole would hold at most.
namespace opdrift::diagnose {

struct SingleRunOptions {
  unsigned threads = 0;
  std::uint64_t memory_budget = std::uint64_t{1} << 30;
  const CancelFlag* cancel = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// What one output of a piece should have been.
struct SingleValue {
  std::size_t piece = 0;
  std::size_t output = 0;  ///< position in Piece::outputs
  tensor::Tensor tensor;   ///< mapped; without bytes when `same`
  bool same = false;       ///< the target's tensor, in this type, has these very bytes
};

struct SingleRuns {
  std::vector<SingleValue> values;
  std::unordered_map<std::string, GivenInput> given;  ///< by input name of a piece
  std::size_t sessions = 0;                           ///< that were opened
  bool complete = true;                               ///< false after an interruption
};

/// Runs the pieces without a `reason`; those that cannot be run get one. Fails with write_failed
/// when the results cannot be kept.
Result<SingleRuns> run_pieces(const engine::PlacedModel& placed, std::vector<Piece>& pieces,
                              const pipeline::DumpIndex& target, const ElementTypes& types,
                              engine::Runtime& runtime, const SingleRunOptions& options);

/// The element type that a dumped tensor is fed as: that of the value, or, where it is not known,
/// its own with narrow floats widened to f32.
int fed_type(const ElementTypes& types, const std::string& value, tensor::DType dumped);

}  // namespace opdrift::diagnose
