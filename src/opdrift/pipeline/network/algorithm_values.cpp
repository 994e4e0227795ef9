#include "opdrift/pipeline/network/algorithm_values.hpp"

#include <algorithm>

#include "opdrift/metrics/registry.hpp"

namespace opdrift::pipeline {

namespace {

std::string message_of(const metrics::Algorithm& algorithm, const metrics::AlgorithmValue& value,
                       const AlgorithmContext& context) {
  if (value.note == metrics::AlgorithmNote::none) {
    return "";
  }
  std::string text = std::string(algorithm.name) + ": " + value.note_text;
  if (value.note == metrics::AlgorithmNote::target_all_zero) {
    text += " (" + context.target_path + ")";
  } else if (value.note == metrics::AlgorithmNote::golden_all_zero) {
    text += " (" + context.golden_path + ")";
  }
  return text;
}

}  // namespace

std::vector<AlgorithmValue> algorithm_values(const std::vector<std::string>& names,
                                             const metrics::Measurement& measurement,
                                             const AlgorithmContext& context) {
  metrics::AlgorithmInput input{measurement};
  input.scalar_tensor = context.scalar;
  input.reference = context.reference;
  std::vector<AlgorithmValue> values;
  values.reserve(names.size());
  for (const std::string& name : names) {
    const metrics::Algorithm* algorithm = metrics::find_algorithm(name);
    if (algorithm == nullptr) {
      values.push_back({"NaN", "there is no algorithm " + name});
      continue;
    }
    const metrics::AlgorithmValue value = algorithm->compute(input);
    values.push_back(
        {metrics::format_value(*algorithm, value), message_of(*algorithm, value, context)});
  }
  return values;
}

bool needs_divergence(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    const metrics::Algorithm* algorithm = metrics::find_algorithm(name);
    return algorithm != nullptr && algorithm->needs_divergence;
  });
}

}  // namespace opdrift::pipeline
