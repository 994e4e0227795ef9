#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace opdrift {

/// Set by Ctrl-C or by a caller that lost interest; long loops look at it between items.
class CancelFlag {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

/// The number of workers for `jobs` as given by a user: 0 means one per usable processor.
std::size_t worker_count(std::size_t jobs);

/// Calls `body(i)` for every i in [0, count), at most `jobs` at a time, in any order. An exception
/// in a body is rethrown here after the others have finished. When `cancel` is set no further items
/// are started.
void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& body,
                  const CancelFlag* cancel = nullptr);

}  // namespace opdrift
