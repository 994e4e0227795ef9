#pragma once

#include <set>
#include <string>

#include "opdrift/diagnose/offline/result_table.hpp"

/// Three columns that tell what to make of a row:
///
///   IsNpuOps          YES when GroundTruth is "*": an operator without counterpart
///   IsOutputNode      YES when GroundTruth, trimmed, is a node that makes a model output
///   IsPrecisionError  NO for OpType Data, TransData and PartitionCall and where the cosine is NaN
///                     or no number; else YES when one of kMonitors is beyond its limit
///
/// A NaN is beyond no limit here, as in the tool these columns come from: rows without numbers are
/// told by their CompareFailReason. Every row gets all three.
namespace opdrift::diagnose {

/// Adds the columns at the end, or fills them anew where the table has them.
void add_columns(ResultTable& table, const std::set<std::string>& output_nodes);

/// Whether a row's IsPrecisionError is YES.
bool is_precision_error(const ResultRows& rows, std::size_t row);

}  // namespace opdrift::diagnose
