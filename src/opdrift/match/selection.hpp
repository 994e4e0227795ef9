#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/match/network.hpp"

/// Part of a network, by the ids of its operators:
///
///   range  = [start] "," [end] "," [step]     defaults 1, last, 1; end -1 stands for last
///   list   = id ("," id)*                     blanks and repeats allowed
///
/// A range takes start, end, and every id between them that is a multiple of step away from start.
/// Last is the largest id. A chosen operator brings its whole group.
namespace opdrift::match {

struct Selection {
  std::vector<bool> groups;           ///< by position in Network::groups
  std::vector<std::string> warnings;  ///< ids beyond the last
};

/// Fails with invalid_argument (not three numbers) or out_of_range (1 <= start <= end <= last,
/// 1 <= step). `step_below_last`: also refuses a step equal to last.
Result<Selection> select_range(const Network& network, std::string_view range,
                               bool step_below_last);

/// Fails with invalid_argument when an entry is no natural number, or all lie beyond the last id.
Result<Selection> select_list(const Network& network, std::string_view list);

}  // namespace opdrift::match
