#pragma once

#include <cstddef>
#include <string>

#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

struct TerminalStyle {
  std::size_t columns = 100;  ///< width to fit into; names are shortened in the middle
  bool colour = false;
  std::size_t rows = 12;  ///< tensors shown, worst first
};

/// The summary people read first: verdict, first offender, worst tensors, totals of the ledger.
std::string render_terminal(const verdict::RunResult& result, const TerminalStyle& style);

}  // namespace opdrift::report
