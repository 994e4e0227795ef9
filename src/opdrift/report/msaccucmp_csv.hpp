#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Result table of the reference tool, one row per tensor, CR LF line ends, no BOM:
///
///   Index,[OpSequence],OpType,NPUDump,DataType,[Address],GroundTruth,DataType,[Address],
///   TensorIndex,Shape,[OverFlow],<algorithms>,CompareFailReason
///
/// A cell is quoted when it holds a comma, a quote or a line end, and also when a spreadsheet would
/// run it as a formula: it is no number and starts with + - = @ (or their full-width forms), or one
/// of these follows a semicolon. `NaN` stands for "no value", `nan` for a computed not-a-number.
namespace opdrift::report {

inline constexpr std::string_view kNoValue = "NaN";

/// One row; empty texts print as they are.
struct MsaccucmpRow {
  std::uint64_t index = 0;
  std::optional<std::int64_t> sequence;
  std::string op_type{kNoValue};
  std::string target;
  std::string target_dtype{kNoValue};
  std::string target_address{kNoValue};
  std::string golden;
  std::string golden_dtype{kNoValue};
  std::string golden_address{kNoValue};
  std::string tensor{kNoValue};
  std::string shape{kNoValue};
  std::string overflow{kNoValue};
  std::vector<std::string> values;  ///< as many as algorithms; missing ones print as NaN
  std::string reason;
  bool lacks_overflow = false;  ///< the reference's short row, see MsaccucmpColumns::overflow
};

/// Which optional columns the table has.
struct MsaccucmpColumns {
  bool sequence = false;
  bool target_address = true;
  bool golden_address = true;
  bool overflow = false;
  std::vector<std::string> algorithms;
};

/// Names of the columns, in order.
std::vector<std::string> msaccucmp_header(const MsaccucmpColumns& columns);
/// The cells of one row, in the same order.
std::vector<std::string> msaccucmp_cells(const MsaccucmpColumns& columns, const MsaccucmpRow& row);

/// One line with its line end.
std::string msaccucmp_line(std::span<const std::string> cells);

/// The whole table.
std::string render_msaccucmp(const MsaccucmpColumns& columns, std::span<const MsaccucmpRow> rows);

/// One cell, quoted where needed.
std::string msaccucmp_cell(std::string_view text);

/// Mapping of operators to dump files (`-map`):
///   Index,[OpSequence],OpType,NPUDump,GroundTruth,TensorIndex,NPUDumpPath,GroundTruthPath
struct MsaccucmpMapping {
  std::uint64_t index = 0;
  std::optional<std::int64_t> sequence;
  std::string op_type{kNoValue};
  std::string target;
  std::string golden;
  std::string tensor{kNoValue};
  std::string target_path{kNoValue};
  std::string golden_path{kNoValue};
};

std::string render_msaccucmp_mapping(bool sequence, std::span<const MsaccucmpMapping> rows);

/// PyTorch table:
///   Index,NPUDump,NPUDumpPath,GroundTruthPath,DataType,Shape,<algorithms>,CompareFailReason
struct MsaccucmpTorchRow {
  std::uint64_t index = 0;
  std::string target{kNoValue};
  std::string target_path{kNoValue};
  std::string golden_path{kNoValue};
  std::string dtype{kNoValue};
  std::string shape{kNoValue};
  std::vector<std::string> values;
  std::string reason;
};

std::string render_msaccucmp_torch(std::span<const std::string> algorithms,
                                   std::span<const MsaccucmpTorchRow> rows);

/// `Name: value` lines with LF ends, the result of comparing two files.
std::string render_file_result(std::span<const std::string> algorithms,
                               std::span<const std::string> values);

}  // namespace opdrift::report
