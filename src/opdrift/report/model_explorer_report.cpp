#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/report/report.hpp"

// Node data of Google's Model Explorer, to be laid over the golden model's graph:
//
//   {"results": {<tensor or operator name>: {"value": number or text, "bgColor": colour,
//                                            "textColor": colour, "displayValue": text}}}
//
// Keys are value names, which the viewer looks up among node ids and output tensor names; for
// tensors without one the operator's name. The value is the operator's own error in budgets, or the
// relative L2 error of runs that were not judged; what is no finite number is a text. A value that
// was made in several steps shows its worst one.

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

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

std::string text_of(const verdict::TensorResult& tensor, double value) {
  const std::string number = std::isnan(value) ? "" : " " + number_text(value);
  if (tensor.judgement) {
    return std::string(verdict::to_string(tensor.judgement->label)) + number;
  }
  return std::string(tensor.passed ? "passed" : "failed") + number;
}

/// How bad the node looks: by its label, then by its number.
std::pair<int, double> badness(const verdict::TensorResult& tensor) {
  const double value = value_of(tensor);
  const double size = std::isnan(value) ? -1.0 : value;
  if (!tensor.judgement) {
    return {tensor.passed ? 0 : 1, size};
  }
  switch (tensor.judgement->label) {
    case verdict::Label::culprit: return {5, size};
    case verdict::Label::drift: return {4, size};
    case verdict::Label::victim: return {3, size};
    case verdict::Label::watch: return {2, size};
    case verdict::Label::unjudged: return {tensor.passed ? 0 : 6, size};
    case verdict::Label::healthy: return {1, size};
  }
  return {0, size};
}

}  // namespace

std::string render_model_explorer(const verdict::RunResult& result) {
  std::map<std::string_view, const verdict::TensorResult*> worst;
  std::vector<std::string_view> order;
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (!tensor.measurement || tensor.role != "output") {
      continue;
    }
    const std::string& key =
        tensor.tensor_name.empty() ? tensor.golden_operator : tensor.tensor_name;
    const auto [known, added] = worst.emplace(key, &tensor);
    if (added) {
      order.push_back(key);
    } else if (badness(tensor) > badness(*known->second)) {
      known->second = &tensor;
    }
  }
  Json results = Json::object();
  for (const std::string_view key : order) {
    const verdict::TensorResult& tensor = *worst[key];
    const double value = value_of(tensor);
    const bool dark = colour_of(tensor) != "#fdd663";
    results[std::string(key)] = {
        {"value", std::isfinite(value) ? Json(value) : Json(number_text(value))},
        {"bgColor", colour_of(tensor)},
        {"textColor", dark ? "#ffffff" : "#202124"},
        {"displayValue", text_of(tensor, value)}};
  }
  const Json json = {{"results", std::move(results)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::report
