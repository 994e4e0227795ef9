#include "opdrift/report/msaccucmp_advisor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/base/text.hpp"

namespace opdrift::report {

namespace {

constexpr double kThreshold = 0.99;

constexpr const char* kOverflowAdvice =
    "Float16 data overflow occurs. Rectify the fault and perform comparison again.";
constexpr const char* kInputAdvice =
    "The input data of NPUDump is inconsistent with that of GroundTruth. Use the same data or "
    "check "
    "the data preprocessing process.";
constexpr const char* kFineAdvice =
    "All data in the comparison result meets the accuracy requirements. If data accuracy of the "
    "model is still not up to standard in practical application, please check the post-processing "
    "process of model outputs.";
constexpr const char* kUnqualifiedAdvice =
    "The accuracy of some tensors is low, resulting in an unqualified final accuracy. This may be "
    "caused by quantization. Calibrate the data or contact Huawei for further diagnosis. ";
constexpr const char* kPartlyAdvice =
    "The accuracy of some tensors is low, while the final accuracy meets the requirements. This "
    "may "
    "be caused by quantization. Calibrate the data or contact Huawei for further diagnosis. ";

std::string cell(const std::vector<std::string>& row, int column) {
  const std::size_t position = static_cast<std::size_t>(column);
  return column >= 0 && position < row.size() ? row[position] : std::string();
}

/// The similarity of a row, when it is a number.
std::optional<double> similarity(const std::vector<std::string>& row, int column) {
  const std::optional<double> value = parse_double(trim(cell(row, column)));
  return value && !std::isnan(*value) ? value : std::nullopt;
}

bool is_low(const std::vector<std::string>& row, int column) {
  const std::optional<double> value = similarity(row, column);
  return value && *value < kThreshold;
}

std::optional<Advice> overflow_advice(const AdvisorTable& table, int index) {
  const int overflow = column_of(table, "OverFlow");
  for (const std::vector<std::string>& row : table.rows) {
    if (cell(row, overflow) == "YES") {
      return Advice{"FP16 Overflow", cell(row, index), kOverflowAdvice};
    }
  }
  return std::nullopt;
}

std::optional<Advice> input_advice(const AdvisorTable& table, int index, int cosine,
                                   std::span<const std::string> inputs) {
  const int target = column_of(table, "NPUDump");
  for (const std::string& input : inputs) {
    for (const std::vector<std::string>& row : table.rows) {
      if (cell(row, target) == input && is_low(row, cosine)) {
        return Advice{"Input Inconsistent", cell(row, index), kInputAdvice};
      }
    }
  }
  return std::nullopt;
}

std::optional<Advice> global_advice(const AdvisorTable& table, int index, int cosine) {
  const std::vector<std::string>* first_low = nullptr;
  const std::vector<std::string>* last = nullptr;
  for (const std::vector<std::string>& row : table.rows) {
    if (!similarity(row, cosine)) {
      continue;
    }
    last = &row;
    if (first_low == nullptr && is_low(row, cosine)) {
      first_low = &row;
    }
  }
  if (last == nullptr) {
    return std::nullopt;
  }
  if (first_low == nullptr) {
    return Advice{"Global Consistency", "NA", kFineAdvice};
  }
  return Advice{"Global Consistency", cell(*first_low, index),
                is_low(*last, cosine) ? kUnqualifiedAdvice : kPartlyAdvice};
}

}  // namespace

std::vector<std::string> Advice::lines() const {
  return {"Detection Type: " + detection_type, "Operator Index: " + operator_index,
          "Expert Advice: " + expert_advice};
}

int column_of(const AdvisorTable& table, const std::string& name) {
  const auto found = std::find(table.header.begin(), table.header.end(), name);
  return found == table.header.end() ? -1 : static_cast<int>(found - table.header.begin());
}

Advice advise(const AdvisorTable& table, std::span<const std::string> network_inputs) {
  const int index = column_of(table, "Index");
  if (const std::optional<Advice> advice = overflow_advice(table, index)) {
    return *advice;
  }
  const int cosine = column_of(table, "CosineSimilarity");
  if (cosine < 0) {
    return Advice{};
  }
  if (const std::optional<Advice> advice = input_advice(table, index, cosine, network_inputs)) {
    return *advice;
  }
  return global_advice(table, index, cosine).value_or(Advice{});
}

}  // namespace opdrift::report
