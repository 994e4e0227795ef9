#pragma once

#include <cstddef>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

/// The description of a model in an om2 archive (io/om2_archive.hpp), as JSON:
///
///   file  = {"format": "ge_visual_json", "format_version": 1, "model": ModelDef}
///   message = {field name: value}                  the fields of model_schema.hpp
///   attr  = {name: value}                          instead of a list of entries
///   value = text | integer | real | boolean        the fields s, i, f, b
///         | [[number...]...]                       list_list_int, list_list_float
///         | {"type": T, "value": V}                all others:
///
///   T     bytes, expression, func, tensor_desc, tensor, graph, data_type, or list_X with X of
///         string, int, float, bool, bytes, tensor_desc, tensor, graph, named_attrs, data_type
///
/// Types are names (DT_FLOAT16) or numbers. Unknown fields and types are passed over.
namespace opdrift::graph {

/// Largest such file. Operators are converted one by one, so memory follows the message.
inline constexpr std::uint64_t kMostVisualJson = std::uint64_t{1} << 30;

/// The serialised ModelDef. Fails with bad_json (no JSON, no model in it, a value of another kind;
/// says which field) or limit (size, more than 64 levels).
Result<std::vector<std::byte>> encode_visual_json(ByteSpan text);

}  // namespace opdrift::graph
