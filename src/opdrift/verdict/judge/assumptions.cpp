#include <string>

#include "opdrift/verdict/judge.hpp"

namespace opdrift::verdict {

namespace {

bool apply(std::string_view word, Assumptions& assumptions) {
  if (word == "tf32") {
    assumptions.operands = 0x1p-11;
  } else if (word == "bf16-products") {
    assumptions.operands = 0x1p-8;
  } else if (word == "half-accumulators") {
    assumptions.half_accumulators = true;
  } else if (word == "truncation") {
    assumptions.truncation = true;
  } else if (word == "wider-inputs") {
    assumptions.wider_inputs = true;
  } else {
    return word == "none";
  }
  return true;
}

}  // namespace

Result<Assumptions> parse_assumptions(std::string_view text) {
  Assumptions assumptions;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (!apply(word, assumptions)) {
      return Error{ErrorCode::invalid_argument,
                   "assumption '" + std::string(word) +
                       "': expected tf32, bf16-products, half-accumulators, truncation, "
                       "wider-inputs or none"};
    }
    if (comma == std::string_view::npos) {
      return assumptions;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace opdrift::verdict
