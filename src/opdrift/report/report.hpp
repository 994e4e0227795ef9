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
};

/// All reports.
std::span<const Report> reports();

/// Finds a report by name; fails with invalid_argument listing the names there are.
Result<const Report*> find_report(std::string_view name);

/// The result as JSON, schema "opdrift-result/1" (docs/result-json.md). Numbers that JSON cannot
/// hold are the strings "nan", "inf" and "-inf".
std::string render_json(const verdict::RunResult& result);

/// One line per tensor, RFC 4180 with a header, LF line ends. Text that a spreadsheet would run as
/// a formula is prefixed with an apostrophe.
std::string render_csv(const verdict::RunResult& result);

/// JUnit XML: one test case per tensor, failures with cause and explanations.
std::string render_junit(const verdict::RunResult& result);

/// SARIF 2.1.0: one result per tensor that is not healthy.
std::string render_sarif(const verdict::RunResult& result);

/// Node data of Model Explorer: label and error as colours of the golden model's graph.
std::string render_model_explorer(const verdict::RunResult& result);

}  // namespace opdrift::report
