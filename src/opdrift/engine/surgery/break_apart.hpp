#pragma once

#include <string>
#include <vector>

#include "opdrift/engine/surgery/workpiece.hpp"
#include "opdrift/engine/wanted_values.hpp"

/// A model in which no operator feeds another one, so that none inherits the error of another:
///
///   inputs   the graph's own and, under its name, every value an operator reads that another makes
///   outputs  all node outputs, called out_<output position>_<node position>_<name>; outputs of the
///            graph keep their names unless an operator reads them
///
/// Positions count from 0; Constant nodes are initializers and have none.
namespace opdrift::engine {

/// One operator of such a model.
struct SinglePiece {
  std::string node;
  std::string op_type;
  std::vector<std::string> inputs;        ///< values to be given, each once
  std::vector<std::string> initializers;  ///< constants it reads
  std::vector<std::string> outputs;
};

struct BrokenModel {
  PlacedModel placed;
  std::vector<SinglePiece> pieces;   ///< in node order
  std::vector<std::string> assumed;  ///< values of unknown type, taken for float32
};

/// Types of inputs are as make_part has them; outputs are left open.
BrokenModel break_apart(const Workpiece& piece, const ValueTypes& known = {});

}  // namespace opdrift::engine
