#include "opdrift/pipeline/msprobe/classic_colours.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/graph/table_text.hpp"

namespace opdrift::pipeline {

namespace {

using report::RowColour;

std::optional<double> number_of(const graph::ApiLeaf* leaf, std::size_t statistic) {
  if (leaf == nullptr || leaf->statistics[statistic].kind == graph::ApiValue::Kind::none) {
    return std::nullopt;
  }
  return graph::python_number(leaf->statistics[statistic].text());
}

void raise(ClassicColour& colour, RowColour to, const char* reason) {
  const bool stays_red = colour.colour == RowColour::red;
  colour.colour = stays_red ? RowColour::red : to;
  if (std::find(colour.reasons.begin(), colour.reasons.end(), reason) == colour.reasons.end()) {
    colour.reasons.emplace_back(reason);
  }
}

void own_rules(const ClassicRow& row, ClassicColour& colour) {
  for (const std::size_t statistic : {0U, 1U}) {
    const auto value = number_of(row.target, statistic);
    if (value && !std::isfinite(*value)) {
      raise(colour, RowColour::red, "maximum or minimum is nan, -inf, or inf");
      break;
    }
  }
  if (std::abs(row.max_error) > 1e10) {
    raise(colour, RowColour::red, "maximum absolute error exceeds 1e+10");
  }
  if (row.golden != nullptr && row.target->requires_grad != row.golden->requires_grad) {
    raise(colour, RowColour::yellow, "requires_grad is inconsistent");
  }
}

/// Numbers on both sides, so that the errors of the pair mean something.
bool has_numbers(const ClassicRow& row) {
  return number_of(row.target, 0) && number_of(row.golden, 0) && !std::isnan(row.max_error);
}

void beside_input(const ClassicRow& output, const ClassicRow& input, bool real_data,
                  ClassicColour& colour) {
  if (!has_numbers(output) || !has_numbers(input)) {
    return;
  }
  if (real_data) {
    if (input.within_1e3 > 0.9 && output.within_1e3 < 0.6) {
      raise(colour, RowColour::red,
            "one thousandth error ratio: input above 0.9, output below 0.6");
    } else if (input.within_1e3 - output.within_1e3 > 0.1) {
      raise(colour, RowColour::yellow, "one thousandth error ratio drops by more than 0.1");
    }
    if (input.cosine - output.cosine > 0.1) {
      raise(colour, RowColour::yellow, "cosine drops by more than 0.1");
    }
  } else if (output.max_relative > 0.5) {
    raise(colour, RowColour::red, "relative error of the maximum exceeds 0.5");
  } else if (output.max_relative > 0.1 && input.max_relative < 0.01) {
    raise(colour, RowColour::yellow, "relative error of the maximum grows from 0.01 to 0.1");
  }
  const double in = std::abs(input.max_error);
  const double out = std::abs(output.max_error);
  if (in > 1.0 && out > 1.0 && out >= in && std::log10(out) - std::log10(in) >= 1.0) {
    raise(colour, RowColour::yellow, "maximum absolute error grows tenfold");
  }
}

}  // namespace

ClassicColour classic_colour(std::span<const ClassicRow> rows, std::size_t index, bool real_data) {
  ClassicColour colour;
  const ClassicRow& row = rows[index];
  own_rules(row, colour);
  for (std::size_t i = 0; row.output && i < rows.size(); ++i) {
    if (!rows[i].output) {
      beside_input(row, rows[i], real_data, colour);
    }
  }
  return colour;
}

}  // namespace opdrift::pipeline
