#include "opdrift/report/report.hpp"

namespace opdrift::report {

namespace {

constexpr Report kReports[] = {
    {"json", "everything, for machines and for judging again", "result.json", &render_json},
    {"csv", "one line per tensor, for spreadsheets", "result.csv", &render_csv},
    {"junit", "a test case per tensor, for CI servers", "result.junit.xml", &render_junit},
    {"sarif", "what is wrong and where, for code scanning", "result.sarif", &render_sarif},
    {"model-explorer", "colours for the graph in Model Explorer", "result.model-explorer.json",
     &render_model_explorer},
};

}  // namespace

std::span<const Report> reports() {
  return kReports;
}

Result<const Report*> find_report(std::string_view name) {
  std::string known;
  for (const Report& report : kReports) {
    if (report.name == name) {
      return &report;
    }
    known += known.empty() ? "" : ", ";
    known += report.name;
  }
  return Error{ErrorCode::invalid_argument,
               "format '" + std::string(name) + "': expected one of " + known};
}

}  // namespace opdrift::report
