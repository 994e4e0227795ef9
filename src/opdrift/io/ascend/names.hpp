#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// Names of dump files. NAME = one or more of A-Z a-z 0-9 _ -; CHARS = those and "."; NUM = digits;
/// TIME = 1 to 255 digits; groups in parentheses, [x] optional:
///
///   offline         NAME.(NAME).NUM[(.NUM)].TIME[(.NUM.NUM.NUM)][(.NUM)]   rest allowed
///   standard        (NAME.NUM).TIME.pb                                     whole name
///   quant           (NAME.NUM).TIME.quant                                  whole name
///   numpy           (CHARS.NUM).TIME.npy                                   whole name
///   standard_numpy  (CHARS.NUM.TIME).npy                                   whole name
///   offline_numpy   (NAME.NAME.NUM.TIME).NUM.(npy|data|bin|txt)            whole name
///   dump            (NAME).(NAME).(NUM)[.][(NUM)].(TIME)[.][(NUM)]...      rest allowed, 4 numbers
///   debug           the same with Opdebug and Node_OpDebug as names
///   plugin          (convert_W{1,128}_to_W{1,128}).py[c]                   whole name; W = letter,
///                                                                          digit or _
///
/// Matching is leftmost, greedy and backtracking, from the first character; "whole name" tolerates
/// one newline at the end. The matchers here are written by hand: every quantifier is followed by a
/// character it cannot take, so there is at most one split to try, and they take linear time.
namespace opdrift::io {

enum class NamePattern : std::uint8_t {
  offline,
  standard,
  quant,
  numpy,
  standard_numpy,
  offline_numpy,
  dump,
  debug,
  plugin
};

/// The groups of a match, in order; an optional group that took nothing is empty.
using NameGroups = std::vector<std::optional<std::string_view>>;

/// The groups when `name` matches, nothing otherwise. They point into `name`.
std::optional<NameGroups> match_name(NamePattern pattern, std::string_view name);

/// A name of the pattern `dump`, taken apart.
struct DumpName {
  std::string_view op_type;
  std::string_view op_name;
  std::uint64_t task_id = 0;
  std::optional<std::uint64_t> stream_id;  ///< missing in old releases
  std::string_view time;                   ///< digits
  /// task type, context, thread and device of the long form
  std::array<std::optional<std::uint64_t>, 4> extra;
};

/// Numbers beyond 64 bits read as 2^64 - 1.
std::optional<DumpName> parse_dump_name(std::string_view name);

/// How the files of one operator belong together.
enum class SliceMode : std::uint8_t {
  normal = 0,     ///< one file per execution
  automatic = 1,  ///< one file per thread
  manual = 2,     ///< one file per `_lxslice`
};

/// The mode a file name asks for. Names ending in .npy and names of at most five parts are normal;
/// otherwise the fourth part from the end is the task type. Fails with bad_task_type when that is
/// not 0 to 4.
Result<SliceMode> slice_mode_of(std::string_view name);

/// Every `_lxslice<digits>` taken out.
std::string without_lxslice(std::string_view op_name);

/// The operator behind a sliced one. With `has_fusion_rule` and an `_lxslice` in the name only the
/// slices are taken out. Otherwise a `lxslice<digits>` at the very end is cut off with its
/// underscore, then everything up to the last `sgt_graph_<digits>` and its separator.
std::string clean_op_name(std::string_view op_name, bool has_fusion_rule);

/// True for operator names that only occur in quantised models (`_quant`, `AscendDequant`, ...).
bool is_quantised_op(std::string_view op_key);

/// An operator name as it stands in file names: "/" and "." become "_".
std::string file_key(std::string_view op_name);

}  // namespace opdrift::io
