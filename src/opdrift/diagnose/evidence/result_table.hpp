#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"

/// A finished comparison as operators of the flow:
///
///   result.json          of opdrift compare (docs/result-json.md)
///   result_<stamp>.csv   of msaccucmp (offline/result_table.hpp): one row per tensor, TensorIndex
///                        "<operator>:input:<n>" or "<operator>:output:<n>"
///
/// "*" as GroundTruth stands for no counterpart, what is no number for no cosine. Rows without
/// TensorIndex count as outputs.
namespace opdrift::diagnose::evidence {

/// The operators of a csv table that was read already.
flow::OperatorList operators_of(const ResultTable& table, const Edges& edges);

/// Fails with malformed or bad_json, and as reading the file does.
Result<flow::OperatorList> read_finished(const std::string& path, const Edges& edges);

}  // namespace opdrift::diagnose::evidence
