#include "opdrift/diagnose/fixes/fusion_switch.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::fixes {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAll = "ALL";

constexpr std::string_view kQuantPasses[] = {
    "ConvConcatFusionPass",
    "SplitConvConcatFusionPass",
    "TbeEltwiseQuantFusionPass",
    "TbeConvDequantVaddReluQuantFusionPass",
    "TbeConvDequantVaddReluFusionPass",
    "TbeConvDequantQuantFusionPass",
    "TbeDepthwiseConvDequantFusionPass",
    "TbeFullyconnectionElemwiseDequantFusionPass",
    "TbeConv2DAddMulQuantPass",
    "TbePool2dQuantFusionPass",
    "TbeCommonRules0FusionPass",
    "TbeCommonRules2FusionPass",
};

bool is_ub_pass(std::string_view pass) {
  return pass.substr(0, 3) == "Tbe" || pass.find("UB") != std::string_view::npos;
}

Json switches_json(const std::vector<PassSwitch>& passes) {
  Json json = Json::object();
  for (const auto& [name, on] : passes) {
    json[name] = on ? "on" : "off";
  }
  return json;
}

Error malformed(const std::string& found) {
  return Error{ErrorCode::malformed,
               "expected a fusion switch, JSON or lines PASS:off; found " + found};
}

Result<bool> state_of(std::string_view word) {
  const std::string lower = to_lower(trim(word));
  if (lower == "on" || lower == "off") {
    return lower == "on";
  }
  return malformed("'" + printable(word) + "' where on or off belongs");
}

Status read_part(const Json& fusion, const char* name, std::vector<PassSwitch>& out) {
  const auto part = fusion.find(name);
  if (part == fusion.end()) {
    return Unit{};
  }
  if (!part->is_object()) {
    return malformed(part->type_name());
  }
  for (const auto& [pass, value] : part->items()) {
    OPDRIFT_TRY(const bool on, state_of(value.is_string() ? value.get<std::string>() : "?"));
    out.emplace_back(pass, on);
  }
  return Unit{};
}

Result<FusionSwitch> parse_object(std::string_view text) {
  OPDRIFT_TRY(const Json json, parse_json<Json>(text));
  if (!json.is_object() || !json.contains("Switch") || !json["Switch"].is_object()) {
    return malformed("JSON without an object \"Switch\"");
  }
  FusionSwitch fusion;
  OPDRIFT_CHECK_OK(read_part(json["Switch"], "GraphFusion", fusion.graph));
  OPDRIFT_CHECK_OK(read_part(json["Switch"], "UBFusion", fusion.ub));
  return fusion;
}

Result<FusionSwitch> parse_lines(std::string_view text) {
  FusionSwitch fusion;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty()) {
      continue;
    }
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
      return malformed("'" + printable(line) + "'");
    }
    OPDRIFT_TRY(const bool on, state_of(line.substr(colon + 1)));
    fusion.graph.emplace_back(trim(line.substr(0, colon)), on);
  }
  return fusion;
}

}  // namespace

FusionSwitch all_fusion_off(const std::vector<std::string>& keep, bool ub) {
  FusionSwitch fusion;
  fusion.graph.emplace_back(kAll, false);
  if (ub) {
    fusion.ub.emplace_back(kAll, false);
  }
  for (const std::string& pass : keep) {
    (is_ub_pass(pass) && ub ? fusion.ub : fusion.graph).emplace_back(pass, true);
  }
  return fusion;
}

FusionSwitch passes_off(const std::vector<std::string>& passes) {
  FusionSwitch fusion;
  for (const std::string& pass : passes) {
    auto& list = is_ub_pass(pass) ? fusion.ub : fusion.graph;
    const PassSwitch off(pass, false);
    if (std::find(list.begin(), list.end(), off) == list.end()) {
      list.push_back(off);
    }
  }
  return fusion;
}

std::vector<std::string> quantised_passes(QuantProduct product) {
  std::vector<std::string> passes(std::begin(kQuantPasses), std::end(kQuantPasses));
  if (product != QuantProduct::inference) {
    passes.emplace_back("V100RequantFusionPass");
  }
  if (product != QuantProduct::training) {
    passes.emplace_back("V200RequantFusionPass");
  }
  return passes;
}

std::string write_fusion_switch(const FusionSwitch& fusion) {
  Json json = {{"Switch", Json::object()}};
  json["Switch"]["GraphFusion"] = switches_json(fusion.graph);
  if (!fusion.ub.empty()) {
    json["Switch"]["UBFusion"] = switches_json(fusion.ub);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string optimization_switch(const FusionSwitch& fusion) {
  std::vector<std::string> parts;
  for (const auto* list : {&fusion.graph, &fusion.ub}) {
    for (const auto& [name, on] : *list) {
      parts.push_back(name + (on ? ":on" : ":off"));
    }
  }
  return join(parts, ";");
}

Result<FusionSwitch> parse_fusion_switch(std::string_view text) {
  const std::string_view content = trim(text);
  return content.substr(0, 1) == "{" ? parse_object(content) : parse_lines(content);
}

}  // namespace opdrift::diagnose::fixes
