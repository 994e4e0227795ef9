#pragma once

#include <span>
#include <string_view>

namespace opdrift::pipeline {

/// A row of the table: functions with the same arguments (api_arguments.hpp has the grammar).
struct ApiSignature {
  std::string_view functions;  ///< names without namespace and call number, separated by blanks
  std::string_view kind;  ///< type name of the kind (replay/registry.hpp); "" the function's own
  std::string_view arguments;
};

std::span<const ApiSignature> all_signatures();

/// The row of a function ("conv2d", "Tensor.where" where a method differs from the function) or of
/// a module's class ("Linear"); nullptr for others. In-place names ("add_") mean the function.
/// `function` becomes the name that the row knows.
const ApiSignature* find_signature(std::string_view prefix, std::string_view& function);

}  // namespace opdrift::pipeline
