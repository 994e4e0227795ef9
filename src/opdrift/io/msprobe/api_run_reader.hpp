#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/api_run.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"

/// dump.json (and debug.json) of msprobe:
///
///   file   = {"task": T, "level": L, "framework": F, "dump_data_dir": ..., "data": {name: call}}
///   call   = {"input_args": [value], "input_kwargs": {key: value}, "input": [value],
///             "parameters": {key: value}, "output": value, "is_recompute": bool}
///          | {key: value}                      for names of parameters_grad and of debug.json
///   value  = null | leaf | peer | [value] | {key: value}        objects without "type" are nested
///   leaf   = {"type": text, "dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad",
///             "data_name", "md5", "value", ...}
///   peer   = {"class_type": "torch.distributed.P2POp", "tensor": leaf, "op", "peer", ...}
///
/// JSON as Python writes it, see io/msprobe/json_stream.hpp. Files up to 4 GiB, read in one pass.
namespace opdrift::io {

struct ApiRunOptions {
  bool debug = false;  ///< debug.json: every entry is kept whole, names tell no direction
};

/// Reads a file. Fails with bad_json (and the offset, where the text is broken), `malformed` for
/// text that a spreadsheet could run or fields of the wrong kind, `limit` beyond 400 levels, and
/// with what opening a file may fail with.
Result<graph::ApiRun> read_api_run(const std::string& path, const ApiRunOptions& options = {});

/// The same over text that is already there; `path` is only named in the result.
Result<graph::ApiRun> parse_api_run(const JsonFile& file, const std::string& path,
                                    const ApiRunOptions& options = {});

}  // namespace opdrift::io
