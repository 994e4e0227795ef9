#include "opdrift/base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace opdrift {

namespace {

constexpr long kMostJobs = 4096;

}  // namespace

std::size_t worker_count(std::size_t jobs) {
  if (jobs > 0) {
    return jobs;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  const char* const wanted = std::getenv("OPDRIFT_JOBS");
  const long count = wanted == nullptr ? 0 : std::strtol(wanted, nullptr, 10);
  if (count > 0 && count <= kMostJobs) {
    return static_cast<std::size_t>(count);
  }
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&usable)));
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& body,
                  const CancelFlag* cancel) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    while (cancel == nullptr || !cancel->cancelled()) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) {
        return;
      }
      try {
        body(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(failure_mutex);
        failure = failure ? failure : std::current_exception();
      }
    }
  };
  const std::size_t workers = std::min(worker_count(jobs), count);
  if (workers <= 1) {
    work();
  } else {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers; ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace opdrift
