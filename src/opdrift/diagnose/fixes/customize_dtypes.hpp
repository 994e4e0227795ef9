#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// The file of `--customize_dtypes`, which beats keep_dtype and the precision mode:
///
///   file  = { entry "\n" }
///   entry = operator name "::" types | "OpType::" type ":" types
///   types = [ "InputDtype:" list ] [ "," ] [ "OutputDtype:" list ]     list = type { "," type }
///
/// One type per input and output, in order.
namespace opdrift::diagnose::fixes {

struct CustomDtypes {
  bool by_type = false;
  std::string name;  ///< of an operator, or its type
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// float32 for everything the operator takes and makes.
CustomDtypes all_float32(const std::string& name, std::size_t inputs, std::size_t outputs);

/// Entries without a type, and names that no line can hold, are left out.
std::string write_customize_dtypes(const std::vector<CustomDtypes>& entries);

/// Fails with malformed, naming the line.
Result<std::vector<CustomDtypes>> parse_customize_dtypes(std::string_view text);

}  // namespace opdrift::diagnose::fixes
