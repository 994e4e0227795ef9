#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

/// Result tables of a comparison, `result_<digits>.csv`. Columns are found by their heads, in the
/// old spelling and the new one:
///
///   Index   LeftOp | NPUDump   RightOp | GroundTruth   TensorIndex   CosineSimilarity
///
///   TensorIndex = operator ":" ("input" | "output") ":" number; rows with NaN or * are left out
namespace opdrift::shell {

struct SummaryRequest {
  std::string path;      ///< file or folder; "" for the newest folder of the workspace
  double limit = 0.98;   ///< an output at or below it lists its operator
  std::size_t most = 3;  ///< operators shown per file, and in all
};

/// One operator of a result table.
struct ComparedOperator {
  std::string index;  ///< column Index
  std::string name;
  std::vector<std::string> left;
  std::vector<std::string> right;
  std::vector<std::optional<double>> inputs;  ///< cosine by tensor; NaN where there is no number
  std::vector<std::optional<double>> outputs;

  /// True when an output has a cosine at or below the limit.
  bool bad(double limit) const;
};

/// Operators of a table in file order. Fails with malformed (no such columns, a TensorIndex of
/// other than three parts) or as mapping a file does.
Result<std::vector<ComparedOperator>> read_result_table(const std::string& path);
Result<std::vector<ComparedOperator>> parse_result_table(std::string_view text);

/// result_<digits>.csv of a folder in the order of their numbers; a file stands for itself. Fails
/// with not_found.
Result<std::vector<std::string>> result_tables(const std::string& path);

/// The newest folder of results in the workspace. Fails with not_found.
Result<std::string> newest_results(const Workspace& workspace);

/// Shows the operators whose outputs are at or below the limit.
Status show_summary(Session& session, const SummaryRequest& request);

/// The lowest cosine of the outputs of each operator, out of the newest results; empty without any.
std::map<std::string, double> known_verdicts(const Workspace& workspace);

}  // namespace opdrift::shell
