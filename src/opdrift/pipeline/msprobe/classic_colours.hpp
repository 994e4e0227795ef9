#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "opdrift/graph/api_run.hpp"
#include "opdrift/report/cell_block.hpp"

/// Row colours by the thresholds of the releases that coloured rows:
///
///   red     any row: largest or smallest value of the target not finite; |max error| > 1e10
///           output beside an input: real data: share within 1/1000 of the input > 0.9, of the
///           output < 0.6; statistics: relative error of the maximum > 0.5
///   yellow  output beside an input: max errors both > 1 and grown tenfold; share within 1/1000
///           dropped by more than 0.1; cosine dropped by more than 0.1; relative error of the
///           maximum > 0.1 with one below 0.01 at the input
///           any row: requires_grad differs
///
/// Max error is MaxAbsErr (real data) or Max diff (statistics).
namespace opdrift::pipeline {

struct ClassicRow {
  const graph::ApiLeaf* target = nullptr;
  const graph::ApiLeaf* golden = nullptr;
  bool output = false;
  double max_error = std::numeric_limits<double>::quiet_NaN();
  double cosine = std::numeric_limits<double>::quiet_NaN();
  double within_1e3 = std::numeric_limits<double>::quiet_NaN();
  double max_relative = std::numeric_limits<double>::quiet_NaN();
};

struct ClassicColour {
  report::RowColour colour = report::RowColour::none;
  std::vector<std::string> reasons;
};

/// Colour of row `index` among the rows of its call.
ClassicColour classic_colour(std::span<const ClassicRow> rows, std::size_t index, bool real_data);

}  // namespace opdrift::pipeline
