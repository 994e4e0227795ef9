#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/report/terminal.hpp"
#include "opdrift/verdict/trends.hpp"

namespace opdrift::report {

/// One row per file format trends can be written in.
struct TrendsReport {
  std::string_view name;
  std::string_view file_name;  ///< inside the output folder
  std::string (*render)(const verdict::Trends& trends);
};

std::span<const TrendsReport> trends_reports();

/// Fails with invalid_argument listing the names there are.
Result<const TrendsReport*> find_trends_report(std::string_view name);

/// JSON, schema "opdrift-trends/1": runs, and per line its cells, null where a run lacks it.
std::string render_trends_json(const verdict::Trends& trends);

/// One line per output: where it begins to be wrong, its growth, then the error of every run.
std::string render_trends_csv(const verdict::Trends& trends);

/// A page with a heat map of operators and runs. `title` names it; "" for the usual one.
std::string render_trends_html(const verdict::Trends& trends, std::string_view title = {});

/// What begins to drift, and when: `style.rows` lines, first ones first, with a bar per run.
std::string render_trends_terminal(const verdict::Trends& trends, const TerminalStyle& style);

}  // namespace opdrift::report
