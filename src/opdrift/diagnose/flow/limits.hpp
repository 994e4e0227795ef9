#pragma once

#include <string_view>

#include "opdrift/base/result.hpp"

namespace opdrift::diagnose::flow {

/// Where good ends. A cosine is good from its limit on; NaN never is.
struct Limits {
  double output = 0.99;      ///< cosine of a net output, of a network input, of an export
  double difference = 0.95;  ///< cosine of an operator, one run against another
  double golden = 0.99;      ///< cosine of an operator against the golden
  double flushed = 0.05;     ///< share of flushed elements from which underflow is the cause
  double float16 = 65504.0;  ///< largest |value| the low precision holds
};

/// Sets a limit by its name: output, difference, golden, flushed or float16. Fails with
/// invalid_argument for another name and for a value outside (0, 1], or not above 0 for float16.
Status set_limit(Limits& limits, std::string_view name, double value);

}  // namespace opdrift::diagnose::flow
