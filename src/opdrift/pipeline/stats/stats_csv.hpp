#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/stats/stats_record.hpp"

/// A table of statistics as text, as `opdrift stats --format csv` writes it:
///
///   line 1 tensor,dtype,shape,min,max,mean,rms,std,nan,positive_inf,negative_inf,zero,subnormal,
///             saturated,problem
///   others    "conv1:output:0",float16,1x64x56x56,-1.5,2.25, ...
///
/// Columns are found by name; `tensor` comes first, `std`, `saturated` and columns of other names
/// are not looked at. Lines with a problem hold no numbers and are left out. Byte order marks and
/// the apostrophe before texts that a spreadsheet would run are taken off.
namespace opdrift::pipeline {

/// Whether a file that begins so is such a table.
bool is_stats_csv(std::string_view head);

/// Fails with `malformed`, naming the line.
Result<FileRecord> read_stats_csv(const std::string& path);

}  // namespace opdrift::pipeline
