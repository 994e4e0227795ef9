#include "opdrift/pipeline/judge/open_pairs.hpp"

#include <iterator>

namespace opdrift::pipeline {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMostIdleBytes = std::uint64_t{16} << 20U;
constexpr std::size_t kMostPairs = 1024;
constexpr std::size_t kOpenAtLeast = 2;

}  // namespace

std::uint32_t OpenPairs::waiting(std::size_t index) const {
  const auto found = waiting_.find(index);
  return found == waiting_.end() ? 0 : found->second;
}

OpenPairs::Entry OpenPairs::entry_of(std::size_t index) {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(index);
  if (known != places_.end()) {
    opened_.splice(opened_.begin(), opened_, known->second);
    return opened_.front();
  }
  opened_.push_front(std::make_shared<Opened>());
  opened_.front()->index = index;
  places_[index] = opened_.begin();
  return opened_.front();
}

// Whoever still reads a pair that is closed here keeps its bytes.
void OpenPairs::close(Place place) {
  const Opened& entry = **place;
  bytes_ -= entry.bytes;
  idle_bytes_ -= waiting(entry.index) == 0 ? entry.bytes : 0;
  places_.erase(entry.index);
  opened_.erase(place);
}

void OpenPairs::make_room() {
  const auto full = [&](bool idle) {
    return opened_.size() > kOpenAtLeast &&
           (idle ? idle_bytes_ > kMostIdleBytes
                 : bytes_ > kMostBytes || opened_.size() > kMostPairs);
  };
  for (const bool idle : {true, false}) {
    for (auto place = opened_.end(); full(idle) && place != opened_.begin();) {
      --place;
      const auto candidate = place;
      if (!idle || (waiting((*candidate)->index) == 0 && (*candidate)->bytes > 0)) {
        place = std::next(candidate);
        close(candidate);
      }
    }
  }
}

void OpenPairs::count_bytes(const Entry& added) {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(added->index);
  if (known != places_.end() && *known->second == added && *added->pair) {
    added->bytes = (**added->pair).golden.tensor.bytes.span.size() +
                   (**added->pair).target.tensor.bytes.span.size();
    bytes_ += added->bytes;
    idle_bytes_ += waiting(added->index) == 0 ? added->bytes : 0;
  }
  make_room();
}

Result<AlignedPair> OpenPairs::pair(std::size_t index) {
  const Entry entry = entry_of(index);
  std::call_once(entry->once, [&] {
    entry->pair = open_(index);
    count_bytes(entry);
  });
  return *entry->pair;
}

void OpenPairs::used(std::size_t index) {
  const std::lock_guard lock(mutex_);
  const auto users = waiting_.find(index);
  if (users == waiting_.end() || users->second == 0 || --users->second > 0) {
    return;
  }
  const auto known = places_.find(index);
  if (known != places_.end()) {
    idle_bytes_ += (*known->second)->bytes;
    make_room();
  }
}

}  // namespace opdrift::pipeline
