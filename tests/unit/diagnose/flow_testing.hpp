#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opdrift/diagnose/flow/facts_json.hpp"
#include "opdrift/diagnose/flow/flow.hpp"

namespace opdrift::diagnose::flow {

/// What a diagnosis says, in one line: "OVERFLOW [AddN_7] -> mixed_1". "-" for no conclusion.
inline std::string summary(const Diagnosis& diagnosis) {
  std::string text = diagnosis.conclusion ? std::string(code_of(*diagnosis.conclusion)) : "-";
  text += " [";
  for (std::size_t i = 0; i < diagnosis.operators.size(); ++i) {
    text += (i == 0 ? "" : " ") + diagnosis.operators[i].facts.op;
  }
  return text + "]" + (diagnosis.next.empty() ? "" : " -> " + diagnosis.next.front().role);
}

/// Facts as JSON with ' for ".
inline Facts facts(std::string text) {
  for (char& c : text) {
    c = c == '\'' ? '"' : c;
  }
  const Result<Facts> parsed = parse_facts(text, "test");
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().to_string());
  return parsed ? *parsed : Facts{};
}

inline std::string outcome(const std::string& text, const FlowOptions& options = {}) {
  return summary(diagnose(facts(text), options));
}

}  // namespace opdrift::diagnose::flow
