#include "opdrift/verdict/api_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"

namespace opdrift::verdict {

namespace {

enum class CallKind : std::uint8_t { normal, redundant, placeholder };

constexpr std::array<std::string_view, 9> kRedundant = {"empty",
                                                        "empty_like",
                                                        "numpy",
                                                        "to",
                                                        "__setitem__",
                                                        "empty_with_format",
                                                        "new_empty_strided",
                                                        "new_empty",
                                                        "empty_strided"};
constexpr std::array<std::string_view, 4> kPlaceholder = {
    "_reduce_scatter_base", "_all_gather_base", "all_to_all_single", "batch_isend_irecv"};

CallKind kind_of(std::span<const RuleRow> rows) {
  const auto input =
      std::find_if(rows.begin(), rows.end(), [](const RuleRow& row) { return !row.output; });
  const RuleRow& row = input == rows.end() ? rows.front() : *input;
  const auto parts = split(row.target->name, '.');
  const std::string_view function = parts.size() > 1 ? parts[1] : std::string_view();
  if (std::find(kRedundant.begin(), kRedundant.end(), function) != kRedundant.end()) {
    return CallKind::redundant;
  }
  return std::find(kPlaceholder.begin(), kPlaceholder.end(), function) != kPlaceholder.end()
             ? CallKind::placeholder
             : CallKind::normal;
}

bool is_not_finite(const graph::ApiValue& value) {
  if (value.kind == graph::ApiValue::Kind::integer || value.kind == graph::ApiValue::Kind::none) {
    return false;
  }
  const auto number = graph::python_number(value.text());
  return number && !std::isfinite(*number);
}

bool extremes_not_finite(const graph::ApiLeaf* leaf) {
  return leaf != nullptr &&
         (is_not_finite(leaf->statistics[0]) || is_not_finite(leaf->statistics[1]));
}

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

void row_rules(RuleRow& row) {
  if (extremes_not_finite(row.target) && !extremes_not_finite(row.golden)) {
    row.raise(RowLevel::error, RowMessage::not_finite);
  }
  if (row.golden == nullptr) {
    return;
  }
  const auto absent = graph::GradFlag::absent;
  if (row.target->requires_grad != absent && row.golden->requires_grad != absent &&
      row.target->requires_grad != row.golden->requires_grad) {
    row.raise(RowLevel::error, RowMessage::requires_grad);
  }
  if (!row.output && contains(row.target_dtype, "class") && contains(row.golden_dtype, "class") &&
      row.target->shape == "[]" &&
      row.target->statistics[0].text() != row.golden->statistics[0].text()) {
    row.raise(RowLevel::error, RowMessage::scalar);
  }
  if (row.target_dtype != row.golden_dtype && !contains(row.golden->name, "qkv") &&
      !contains(row.golden->name, "gate_up")) {
    row.raise(RowLevel::error, RowMessage::dtype);
  }
  if (row.target->shape != row.golden->shape) {
    row.raise(RowLevel::error, RowMessage::shape);
  }
}

/// Smallest number of inputs or outputs; words are skipped, 1 when nothing is left.
double smallest(std::span<const RuleRow> rows, bool output, double RuleRow::*member) {
  double best = 1.0;
  bool any = false;
  for (const RuleRow& row : rows) {
    const double value = row.*member;
    if (row.output == output && std::isfinite(value)) {
      best = any ? std::min(best, value) : value;
      any = true;
    }
  }
  return best;
}

/// Largest norm error; words and infinity are skipped, 0 when nothing is left.
double largest_norm(std::span<const RuleRow> rows, bool output) {
  double best = 0.0;
  for (const RuleRow& row : rows) {
    if (row.output == output && std::isfinite(row.norm_relative)) {
      best = std::max(best, row.norm_relative);
    }
  }
  return best;
}

void cross_real(std::span<RuleRow> rows, RuleRow& first_output, const RuleOptions& options) {
  const double limit = options.reference_limits ? 0.1 : 0.6;
  if (smallest(rows, false, &RuleRow::within_1e3) > 0.9 &&
      smallest(rows, true, &RuleRow::within_1e3) < limit) {
    first_output.raise(RowLevel::error, RowMessage::ratio_drop);
  }
  const double inputs = smallest(rows, false, &RuleRow::cosine);
  if (inputs > 0.9 && inputs - smallest(rows, true, &RuleRow::cosine) > 0.1) {
    first_output.raise(RowLevel::warning, RowMessage::cosine_drop);
  }
}

void cross_statistics(std::span<RuleRow> rows, RuleRow& first_output) {
  const double inputs = largest_norm(rows, false);
  if (inputs < 0.1) {
    for (RuleRow& row : rows) {
      if (row.output && row.norm_relative > 0.5) {
        row.raise(RowLevel::error, RowMessage::norm_error);
      }
    }
  }
  const double outputs = largest_norm(rows, true);
  if (inputs == 0.0 ? outputs > 0.1 : outputs / inputs > 10.0) {
    first_output.raise(RowLevel::warning, RowMessage::norm_growth);
  }
}

void checksum_rule(RuleRow& row) {
  if (row.target_checksum == row.golden_checksum) {
    return;
  }
  const auto says_nothing = [](std::string_view text) {
    return text.empty() || text == "N/A" || text == "Nan";
  };
  if (says_nothing(row.target_checksum) || says_nothing(row.golden_checksum)) {
    row.raise(RowLevel::warning, RowMessage::checksum_unmatched);
  } else {
    row.raise(RowLevel::error, RowMessage::checksum);
  }
}

}  // namespace

std::string_view to_string(RowLevel level) {
  switch (level) {
    case RowLevel::pass: return "pass";
    case RowLevel::warning: return "warning";
    case RowLevel::error: return "error";
  }
  return "error";
}

std::string_view to_string(RowMessage message) {
  switch (message) {
    case RowMessage::not_finite:
      return "error: There is nan/inf/-inf in the maximum or minimum value of NPU.";
    case RowMessage::ratio_drop:
      return "error: The input/parameters of One Thousandth Err Ratio > 0.9 while the output < "
             "0.6.";
    case RowMessage::norm_error: return "error: The NormRelativeErr of output is greater than 0.5.";
    case RowMessage::requires_grad:
      return "error: The Required_Grad of NPU and Bench are inconsistent";
    case RowMessage::scalar:
      return "error: The scalar parameters of NPU and Bench are inconsistent.";
    case RowMessage::dtype: return "error: The dtype of NPU and Bench are inconsistent.";
    case RowMessage::shape: return "error: The shape of NPU and Bench are inconsistent.";
    case RowMessage::cosine_drop:
      return "warning: The input/parameters of Cosine > 0.9, and input/parameters - output > 0.1";
    case RowMessage::norm_growth:
      return "warning: The norm relative error of output is 10 times that of input.";
    case RowMessage::checksum_unmatched:
      return "warning: The parameter of NPU does not match the bench.";
    case RowMessage::checksum:
      return "error: The CRC-32 value of NPU differs from that of the bench.";
  }
  return "";
}

void RuleRow::raise(RowLevel to, RowMessage message) {
  level = std::max(level, to);
  messages |= 1U << static_cast<unsigned>(message);
}

void apply_rules(std::span<RuleRow> rows, const RuleOptions& options) {
  if (rows.empty()) {
    return;
  }
  const CallKind kind = kind_of(rows);
  if (kind == CallKind::redundant) {
    return;
  }
  for (RuleRow& row : rows) {
    if (kind == CallKind::normal || row.output) {
      options.mode == RowMode::checksum ? checksum_rule(row) : row_rules(row);
    }
  }
  if (options.mode == RowMode::checksum) {
    return;
  }
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const RuleRow& row) { return row.output; });
  if (kind != CallKind::normal || first == rows.end()) {
    return;
  }
  if (options.mode == RowMode::real_data) {
    cross_real(rows, *first, options);
  } else {
    cross_statistics(rows, *first);
  }
}

std::string message_list(const std::vector<std::string>& reasons, std::uint32_t messages) {
  std::string out = "[";
  for (const std::string& reason : reasons) {
    out += out.size() > 1 ? ", " : "";
    graph::append_json_text(reason, out);
  }
  for (unsigned bit = 0; bit <= static_cast<unsigned>(RowMessage::checksum); ++bit) {
    if ((messages >> bit & 1U) != 0) {
      out += out.size() > 1 ? ", " : "";
      graph::append_json_text(to_string(static_cast<RowMessage>(bit)), out);
    }
  }
  return out + "]";
}

}  // namespace opdrift::verdict
