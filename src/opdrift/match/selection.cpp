#include "opdrift/match/selection.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

struct Range {
  std::int64_t start = 1;
  std::int64_t end = 0;
  std::int64_t step = 1;

  bool takes(std::int64_t id) const {
    return id == start || id == end || (id > start && id < end && (id - start) % step == 0);
  }
};

Result<std::int64_t> item(std::string_view text, std::int64_t fallback) {
  const std::string_view number = trim(text);
  if (number.empty()) {
    return fallback;
  }
  const std::optional<std::int64_t> value = parse_i64(number);
  if (!value) {
    return Error{ErrorCode::invalid_argument,
                 "expected a number in the range, found \"" + printable(number) + "\""};
  }
  return *value;
}

Result<Range> parse_range(std::string_view text, std::int64_t last) {
  const std::vector<std::string_view> items = split(text, ',');
  if (items.size() != 3) {
    return Error{ErrorCode::invalid_argument,
                 "expected a range start,end,step, found \"" + printable(text) + "\""};
  }
  Range range;
  OPDRIFT_TRY(range.start, item(items[0], 1));
  OPDRIFT_TRY(range.end, item(items[1], last));
  OPDRIFT_TRY(range.step, item(items[2], 1));
  range.end = range.end == -1 ? last : range.end;
  return range;
}

Error outside(const std::string& what, std::int64_t low, std::int64_t high, std::int64_t found) {
  return Error{ErrorCode::out_of_range, "expected " + what + " from " + std::to_string(low) +
                                            " to " + std::to_string(high) + ", found " +
                                            std::to_string(found)};
}

template <typename Takes>
Selection selection_of(const Network& network, const Takes& takes) {
  Selection selection;
  selection.groups.assign(network.groups.size(), false);
  for (const Node& node : network.nodes) {
    if (takes(node.id)) {
      selection.groups[node.group] = true;
    }
  }
  return selection;
}

}  // namespace

Result<Selection> select_range(const Network& network, std::string_view text,
                               bool step_below_last) {
  const std::int64_t last = network.last_id();
  OPDRIFT_TRY(const Range range, parse_range(text, last));
  if (range.start < 1 || range.start > last) {
    return outside("a range start", 1, last, range.start);
  }
  if (range.end < range.start || range.end > last) {
    return outside("a range end", range.start, last, range.end);
  }
  const std::int64_t largest_step = step_below_last ? last - 1 : last;
  if (range.step < 1 || range.step > largest_step) {
    return outside("a range step", 1, largest_step, range.step);
  }
  return selection_of(network, [&range](std::int64_t id) { return range.takes(id); });
}

Result<Selection> select_list(const Network& network, std::string_view list) {
  const std::int64_t last = network.last_id();
  std::unordered_set<std::int64_t> chosen;
  std::vector<std::string> warnings;
  for (const std::string_view entry : split(list, ',')) {
    const std::string_view number = trim(entry);
    if (!is_digits(number)) {
      return Error{ErrorCode::invalid_argument,
                   "expected natural numbers to select, found \"" + printable(list) + "\""};
    }
    const std::optional<std::int64_t> id = parse_i64(number);
    if (!id || *id > last) {
      warnings.push_back("operator " + std::string(number) + " lies beyond the last, " +
                         std::to_string(last));
      continue;
    }
    chosen.insert(*id);
  }
  if (chosen.empty()) {
    return Error{ErrorCode::invalid_argument, "expected an operator up to " + std::to_string(last) +
                                                  " to select, found \"" + printable(list) + "\""};
  }
  Selection selection =
      selection_of(network, [&chosen](std::int64_t id) { return chosen.contains(id); });
  selection.warnings = std::move(warnings);
  return selection;
}

}  // namespace opdrift::match
