#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::diagnose {

/// TensorProto.DataType by value name; 0 for values that are no tensors.
using ElementTypes = std::unordered_map<std::string, int>;

/// The element types of all values: as the file says, and where it says nothing as ONNX Runtime
/// infers them. A model that the library cannot load leaves gaps, and a line in `notes`.
ElementTypes element_types(const engine::PlacedModel& placed, engine::Runtime& runtime,
                           std::vector<std::string>& notes);

/// What an input of a piece is given, in the type the model reads there.
struct GivenInput {
  int element_type = 0;
  tensor::Shape shape;
};

/// Brings external data into the model. Fails with `limit` above 1 GiB, and as loading does.
Status embed_external_data(engine::PlacedModel& placed);

/// How the values of pieces are called in the model made of them.
enum class PieceNames {
  marked,    ///< names of pieces, so that many of them fit into one model
  original,  ///< names of the model; for one piece
};

/// A model of pieces that do not touch each other: inputs are what the pieces read, outputs what
/// they make, weights initialisers. Operator sets, model-local functions and unknown fields stay.
/// `given` tells the type of each input by its name of a piece.
io::onnx::Model model_of_pieces(const io::onnx::Model& model, std::span<const Piece* const> pieces,
                                const std::unordered_map<std::string, GivenInput>& given,
                                PieceNames names);

}  // namespace opdrift::diagnose
