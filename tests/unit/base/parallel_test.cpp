#include "opdrift/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace opdrift {
namespace {

TEST(ParallelFor, VisitsEveryItemOnceForAnyNumberOfJobs) {
  for (const std::size_t jobs : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_for(visits.size(), jobs, [&](std::size_t i) { ++visits[i]; });
    for (const std::atomic<int>& count : visits) {
      EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST(ParallelFor, RethrowsAfterTheOthersFinished) {
  std::atomic<int> done{0};
  EXPECT_THROW(parallel_for(100, 4,
                            [&](std::size_t i) {
                              if (i == 3) {
                                throw std::runtime_error("three");
                              }
                              ++done;
                            }),
               std::runtime_error);
  EXPECT_EQ(done.load(), 99);
}

TEST(ParallelFor, StopsStartingItemsOnceCancelled) {
  CancelFlag cancel;
  std::atomic<int> done{0};
  parallel_for(
      1000000, 2,
      [&](std::size_t) {
        ++done;
        cancel.cancel();
      },
      &cancel);
  EXPECT_LE(done.load(), 2);
}

}  // namespace
}  // namespace opdrift
