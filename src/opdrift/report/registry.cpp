#include "opdrift/report/report.hpp"

namespace opdrift::report {

namespace {

constexpr Report kReports[] = {
    {"json", "everything, for machines and for judging again", "result.json", &render_json},
    {"csv", "one line per tensor, for spreadsheets", "result.csv", &render_csv},
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
