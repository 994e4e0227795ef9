#pragma once

#include "opdrift/shell/graph/graph_store.hpp"
#include "opdrift/shell/session.hpp"

/// Dumps of an operator, one line for the file and one for what its values are like:
///
///   NpuDumpInput:  |  NpuDumpOutput:  |  TfDumpOutput:
///    -[0] <file>
///      └─ [Shape: ...] [Dtype: ...] [Max: ...] [Min: ...] [Mean: ...]
///
/// Sections without files are left out.
namespace opdrift::shell {

/// Files of the newest dump of run `id`, by index, then time; decoded on demand below
/// temp/decode/dump_decode/<id>.
void add_device_dumps(Session& session, int id, const FoundNode& found, Lines& lines);

/// Golden arrays of the original operators the outputs stand for, else of the operator's own name.
void add_golden_dumps(Session& session, const FoundNode& found, Lines& lines);

}  // namespace opdrift::shell
