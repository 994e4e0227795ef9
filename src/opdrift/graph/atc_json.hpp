#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"

namespace opdrift::graph {

/// Graph JSON as written by `atc --mode=1`, a rendering of the offline model. What is read:
///
///     file      = { "graph": [ graph... ], "attr": [ attr... ] }
///     graph     = { "name": text, "op": [ op... ] }
///     op        = { "name": text, "type": text, "id": int, "input": [ "producer:index"... ],
///                   "attr": [ attr... ], "output_desc": [ output... ], "subgraph_name": [ text...
///                   ] }
///     output    = { "dtype": text, "layout": text, "shape": { "dim": [ int... ] },
///                   "attr": [ attr... ] }
///     attr      = { "key": text, "value": null | { "s": text | "i": int | "f": real | "b": bool |
///                   "list": { "s": [...] | "i": [...] | "f": [...] | "b": [...] } } }
///
/// Keys of an operator's attr that matter for pairing: `_datadump_original_op_names` (list.s),
/// `_datadump_is_multiop` (b), `_L1_fusion_sub_graph_no` (s); of an output's attr:
/// `_datadump_origin_name` (s), `_datadump_origin_output_index` (i), `_datadump_origin_format` (s),
/// `origin_format` (s), `origin_shape` (list.i). With attributes, `input_desc` is read like
/// `output_desc`, and its attribute `shape_range` (list_list_int); lists of lists of an operator's
/// attr are read one behind the other. Everything else may have any shape.
struct AtcJsonOptions {
  /// Keep scalar and list attributes of operators and of the model. Off, memory follows the number
  /// of operators; on, the size of the attributes.
  bool attributes = false;
  std::size_t max_depth = 512;  ///< nesting of arrays and objects
};

/// Reads a file in one pass, without a tree of it in memory.
///
/// Fails with not_found, permission, wrong_kind, io, or bad_json: not JSON (with the offset),
/// `graph` or `op` missing or no arrays, or an element above of another kind (with the element's
/// name). Entries of `input` that are not "producer:index" are kept with well_formed false; control
/// edges (index -1) and empty entries are dropped.
Result<Graph> read_atc_json(const std::string& path, const AtcJsonOptions& options = {});

/// The same from memory; `path` is only named in errors.
Result<Graph> parse_atc_json(ByteSpan text, const std::string& path,
                             const AtcJsonOptions& options = {});

/// Splits "producer:index" (see InputRef). Exactly one colon, a name before and digits after it.
InputRef parse_input_entry(const std::string& entry);

/// Undoes the C escapes (`\\`, `\"`, `\n`, `\345`) that single text attributes are written with.
/// Text whose escapes are malformed is returned as it stands.
std::string unescape_c(const std::string& text);
/// Makes such an escaped text of any bytes.
std::string escape_c(std::string_view bytes);

}  // namespace opdrift::graph
