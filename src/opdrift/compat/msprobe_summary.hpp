#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/pipeline/msprobe/notable_rows.hpp"

namespace opdrift::compat {

/// What a comparison came to, for people.
struct MsprobeSummary {
  std::uint64_t wrong = 0;
  std::uint64_t suspicious = 0;
  std::uint64_t fine = 0;
  std::string wrong_word = "error";
  std::string fine_word = "pass";
  std::string first_difference;  ///< a sentence, or ""
  std::vector<pipeline::NotableRow> rows;
};

/// A few lines: counts, the first difference, the rows to look at first. `colour`: wrong in red,
/// suspicious in yellow, fine in green.
std::string render_summary(const MsprobeSummary& summary, bool colour);

/// Prints it on standard output, coloured when that is a terminal and NO_COLOR is not set.
void print_summary(const MsprobeSummary& summary);

}  // namespace opdrift::compat
