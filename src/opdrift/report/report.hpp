#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// One row per file format a comparison can be written in.
struct Report {
  std::string_view name;  ///< as given to --format
  std::string_view summary;
  std::string_view file_name;  ///< inside the output folder
  std::string (*render)(const verdict::RunResult& result);
  /// Of formats that are archives, whose `render` is null.
  Status (*write)(const verdict::RunResult& result, const std::string& path) = nullptr;
};

/// All reports.
std::span<const Report> reports();

/// Finds a report by name; fails with invalid_argument listing the names there are.
Result<const Report*> find_report(std::string_view name);

/// Writes a report into a file, which appears whole or not at all.
Status write_report(const Report& report, const verdict::RunResult& result,
                    const std::string& path);

/// The result as JSON, schema "opdrift-result/1" (docs/result-json.md). Numbers that JSON cannot
/// hold are the strings "nan", "inf" and "-inf".
std::string render_json(const verdict::RunResult& result);

/// One line per tensor, RFC 4180 with a header, LF line ends. Text that a spreadsheet would run as
/// a formula is prefixed with an apostrophe.
std::string render_csv(const verdict::RunResult& result);

/// A workbook: summary, operators with filters and colours, ledger. Texts are never formulas.
Status write_xlsx(const verdict::RunResult& result, const std::string& path);

/// JUnit XML: one test case per tensor, failures with cause and explanations.
std::string render_junit(const verdict::RunResult& result);

/// SARIF 2.1.0: one result per tensor that is not healthy.
std::string render_sarif(const verdict::RunResult& result);

/// Node data of Model Explorer: label and error as colours of the golden model's graph.
std::string render_model_explorer(const verdict::RunResult& result);

/// One page for a browser, everything inside, nothing fetched (docs/report.md).
std::string render_html(const verdict::RunResult& result);

}  // namespace opdrift::report
