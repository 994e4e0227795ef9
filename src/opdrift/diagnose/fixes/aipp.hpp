#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// The file of `--insert_op_conf`, protobuf text:
///
///   file = { "aipp_op" [":"] "{" { key ":" value } "}" }     value = number | word | "text"
///
/// "#" begins a comment. Inside the device: channel swap, crop, colour conversion, then
/// (pixel - mean_chn - min_chn) * var_reci_chn per channel, then padding.
namespace opdrift::diagnose::fixes {

/// One `aipp_op`: keys in the order of the file. A key may stand there more than once.
struct AippOp {
  std::vector<std::pair<std::string, std::string>> keys;

  /// The last value of a key.
  std::optional<std::string> get(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  bool flag(std::string_view key) const;  ///< "true" or "1"
  /// Replaces the last value, or adds the key at the end.
  void set(const std::string& key, const std::string& value);
};

std::string write_aipp(const std::vector<AippOp>& operators);

/// Fails with malformed, naming the line.
Result<std::vector<AippOp>> parse_aipp(std::string_view text);

/// The model's own input, as far as it is known; 0 is unknown.
struct AippTarget {
  std::uint64_t channels = 0;
  std::uint64_t height = 0;
  std::uint64_t width = 0;
};

/// What cannot be right about an operator, in sentences; empty when nothing is.
std::vector<std::string> check_aipp(const AippOp& op, const AippTarget& target);

}  // namespace opdrift::diagnose::fixes
