#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/convert/convert.hpp"

/// Which operators overflowed, told from the operator-debug dumps below a folder:
///
///   1. debug files (`Opdebug.Node_OpDebug.NUM[.][NUM].TIME...`) are collected, oldest first
///   2. each is converted to JSON unless the output folder has its JSON already
///   3. its record names the unit that overflowed and the task it ran
///   4. the oldest other dump of that task and stream beside the debug file is the operator;
///      context and thread count only when they are neither 65535 nor 0
///   5. the operator is converted to npy and every input and output summarised
///
///   summary  = block ("\n" block)* "\n"
///   block    = 49 "=" "[" number "]" 50 "=" "\n"
///              ["[" op_type "] " op_name "\n"]
///              (" [" unit "][TaskId:" n "][StreamId:" n "][Status:" n "]\n")*
///              " [timestamp:" TIME "]"
///              ("\n " file "\n -[Format: F] [Shape: S] [Dtype: D] [Max: x] [Min: x] [Mean: x]")*
namespace opdrift::pipeline {

struct OverflowOptions {
  std::string dump_folder;
  std::string output_folder;  ///< must exist
  std::size_t count = 1;      ///< debug files to analyse
  Notice notice;
};

/// What kept the analysis from finishing.
enum class OverflowCause : std::uint8_t {
  none,
  other,              ///< see the code of `error`
  no_record,          ///< a debug file gave no JSON
  bad_record,         ///< a record too short for its unit
  unknown_unit,       ///< accelerator type unknown, or no unit reports an overflow
  no_status,          ///< the one accelerator of a tagged record reports no overflow
  nothing_converted,  ///< the operator's dump gave no array
};

struct OverflowReport {
  std::string summary_path;  ///< "" when nothing was written
  std::string text;
  std::optional<Error> error;
  OverflowCause cause = OverflowCause::none;
};

/// Runs the analysis and writes `overflow_summary_<YYYYMMDDhhmmss>.txt`. Without any debug file it
/// warns and writes nothing.
OverflowReport analyse_overflow(const OverflowOptions& options);

}  // namespace opdrift::pipeline
