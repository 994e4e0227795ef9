#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"

/// Graph of a GE run as text (`dynamo_original_*.txt`), in protobuf's text format
/// (text_format.hpp).
///
/// Read as GraphDef: `name`, and per `op` its `name`, `type`, `input` ("producer:index", index -1
/// for control edges), `attr` (numbers, bools, texts and lists of them; names that begin with an
/// underscore are the compiler's own and left out) and `output_desc` with `dtype`, `layout`,
/// `shape.dim` and, from its `attr`, the value of "_fx_tensor_name" (kept as OutputDesc::tensor).
/// Graphs inside `graph { ... }` count too; all other fields are checked for form and passed over.
/// One pass, nothing is kept of what is not used.
namespace opdrift::graph {

/// Fails with `malformed` or `truncated` and the offset, or `limit` beyond 128 levels.
Result<Graph> parse_ge_text(std::string_view text);

/// The same for a file.
Result<Graph> read_ge_text(const std::string& path);

}  // namespace opdrift::graph
