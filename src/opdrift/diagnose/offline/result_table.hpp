#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/report/msaccucmp_advisor.hpp"

/// The result csv of a whole-network comparison (report/msaccucmp_csv.hpp), read back:
///
///   Index,[OpSequence],OpType,NPUDump,DataType,...,GroundTruth,...,<numbers>,CompareFailReason
///
/// Every row is brought to the length of the header: the row of the reference that lacks its
/// OverFlow cell gets it, other short rows end with NaN, surplus cells belong to the reason, whose
/// commas somebody did not quote.
namespace opdrift::diagnose {

using ResultTable = report::AdvisorTable;

/// The numbers by which a row is judged, and where each is too bad:
///
///   CosineSimilarity < 0.99          RelativeEuclideanDistance > 0.05
///   KullbackLeiblerDivergence > 0.005   RootMeanSquareError > 1   MeanRelativeError > 1
struct Monitor {
  std::string_view column;
  double limit;
  bool small_is_bad;  ///< a similarity
};

inline constexpr std::array<Monitor, 5> kMonitors = {{
    {"CosineSimilarity", 0.99, true},
    {"RelativeEuclideanDistance", 0.05, false},
    {"KullbackLeiblerDivergence", 0.005, false},
    {"RootMeanSquareError", 1.0, false},
    {"MeanRelativeError", 1.0, false},
}};

/// Largest file that is read.
inline constexpr std::uint64_t kMaxResultTable = std::uint64_t{100} << 20;

/// Fails with invalid_argument (name does not end in .csv), limit (over 100 MiB), malformed (no
/// rows at all, or no columns Index and NPUDump) and what mapping a file may fail with.
Result<ResultTable> read_result_table(const std::string& path);
/// The same for text in memory; `path` is named in errors.
Result<ResultTable> parse_result_table(std::string_view text, const std::string& path);

/// The text of `table` as a csv file, for reading back.
std::string render_result_table(const ResultTable& table);

/// Writes render_result_table whole or not at all.
Status write_result_table(const std::string& path, const ResultTable& table);

/// Cells of the rows of one table by the name of their column; "NaN" where there is no such column.
/// Of columns with one name the first counts.
class ResultRows {
 public:
  /// `table` must outlive this.
  explicit ResultRows(const ResultTable& table);

  std::size_t size() const { return table_.rows.size(); }
  const std::string& cell(std::size_t row, std::string_view column) const;
  /// NaN for a cell that is no number.
  double number(std::size_t row, std::string_view column) const;

 private:
  const ResultTable& table_;
  std::map<std::string, std::size_t, std::less<>> columns_;
};

}  // namespace opdrift::diagnose
