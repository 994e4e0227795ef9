#pragma once

#include <string>
#include <unordered_map>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/check_op/piece_model.hpp"
#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/pipeline/dump_index.hpp"

/// An operator to be run where ONNX Runtime cannot:
///
///   <order>_<type>/operator.onnx    the operator alone, weights included
///                  input_<n>.bin    what the target read, plain bytes in the model's types
///                  target_<n>.npy   what the target made of it
///                  README.txt       what is what, and the commands
namespace opdrift::diagnose {

struct KitSource {
  const engine::PlacedModel& placed;
  const Piece& piece;
  const pipeline::DumpIndex& target;
  const std::unordered_map<std::string, GivenInput>& given;  ///< has every input of the piece
};

/// Writes a kit below `folder` and returns its path. Fails with what loading tensors and writing
/// files may fail with.
Result<std::string> write_kit(const KitSource& source, const std::string& folder);

}  // namespace opdrift::diagnose
