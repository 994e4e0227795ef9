#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/surgery/save_part.hpp"

/// A model whose outputs are the outputs of all its operators, and the table to read them by:
///
///   names.csv = "tensor,node,index,file stem" line, then one row per output in node order
///
/// Nameless nodes are named as in dumps (io::onnx::node_names). `file stem` is the first part of
/// the name of a dump file, dump_names.hpp; <stem>.<index>.<time>.npy makes a dump of what any
/// runtime returned.
namespace opdrift::engine {

struct InstrumentReport {
  std::size_t operators = 0;
  std::size_t named = 0;    ///< nameless nodes that got a name
  std::size_t outputs = 0;  ///< now visible
  std::size_t typed = 0;    ///< of them with a type
  SavedPart saved;
  std::string names_file;  ///< path of names.csv, beside the model
};

/// Writes `output` and names.csv in its folder. With `typed`, types the model states are given with
/// the outputs; else they are left to the runtime. Fails as opening and saving a model do.
Result<InstrumentReport> instrument_file(const std::string& model, const std::string& output,
                                         bool typed);

}  // namespace opdrift::engine
