#include <cmath>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/check_report.hpp"
#include "opdrift/diagnose/check_op/check_row.hpp"
#include "opdrift/report/csv_text.hpp"

namespace opdrift::diagnose {

double cosine_of(const Row& row) {
  return row && row->measurement ? row->measurement->cosine() : std::nan("");
}

double relative_l2_of(const Row& row) {
  return row && row->measurement ? row->measurement->relative_l2() : std::nan("");
}

std::string verdict_of(const Row& row) {
  if (!row) {
    return "";
  }
  if (!row->measurement) {
    return "no fit";
  }
  if (row->judgement && row->judgement->label != verdict::Label::unjudged) {
    return std::string(verdict::to_string(row->judgement->label));
  }
  return row->passed ? "pass" : "fail";
}

namespace {

using Json = nlohmann::ordered_json;

std::string exact(double value) {
  if (std::isnan(value)) {
    return "";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Json number_json(double value) {
  return std::isfinite(value) ? Json(value)
         : std::isnan(value)  ? Json(nullptr)
                              : Json(value > 0 ? "inf" : "-inf");
}

Json row_json(const Row& row) {
  if (!row) {
    return nullptr;
  }
  Json explanations = Json::array();
  for (const verdict::Explanation& explanation : row->explanations) {
    explanations.push_back(explanation.sentence);
  }
  return {{"cosine", number_json(cosine_of(row))},
          {"relative_l2", number_json(relative_l2_of(row))},
          {"verdict", verdict_of(row)},
          {"passed", row->passed},
          {"reason", row->reason},
          {"q_own", number_json(row->judgement ? row->judgement->q_own : std::nan(""))},
          {"z", number_json(row->judgement ? row->judgement->z : std::nan(""))},
          {"explanations", std::move(explanations)},
          {"place", row->place ? row->place->sentence : ""}};
}

Json operator_json(const CheckedOperator& op) {
  Json outputs = Json::array();
  for (const CheckedOutput& output : op.outputs) {
    outputs.push_back({{"index", output.index},
                       {"tensor", output.tensor},
                       {"blame", to_string(output.blame)},
                       {"single", row_json(output.single)},
                       {"entire", row_json(output.entire)}});
  }
  return {{"order", op.order},
          {"name", op.name},
          {"type", op.type},
          {"merged", op.merged},
          {"blame", to_string(op.blame())},
          {"reason", op.reason},
          {"kit", op.kit},
          {"outputs", std::move(outputs)}};
}

}  // namespace

std::string render_check_csv(const CheckOpResult& result) {
  std::string text =
      "order,operator,type,index,tensor,blame,single_cosine,single_relative_l2,single_verdict,"
      "entire_cosine,entire_relative_l2,entire_verdict,merged,reason,kit\n";
  for (const CheckedOperator& op : result.operators) {
    const std::string start = std::to_string(op.order) + "," + report::csv_text(op.name) + "," +
                              report::csv_text(op.type) + ",";
    const std::string end = "," + report::csv_text(join(op.merged, " ")) + "," +
                            report::csv_text(op.reason) + "," + report::csv_text(op.kit) + "\n";
    for (const CheckedOutput& output : op.outputs) {
      text += start + std::to_string(output.index) + "," + report::csv_text(output.tensor) + "," +
              std::string(to_string(output.blame));
      for (const Row* row : {&output.single, &output.entire}) {
        text += "," + exact(cosine_of(*row)) + "," + exact(relative_l2_of(*row)) + "," +
                verdict_of(*row);
      }
      text += end;
    }
    if (op.outputs.empty()) {
      text += start + ",,unknown,,,,,," + end;
    }
  }
  return text;
}

std::string render_check_json(const CheckOpResult& result) {
  Json operators = Json::array();
  for (const CheckedOperator& op : result.operators) {
    operators.push_back(operator_json(op));
  }
  Json findings = Json::array();
  for (const verdict::Finding& finding : result.findings) {
    findings.push_back(finding.sentence);
  }
  const Json json{{"schema", "opdrift.check-op"},
                  {"schema_version", 1},
                  {"target", result.target},
                  {"golden", result.golden},
                  {"model", result.model},
                  {"library_version", result.library_version},
                  {"rule", result.rule},
                  {"interrupted", result.interrupted},
                  {"counts",
                   {{"operators", result.operators.size()},
                    {"checked", result.checked()},
                    {"own", result.count(Blame::own)},
                    {"inherited", result.count(Blame::inherited)},
                    {"none", result.count(Blame::none)},
                    {"unknown", result.count(Blame::unknown)}}},
                  {"sessions", result.sessions},
                  {"run_s", result.run_s},
                  {"elapsed_s", result.elapsed_s},
                  {"findings", std::move(findings)},
                  {"operators", std::move(operators)},
                  {"notes", result.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::diagnose
