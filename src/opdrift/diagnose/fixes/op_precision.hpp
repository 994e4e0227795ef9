#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// The file of `--op_precision_mode`. Operator names beat types.
///
///   file = [ "[ByOpType]" { TYPE "=" MODE } ] [ "[ByNodeName]" { NAME "=" MODE } ]
namespace opdrift::diagnose::fixes {

/// A type or a name, and a mode.
using PrecisionEntry = std::pair<std::string, std::string>;

struct OpPrecision {
  std::vector<PrecisionEntry> by_type;
  std::vector<PrecisionEntry> by_name;
};

/// Modes there are: high_precision, high_performance and so on.
bool is_precision_mode(std::string_view mode);

/// Sections that would be empty, and names that no line can hold, are left out.
std::string write_op_precision(const OpPrecision& precision);

/// Fails with malformed: an entry outside the two sections, without '=' or with an unknown mode.
Result<OpPrecision> parse_op_precision(std::string_view text);

}  // namespace opdrift::diagnose::fixes
