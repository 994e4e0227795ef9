#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "opdrift/graph/graph.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/pipeline/dump_index.hpp"

/// A network cut into single operators, each of which reads what the target itself had there:
///
///   read value                              becomes
///   constant (initialiser, Constant node)   the constant
///   dumped as this operator's own input     that tensor
///   dumped by the operator that made it     that tensor
///   computed from shapes and constants      computed again: those operators join the piece
///   made by an operator that the target     computed again: that operator joins the piece, and the
///   merged with this one                    piece is the fused operator
///   anything else                           a reason why the operator cannot be run alone
namespace opdrift::diagnose {

/// The tensors of a target dump by what they are in the model: positions in its index.
struct TargetValues {
  std::unordered_map<std::string, std::size_t> made;    ///< by value name
  std::unordered_map<std::string, std::size_t> inputs;  ///< by own_input_key
  /// By value: all operators whose work the target did in one, where that is known.
  std::unordered_map<std::string, std::unordered_set<std::string>> merged;
};

std::string own_input_key(const std::string& operator_name, std::size_t input);

/// Looks the tensors of the first step up by value name, else by operator name (also normalised)
/// and number. Nodes of `graph` have names. The manifest of an opdrift dump tells what was merged.
TargetValues target_values(const io::onnx::Graph& graph, const pipeline::DumpIndex& target);

/// Adds what the graph of the target's compiled model tells: which output of an operator is
/// which value of the model, and what was merged into it.
void add_target_graph(const graph::Graph& device, const io::onnx::Graph& graph,
                      const pipeline::DumpIndex& target, TargetValues& values);

/// A tensor of the target that a piece reads.
struct PieceInput {
  std::string value;       ///< in the model
  std::string name;        ///< in a model of many pieces
  std::size_t tensor = 0;  ///< position in the target's index
};

/// What a piece makes and the target has.
struct PieceOutput {
  std::uint32_t index = 0;  ///< among the outputs of the operator
  std::string value;
  std::string name;
  std::size_t tensor = 0;
};

struct Piece {
  std::size_t node = 0;            ///< the operator it stands for, position in the graph
  std::vector<std::size_t> nodes;  ///< all it runs, in order; `node` is the last one
  std::vector<PieceInput> inputs;
  std::vector<PieceOutput> outputs;
  std::string mark;      ///< behind the names of what it makes, in a model of many pieces
  std::string reason;    ///< why it cannot be run; "" when it can
  bool complete = true;  ///< false when the dump lacks what it needs
};

/// One piece per operator but for Constant nodes, in file order. Nodes of `graph` have names.
std::vector<Piece> cut_into_pieces(const io::onnx::Graph& graph, const TargetValues& target);

/// Text about values of a model of many pieces with their own names in it.
std::string without_marks(std::string text);

}  // namespace opdrift::diagnose
