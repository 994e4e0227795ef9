#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// Two searches over the cut points of a model, in order from start to end.
///
///   suffix   bad(i): the part from cut i on shows the error when all before it is golden.
///            lo = 0, hi = n-1; while lo < hi: mid = (lo+hi+1)/2; bad ? lo = mid : hi = mid-1.
///            Answer lo, the latest start from which the error still shows.
///   prefix   bad(i): the part up to and including cut i spoils the golden rest.
///            lo = 0, hi = n-1; while lo < hi: mid = (lo+hi)/2; bad ? hi = mid : lo = mid+1.
///            Answer lo, the first prefix that is bad.
///
/// Both assume that a part which holds a bad part is bad, and that the largest part (suffix 0,
/// prefix n-1) is; the latter is never probed. At most 1 + ceil(log2 n) probes when every probe
/// says good or bad.
namespace opdrift::diagnose {

enum class Direction : std::uint8_t { suffix, prefix };

enum class Outcome : std::uint8_t {
  good,
  bad,
  skip,   ///< cannot be told here: the nearest cut that was not tried is taken
  flaky,  ///< differs from run to run: tried again, in the end taken as skip
};

std::string_view to_string(Direction direction);
std::string_view to_string(Outcome outcome);
std::optional<Direction> direction_by_name(std::string_view name);
std::optional<Outcome> outcome_by_name(std::string_view name);

/// What a search has come to.
struct SearchAnswer {
  std::size_t first = 0;  ///< cuts the answer is among; one when first == last
  std::size_t last = 0;
  bool assumed = false;  ///< rests on the assumption that the largest part is bad
  /// Pairs (bad, good) of which the good part holds the bad one.
  std::vector<std::pair<std::size_t, std::size_t>> contradictions;
};

/// A search after any number of probes. Its state follows from what was recorded, in whatever
/// order, so a written-down search can be taken up again.
class Search {
 public:
  /// How often a flaky cut is tried before it counts as skipped.
  static constexpr std::size_t kFlakyTries = 3;

  /// `cuts` is at least 1.
  Search(Direction direction, std::size_t cuts);

  /// The cut to probe next; nothing when the search is over.
  std::optional<std::size_t> next() const;

  /// Takes a result; the last one for a cut counts.
  void record(std::size_t cut, Outcome outcome);

  SearchAnswer answer() const;

  /// What is known of a cut.
  std::optional<Outcome> known(std::size_t cut) const;

 private:
  struct Bounds {
    std::size_t low = 0;
    std::size_t high = 0;
  };
  Bounds bounds() const;
  bool untried(std::size_t cut) const;

  Direction direction_;
  std::vector<std::optional<Outcome>> known_;
  std::vector<std::size_t> flaky_;  // tries that were flaky, per cut
};

/// One finished probe.
struct ProbeRecord {
  std::size_t cut = 0;
  Outcome outcome = Outcome::skip;
};

struct SearchRun {
  SearchAnswer answer;
  std::vector<ProbeRecord> probes;  ///< in the order they were made
};

/// Runs a search to its end. Fails as soon as a probe does.
Result<SearchRun> run_search(Direction direction, std::size_t cuts,
                             const std::function<Result<Outcome>(std::size_t)>& probe);

}  // namespace opdrift::diagnose
