#pragma once

#include <string>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"

/// A compiled model in any of the files it comes in, told by content:
///
///   "IMOD"                             offline model (.om), om/container.hpp
///   "{"                                JSON of atc --mode=1, atc_json.hpp
///   word (":" | "{" | "<")             text of a GE graph (ge_proto_*.txt), om/model_text.hpp
///   "PK"                               archive (om2): only io/model_file.hpp opens these
///
/// All give the same graph for the same model.
namespace opdrift::graph {

enum class GraphFileKind { offline_model, atc_json, ge_text, zip, unknown };

struct GraphFileOptions {
  /// Keep scalar and list attributes of operators and of the model, and input_descs.
  bool attributes = false;
  /// Of a damaged offline model: the operators before the damage, with warnings.
  bool salvage = false;
  /// Which model of a file with several: its name or its number. "": the first; needed for bundles
  /// of several.
  std::string model = {};
};

/// Judges by the first bytes; `unknown` for a file that cannot be read.
GraphFileKind graph_file_kind(ByteSpan head);
GraphFileKind graph_file_kind(const std::string& path);

/// True for a file that read_graph_file is meant for; by its first bytes, or, where they say
/// nothing, by a name ending in ".om". False for files that cannot be read.
bool is_graph_file(const std::string& path);

/// Fails with the codes of the reader of that kind; unsupported for zip archives (om2), bad_json
/// for anything else; not_found or ambiguous when `model` names none or is needed.
Result<Graph> read_graph_file(const std::string& path, const GraphFileOptions& options = {});

}  // namespace opdrift::graph
