#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/graph/api_run.hpp"

/// Difference of one statistic (largest, smallest, mean, norm) of two leaves, x of the target and y
/// of the golden. Equal texts give 0 and 0. Otherwise each side is classified, first hit:
///
///   NaN ("nan" in any case) | inf | -inf | number | device (names npu, cpu or cuda) | "N/A" |
///   other
///
///   x \ y    number     NaN    inf    -inf   device  N/A  other
///   number   x - y (*)  Nan    -inf   inf    Diff    N/A  Diff
///   NaN      Nan        -      Nan    Nan    Diff    N/A  Diff
///   inf      inf        Nan    -      inf    Diff    N/A  Diff
///   -inf     -inf       Nan    -inf   -      Diff    N/A  Diff
///   device   Diff       Diff   Diff   Diff   N/A     N/A  Diff
///   N/A      N/A everywhere
///   other    Diff       Diff   Diff   Diff   Diff    N/A  Diff
///
/// (*) and |(x - y) / y * 100| as percentage, inf for y = 0. A word stands for both numbers.
namespace opdrift::verdict {

struct StatisticDifference {
  enum class Kind : std::uint8_t { equal, number, word };
  Kind kind = Kind::equal;
  std::string_view word;          ///< for `word`: "Nan", "inf", "-inf", "Diff", "N/A"
  double difference = 0.0;        ///< x - y
  double relative_percent = 0.0;  ///< infinite for y = 0

  /// The relative difference as a share: 0 for equal, infinity for "inf", NaN for other words.
  double relative() const;
};

StatisticDifference compare_statistic(const graph::ApiValue& target, const graph::ApiValue& golden);

/// "0", "12.5%", "inf" or the word.
void append_relative(const StatisticDifference& difference, std::string& out);

/// The check sum of a leaf as the table shows it: as recorded, else the CRC-32 of the text of its
/// value (of nothing when it has none), "N/A" for a missing argument.
std::string checksum_text(const graph::ApiLeaf& leaf);

}  // namespace opdrift::verdict
