#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/graph/om/json_writer.hpp"
#include "opdrift/graph/om/model_def.hpp"

/// A ModelDef as `atc --mode=1` renders it:
///
///   message    = object of its fields by name, sorted; defaults, and fields that hold weights or
///                memory places, are absent; null when nothing else was in it
///   attr{}     = [ {"key": text, "value": AttrDef}... ]            here sorted by key
///   f          = text of six digits when that has at most nine characters, else a number
///   s          = text with C escapes, any byte outside ASCII as octal; in lists, and out of the
///                tables of compression, without escapes
///   dtype      = "DT_FLOAT16", val_type = "VT_LIST_INT"
///
/// Compressed attributes are written out and their tables left away; a model attribute `fm` gives
/// operators the attribute `group_op_name`. Messages more than 20 levels deep become null.
namespace opdrift::graph {

/// Streams the rendering, with a line end behind it. Fails with the errors of the sink, or with
/// malformed or truncated for a message that ModelDef::read did not check.
Status write_model_json(const ModelDef& model, const TextSink& sink);

}  // namespace opdrift::graph
