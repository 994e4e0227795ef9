#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::pipeline {

/// Brings the two sides of a pair in, mapped and in one logical order.
using OpenPair = std::function<Result<AlignedPair>(std::size_t pair)>;

/// Pairs that operators work on. A pair stays open until as many operators as were announced have
/// used it, because bringing it in again costs more than judging from it; when those are too many
/// for memory, the one used longest ago goes. Pairs that nobody waits for go at once but for a few.
/// Any thread.
class OpenPairs {
 public:
  explicit OpenPairs(OpenPair open) : open_(std::move(open)) {}

  /// Announces further users. Before the first pair is opened.
  void expect(std::size_t index, std::uint32_t users) { waiting_[index] += users; }
  /// Opens a pair, or gives the open one. Several threads that want one wait for the first.
  Result<AlignedPair> pair(std::size_t index);
  /// One of the announced users is done with the pair.
  void used(std::size_t index);

 private:
  struct Opened {
    std::size_t index = 0;
    std::once_flag once;
    std::optional<Result<AlignedPair>> pair;
    std::uint64_t bytes = 0;
  };
  using Entry = std::shared_ptr<Opened>;
  using Place = std::list<Entry>::iterator;

  Entry entry_of(std::size_t index);
  void count_bytes(const Entry& added);
  void make_room();
  void close(Place place);
  std::uint32_t waiting(std::size_t index) const;

  OpenPair open_;
  std::mutex mutex_;
  std::list<Entry> opened_;  ///< latest use first
  std::unordered_map<std::size_t, Place> places_;
  std::unordered_map<std::size_t, std::uint32_t> waiting_;  ///< users to come
  std::uint64_t bytes_ = 0;
  std::uint64_t idle_bytes_ = 0;  ///< of pairs without users to come
};

}  // namespace opdrift::pipeline
