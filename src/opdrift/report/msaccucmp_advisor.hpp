#pragma once

#include <span>
#include <string>
#include <vector>

/// Advice on a finished result table; the first rule that fires wins. Rows count where
/// CosineSimilarity is a number; "low" means below 0.99.
///
///   1  FP16 Overflow       a row has OverFlow YES: its Index
///   2  Input Inconsistent  for each network input in turn, a low row with that NPUDump: its Index
///   3  Global Consistency  no low row: NA. Else the Index of the first low row; the end result is
///                          unqualified when the last row is low
///
/// When none fires (no such column, no numbers) all three answers are NA.
namespace opdrift::report {

/// A result table as read from its file.
struct AdvisorTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

struct Advice {
  std::string detection_type = "NA";
  std::string operator_index = "NA";
  std::string expert_advice = "NA";

  /// Three lines `Detection Type: ...`, `Operator Index: ...`, `Expert Advice: ...`.
  std::vector<std::string> lines() const;
};

Advice advise(const AdvisorTable& table, std::span<const std::string> network_inputs);

/// Position of a column; -1 when the table has none of that name.
int column_of(const AdvisorTable& table, const std::string& name);

}  // namespace opdrift::report
