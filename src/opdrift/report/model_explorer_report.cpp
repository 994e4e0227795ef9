#include <cmath>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "opdrift/report/report.hpp"

// Node data of Google's Model Explorer, to be laid over the golden model's graph:
//
//   {"results": {<tensor or operator name>: {"value": number, "bgColor": colour, "textColor":
//   colour,
//                                            "displayValue": text}}}
//
// Keys are value names, which the viewer looks up among node ids and output tensor names; for
// tensors without one the operator's name. The value is the operator's own error in budgets, or the
// relative L2 error of runs that were not judged.

namespace opdrift::report {

namespace {

using Json = nlohmann::ordered_json;

std::string_view colour_of(const verdict::TensorResult& tensor) {
  if (!tensor.judgement) {
    return tensor.passed ? "#34a853" : "#d93025";
  }
  switch (tensor.judgement->label) {
    case verdict::Label::healthy: return "#34a853";
    case verdict::Label::watch: return "#fdd663";
    case verdict::Label::victim: return "#fa903e";
    case verdict::Label::drift: return "#af5cf7";
    case verdict::Label::culprit: return "#d93025";
    case verdict::Label::unjudged: return "#9aa0a6";
  }
  return "#9aa0a6";
}

double value_of(const verdict::TensorResult& tensor) {
  if (tensor.judgement) {
    return std::fmax(tensor.judgement->q_own, tensor.judgement->z);
  }
  return tensor.measurement->relative_l2();
}

std::string text_of(const verdict::TensorResult& tensor, double value) {
  const std::string number = std::isnan(value) ? "" : " " + Json(value).dump().substr(0, 6);
  if (tensor.judgement) {
    return std::string(verdict::to_string(tensor.judgement->label)) + number;
  }
  return std::string(tensor.passed ? "passed" : "failed") + number;
}

}  // namespace

std::string render_model_explorer(const verdict::RunResult& result) {
  Json results = Json::object();
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (!tensor.measurement || tensor.role != "output") {
      continue;
    }
    const double value = value_of(tensor);
    const std::string& key =
        tensor.tensor_name.empty() ? tensor.golden_operator : tensor.tensor_name;
    const bool dark = colour_of(tensor) != "#fdd663";
    results[key] = {{"value", std::isfinite(value) ? value : 0.0},
                    {"bgColor", colour_of(tensor)},
                    {"textColor", dark ? "#ffffff" : "#202124"},
                    {"displayValue", text_of(tensor, value)}};
  }
  const Json json = {{"results", std::move(results)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::report
