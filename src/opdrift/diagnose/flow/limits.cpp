#include "opdrift/diagnose/flow/limits.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::flow {

namespace {

struct LimitRow {
  std::string_view name;
  double Limits::*value;
  double largest;
};

constexpr LimitRow kLimits[] = {
    {"output", &Limits::output, 1.0},
    {"difference", &Limits::difference, 1.0},
    {"golden", &Limits::golden, 1.0},
    {"flushed", &Limits::flushed, 1.0},
    {"float16", &Limits::float16, std::numeric_limits<double>::max()},
};

Error unknown_limit(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LimitRow& row : kLimits) {
    names.push_back(row.name);
  }
  return Error{ErrorCode::invalid_argument, "no limit is called '" + printable(name) +
                                                "'; there are output, difference, golden, flushed "
                                                "and float16" +
                                                did_you_mean(name, names)};
}

}  // namespace

Status set_limit(Limits& limits, std::string_view name, double value) {
  const auto* const row = std::find_if(std::begin(kLimits), std::end(kLimits),
                                       [&](const LimitRow& one) { return one.name == name; });
  if (row == std::end(kLimits)) {
    return unknown_limit(name);
  }
  if (!(value > 0.0) || !(value <= row->largest)) {
    return Error{ErrorCode::invalid_argument, "the limit '" + std::string(name) +
                                                  "' has to be above 0" +
                                                  (row->largest == 1.0 ? " and at most 1" : "")};
  }
  limits.*(row->value) = value;
  return Unit{};
}

}  // namespace opdrift::diagnose::flow
