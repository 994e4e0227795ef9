#include "opdrift/diagnose/bisect/search.hpp"

#include <algorithm>

namespace opdrift::diagnose {

namespace {

constexpr std::string_view kDirections[] = {"suffix", "prefix"};
constexpr std::string_view kOutcomes[] = {"good", "bad", "skip", "flaky"};

template <typename Enum, std::size_t N>
std::optional<Enum> by_name(const std::string_view (&names)[N], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? std::nullopt
                                  : std::optional(static_cast<Enum>(found - std::begin(names)));
}

}  // namespace

std::string_view to_string(Direction direction) {
  return kDirections[static_cast<std::size_t>(direction)];
}

std::string_view to_string(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::optional<Direction> direction_by_name(std::string_view name) {
  return by_name<Direction>(kDirections, name);
}

std::optional<Outcome> outcome_by_name(std::string_view name) {
  return by_name<Outcome>(kOutcomes, name);
}

Search::Search(Direction direction, std::size_t cuts)
    : direction_(direction), known_(cuts), flaky_(cuts, 0) {
  OPDRIFT_CHECK(cuts > 0);
}

void Search::record(std::size_t cut, Outcome outcome) {
  OPDRIFT_CHECK(cut < known_.size());
  if (outcome == Outcome::flaky && ++flaky_[cut] < kFlakyTries) {
    return;
  }
  known_[cut] = outcome == Outcome::flaky ? Outcome::skip : outcome;
}

std::optional<Outcome> Search::known(std::size_t cut) const {
  return known_[cut];
}

bool Search::untried(std::size_t cut) const {
  return !known_[cut].has_value();
}

// With results that contradict each other the bad ones decide: the shortest failing part is a fact
// whatever longer parts did.
Search::Bounds Search::bounds() const {
  const std::size_t count = known_.size();
  Bounds bounds{0, count - 1};
  if (direction_ == Direction::suffix) {
    for (std::size_t cut = 0; cut < count; ++cut) {
      bounds.low = known_[cut] == Outcome::bad ? cut : bounds.low;
    }
    for (std::size_t cut = count - 1; cut > bounds.low; --cut) {
      bounds.high = known_[cut] == Outcome::good ? cut - 1 : bounds.high;
    }
    return bounds;
  }
  for (std::size_t cut = count; cut-- > 0;) {
    bounds.high = known_[cut] == Outcome::bad ? cut : bounds.high;
  }
  for (std::size_t cut = 0; cut < bounds.high; ++cut) {
    bounds.low = known_[cut] == Outcome::good ? cut + 1 : bounds.low;
  }
  return bounds;
}

std::optional<std::size_t> Search::next() const {
  const auto [low, high] = bounds();
  if (low >= high) {
    return std::nullopt;
  }
  const bool suffix = direction_ == Direction::suffix;
  const std::size_t first = suffix ? low + 1 : low;  // cuts whose result would tell something
  const std::size_t last = suffix ? high : high - 1;
  const std::size_t middle = suffix ? (low + high + 1) / 2 : (low + high) / 2;
  for (std::size_t distance = 0; distance <= last - first; ++distance) {
    if (middle >= first + distance && untried(middle - distance)) {
      return middle - distance;
    }
    if (middle + distance <= last && untried(middle + distance)) {
      return middle + distance;
    }
  }
  return std::nullopt;
}

SearchAnswer Search::answer() const {
  const auto [low, high] = bounds();
  SearchAnswer answer;
  answer.first = low;
  answer.last = high;
  const std::size_t largest = direction_ == Direction::suffix ? low : high;
  answer.assumed = known_[largest] != Outcome::bad;
  for (std::size_t bad = 0; bad < known_.size(); ++bad) {
    for (std::size_t good = 0; known_[bad] == Outcome::bad && good < known_.size(); ++good) {
      const bool holds = direction_ == Direction::suffix ? good < bad : good > bad;
      if (holds && known_[good] == Outcome::good) {
        answer.contradictions.emplace_back(bad, good);
      }
    }
  }
  return answer;
}

Result<SearchRun> run_search(Direction direction, std::size_t cuts,
                             const std::function<Result<Outcome>(std::size_t)>& probe) {
  Search search(direction, cuts);
  SearchRun run;
  while (const std::optional<std::size_t> cut = search.next()) {
    OPDRIFT_TRY(const Outcome outcome, probe(*cut));
    search.record(*cut, outcome);
    run.probes.push_back({*cut, outcome});
  }
  run.answer = search.answer();
  return run;
}

}  // namespace opdrift::diagnose
