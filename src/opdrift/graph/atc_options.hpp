#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opdrift::graph {

/// The command that built an offline model, kept in its attribute `atc_cmdline`:
///
///     command = program { "--" name ( "=" value | " " value | "" ) }
///
/// A value may be quoted; single dashes are taken as well. Words without an option before them are
/// dropped, and a later option of the same name wins where one is asked for.
struct AtcOptions {
  std::string program;                                      ///< first word, "" for an empty command
  std::vector<std::pair<std::string, std::string>> values;  ///< in the order written, no dashes

  /// The last value of that name.
  std::optional<std::string> get(std::string_view name) const;
};

AtcOptions parse_atc_command(std::string_view text);

}  // namespace opdrift::graph
