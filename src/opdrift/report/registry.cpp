#include "opdrift/io/file_writer.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::report {

namespace {

constexpr Report kReports[] = {
    {"json", "everything, for machines and for judging again", "result.json", &render_json},
    {"csv", "one line per tensor, for spreadsheets", "result.csv", &render_csv},
    {"html", "curve, network and tables in one page for a browser", "result.html", &render_html},
    {"xlsx", "a workbook: summary, operators, ledger", "result.xlsx", nullptr, &write_xlsx},
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

Status write_report(const Report& report, const verdict::RunResult& result,
                    const std::string& path) {
  if (report.write != nullptr) {
    return report.write(result, path);
  }
  return io::write_file(path, report.render(result));
}

}  // namespace opdrift::report
