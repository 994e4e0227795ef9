#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "opdrift/report/report.hpp"
#include "opdrift/report/run_issue.hpp"

// SARIF 2.1.0 (OASIS): one run, one rule per cause, one result per tensor that is not healthy.
//
//   level   error    what fails the run: culprits, crossed limits
//           warning  drift, watch, what could not be read or does not fit
//           note     victims: wrong, but not to blame
//
// The location of a result is the target's file and, as logical location, the operator.

namespace opdrift::report {

namespace {

using Json = nlohmann::ordered_json;

std::string_view describe(std::string_view rule) {
  static const std::map<std::string_view, std::string_view> kTexts = {
      {"own_error", "The operator adds more error than its precision explains."},
      {"local_error", "Single elements are wrong beyond what precision explains."},
      {"overflow", "A value is beyond the range of the target's type."},
      {"nan_made", "NaN or Inf was made from finite inputs."},
      {"golden_overflow", "The golden itself holds NaN or Inf."},
      {"saturated", "Values are clamped at the largest finite value of the type."},
      {"shape", "The sides have different shapes."},
      {"different", "Values that must be equal are not: integers, inputs, parameters."},
      {"inherited_class", "NaN or Inf came in with the inputs."},
      {"inherited_error", "The error came in with the inputs."},
      {"wider_inputs", "Explained only by inputs wider than dumped."},
      {"below_precision", "Unexplained, but below what the precision costs anyway."},
      {"above_budget", "Somewhat more error than predicted."},
      {"not_modelled", "The operator could not be replayed."},
      {"gate", "A limit was crossed."},
      {"unreadable", "A file or tensor could not be read or compared."},
      {"run", "The run as a whole: outputs missing, other inputs, nothing compared."},
  };
  const auto found = kTexts.find(rule);
  return found == kTexts.end() ? rule : found->second;
}

std::string rule_of(const verdict::TensorResult& tensor) {
  if (!tensor.measurement) {
    return "unreadable";
  }
  return tensor.judgement ? std::string(verdict::to_string(tensor.judgement->cause)) : "gate";
}

/// "" for what needs no result.
std::string level_of(const verdict::TensorResult& tensor) {
  if (!tensor.measurement) {
    return "warning";
  }
  if (!tensor.passed) {
    return "error";
  }
  if (!tensor.judgement) {
    return "";
  }
  switch (tensor.judgement->label) {
    case verdict::Label::victim: return "note";
    case verdict::Label::drift:
    case verdict::Label::watch: return "warning";
    default: return "";
  }
}

std::string message_of(const verdict::TensorResult& tensor) {
  std::string text = tensor.label() + ": " + tensor.reason;
  for (const verdict::Explanation& explanation : tensor.explanations) {
    text += "; " + explanation.sentence;
  }
  if (tensor.place && !tensor.place->sentence.empty()) {
    text += "; " + tensor.place->sentence;
  }
  return text;
}

/// Paths as URI references, absolute ones with their scheme: everything but unreserved characters
/// and the slash is percent-encoded.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4U];
      uri += kHex[byte & 15U];
    }
  }
  return uri;
}

Json result_of(std::string_view rule, std::string_view level, const std::string& message,
               const std::string& path, const std::string& operator_name) {
  Json location = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(path)}}}}}};
  if (!operator_name.empty()) {
    location["logicalLocations"] = Json::array(
        {{{"name", operator_name}, {"fullyQualifiedName", operator_name}, {"kind", "member"}}});
  }
  return {{"ruleId", rule},
          {"level", level},
          {"message", {{"text", message}}},
          {"locations", Json::array({std::move(location)})}};
}

}  // namespace

std::string render_sarif(const verdict::RunResult& result) {
  Json results = Json::array();
  std::map<std::string, Json> rules;
  const auto add = [&](const std::string& rule, Json entry) {
    rules.emplace(rule, Json{{"id", rule}, {"shortDescription", {{"text", describe(rule)}}}});
    results.push_back(std::move(entry));
  };
  if (const std::optional<RunIssue> issue = run_issue(result)) {
    add("run", result_of("run", issue->failure ? "error" : "warning", issue->sentence,
                         result.target_path, ""));
  }
  for (const verdict::TensorResult& tensor : result.tensors) {
    const std::string level = level_of(tensor);
    if (!level.empty()) {
      const std::string rule = rule_of(tensor);
      add(rule,
          result_of(rule, level, message_of(tensor), tensor.target_path, tensor.operator_name));
    }
  }
  for (const verdict::LedgerEntry& entry : result.ledger) {
    if (entry.state == verdict::LedgerState::unreadable && entry.tensor.empty()) {
      add("unreadable", result_of("unreadable", "warning", entry.reason, entry.path, ""));
    }
  }
  Json rule_list = Json::array();
  for (auto& [name, rule] : rules) {
    rule_list.push_back(std::move(rule));
  }
  const Json json = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       Json::array({{{"tool",
                      {{"driver",
                        {{"name", "opdrift"},
                         {"version", OPDRIFT_VERSION},
                         {"rules", std::move(rule_list)}}}}},
                     {"invocations", Json::array({{{"executionSuccessful", !result.interrupted}}})},
                     {"results", std::move(results)}}})}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::report
