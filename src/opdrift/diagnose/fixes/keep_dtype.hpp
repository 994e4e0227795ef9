#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The file of `--keep_dtype`, operators that stay as precise as the original model has them:
///
///   file = { entry "\n" }     entry = original operator name | "OpType::" type
namespace opdrift::diagnose::fixes {

struct KeepList {
  std::vector<std::string> names;  ///< of the original model
  std::vector<std::string> types;  ///< Ascend IR types

  /// Adds a name that is not in the list yet.
  void add_name(const std::string& name);
};

/// Names that cannot be an entry (empty, line ends, control characters) are left out.
std::string write_keep_dtype(const KeepList& list);

/// Empty lines and blanks around entries are passed over; so is a second one of the same name.
KeepList parse_keep_dtype(std::string_view text);

/// False for a name that no line can hold.
bool is_line(std::string_view name);

}  // namespace opdrift::diagnose::fixes
