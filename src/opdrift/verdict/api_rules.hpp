#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/graph/api_run.hpp"

/// The verdict on the rows of one API call. Every row begins as `pass`; it ends with the worst
/// level of the rules that hit it and their messages in this order:
///
///   1  real, statistics  row: largest or smallest of the target NaN or infinite, of the golden not
///   2  real              all inputs agree (ratio within 1/1000 > 0.9), some output does not (<
///   0.6;
///                        the reference's code says 0.1) -> first output
///      statistics        norms of all inputs agree within 10 %, of an output not within 50 %
///   3  real, statistics  row: requires_grad differs
///   4  real, statistics  input row: scalars differ
///   5  real, statistics  row: element types differ (names with qkv or gate_up excepted)
///   6  real, statistics  row: shapes differ
///   7  real              cosine of all inputs > 0.9, of an output more than 0.1 below -> first
///   output
///      statistics        norm error of the outputs more than 10 times that of the inputs
///   m  check sums        row: texts differ
///
/// Calls that only allocate or copy (empty, to, numpy ...) get no rule; collectives whose inputs
/// are placeholders get row rules on their outputs only.
namespace opdrift::verdict {

enum class RowLevel : std::uint8_t { pass, warning, error };

std::string_view to_string(RowLevel level);

enum class RowMode : std::uint8_t { real_data, statistics, checksum };

/// Messages of the rules; their order is that of the table above.
enum class RowMessage : std::uint8_t {
  not_finite,
  ratio_drop,
  norm_error,
  requires_grad,
  scalar,
  dtype,
  shape,
  cosine_drop,
  norm_growth,
  checksum_unmatched,
  checksum,
};

std::string_view to_string(RowMessage message);

/// One row as the rules see it. Numbers that a row does not have are NaN.
struct RuleRow {
  const graph::ApiLeaf* target = nullptr;
  const graph::ApiLeaf* golden = nullptr;  ///< nullptr for an unmatched row
  std::string_view target_dtype;
  std::string_view golden_dtype;
  bool output = false;
  double cosine = 0.0;
  double within_1e3 = 0.0;
  double norm_relative = 0.0;  ///< a share, not a percentage; may be infinite
  std::string_view target_checksum = {};
  std::string_view golden_checksum = {};

  RowLevel level = RowLevel::pass;
  std::uint32_t messages = 0;  ///< one bit per RowMessage

  void raise(RowLevel to, RowMessage message);
};

struct RuleOptions {
  RowMode mode = RowMode::statistics;
  bool reference_limits = false;  ///< the limits of the reference's code instead of its documents
};

/// Judges the rows of one call, given in table order.
void apply_rules(std::span<RuleRow> rows, const RuleOptions& options);

/// Err_message: a JSON list of `reasons` and then the rules' messages.
std::string message_list(const std::vector<std::string>& reasons, std::uint32_t messages);

}  // namespace opdrift::verdict
