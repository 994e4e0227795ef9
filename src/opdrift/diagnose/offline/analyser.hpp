#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/diagnose/offline/result_table.hpp"

/// Which rows of a result table to look at first.
///
/// Rows with OpType TransData, GroundTruth "*" or DataType NaN are passed over. A monitor
/// (result_table.hpp) fires when its number is finite and beyond its limit; of the cosine it is
/// 1 - cosine > 0.01 that counts.
namespace opdrift::diagnose {

enum class Strategy : std::uint8_t {
  first_overall,  ///< the first row where any monitor fires, with all that fire there
  first_each,     ///< for every monitor the first row where it fires
  all,            ///< every row and monitor
};

/// "first", "each" or "all".
std::optional<Strategy> strategy_by_name(std::string_view name);

/// One number beyond its limit.
struct Alarm {
  std::string monitor;
  double value = 0;
  std::size_t row = 0;  ///< of the table
  std::string index;
  std::string op_type;
  std::string target;  ///< NPUDump
  std::string golden;  ///< GroundTruth
};

/// In row order; within a row and for `first_each` in the order of kMonitors.
std::vector<Alarm> analyse(const ResultTable& table, Strategy strategy = Strategy::first_overall);

/// A title and a table of the alarms, or one line saying that there is none:
///
///   |  Monitor | Value | Index | OpType | NPUDump | GroundTruth |
///   | --------:| -----:| ...
///
/// Right-aligned; values as %.6g; a column is as wide as its longest cell and 1, at most 30, and
/// longer cells are cut to 26 columns and "...".
std::string alarm_text(const std::vector<Alarm>& alarms);

}  // namespace opdrift::diagnose
