#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/classes.hpp"
#include "opdrift/diagnose/flow/report.hpp"
#include "opdrift/diagnose/flow/step.hpp"

namespace opdrift::diagnose::flow {

namespace {

constexpr std::size_t kMostOperators = 20;

std::string shown_list(const std::vector<std::string>& texts) {
  return printable(join(texts, ", "));
}

std::string numbers_line(const OperatorNumbers& numbers) {
  std::vector<std::string> parts;
  for (const NumberField& field : kNumberFields) {
    if (const auto& number = numbers.*(field.value)) {
      parts.push_back(std::string(field.name) + " " + number_text(*number));
    }
  }
  return join(parts, ", ");
}

std::string operator_text(const BlamedOperator& blamed) {
  const OperatorFacts& op = blamed.facts;
  std::string text = "  " + printable(op.op);
  if (!op.type.empty()) {
    text += " (" + printable(op.type) + ")";
  }
  if (comparable(op)) {
    text += "  cosine " + number_text(1.0 - output_error(op));
  }
  text += (blamed.class_name.empty() ? "" : "  " + blamed.class_name) + "\n";
  if (op.original != std::vector<std::string>{op.op} && !op.original.empty()) {
    text += "      original: " + shown_list(op.original) + "\n";
  }
  if (!op.passes.empty()) {
    text += "      passes: " + shown_list(op.passes) + "\n";
  }
  const std::string numbers = numbers_line(op.numbers);
  text += numbers.empty() ? "" : "      " + numbers + "\n";
  for (const auto* const words : {&op.places, &op.foreign}) {
    for (const std::string& one : *words) {
      text += "      " + printable(one) + "\n";
    }
  }
  return text;
}

std::string operators_text(const Diagnosis& diagnosis) {
  if (diagnosis.operators.empty()) {
    return "";
  }
  std::string text = "\nOperators\n";
  const std::size_t shown = std::min(diagnosis.operators.size(), kMostOperators);
  for (std::size_t i = 0; i < shown; ++i) {
    text += operator_text(diagnosis.operators[i]);
  }
  if (shown < diagnosis.operators.size()) {
    text += "  and " + std::to_string(diagnosis.operators.size() - shown) + " more\n";
  }
  return text;
}

std::string fixes_text(const Diagnosis& diagnosis) {
  std::string text = diagnosis.fixes.empty() ? "" : "\nFix\n";
  for (const Fix& fix : diagnosis.fixes) {
    text += "  - " + printable(fix.text) + "\n";
  }
  return text;
}

std::string next_text(const Diagnosis& diagnosis) {
  std::string text = diagnosis.next.empty() ? "" : "\nNext\n";
  for (const NextStep& next : diagnosis.next) {
    text += "  " + printable(next.role) + ": " + printable(next.why) + "\n";
    if (!next.command.empty()) {
      text += "      " + printable(next.command) + "\n";
    }
  }
  return text;
}

std::string checks_text(const Diagnosis& diagnosis) {
  std::string text = diagnosis.checks.empty() ? "" : "\nChecks\n";
  for (const Check& check : diagnosis.checks) {
    text += "  " + printable(check.id) +
            std::string(check.id.size() < 3 ? 3 - check.id.size() : 1, ' ') +
            printable(check.result) + "\n";
  }
  return text;
}

}  // namespace

std::string render_text(const Diagnosis& diagnosis) {
  std::string text = "Conclusion: not decided yet\n";
  if (diagnosis.conclusion) {
    text = "Conclusion: " + std::string(code_of(*diagnosis.conclusion)) + " (" +
           std::string(to_string(diagnosis.confidence)) + "), step " + diagnosis.step + "\n" +
           std::string(meaning_of(*diagnosis.conclusion)) + "\n";
  }
  return text + operators_text(diagnosis) + fixes_text(diagnosis) + next_text(diagnosis) +
         checks_text(diagnosis);
}

}  // namespace opdrift::diagnose::flow
