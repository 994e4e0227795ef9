#include "opdrift/pipeline/judge/open_pairs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

namespace opdrift::pipeline {
namespace {

/// Pairs of so many bytes each, counted as they are opened.
class CountedPairs {
 public:
  explicit CountedPairs(std::size_t bytes) : bytes_(bytes) {}

  OpenPair open() {
    return [this](std::size_t index) -> Result<AlignedPair> {
      const std::lock_guard lock(mutex_);
      ++opened_[index];
      AlignedPair pair;
      // Nobody reads them: an address is enough.
      pair.golden.tensor.bytes.span = ByteSpan(&nothing_, bytes_ / 2);
      pair.target.tensor.bytes.span = ByteSpan(&nothing_, bytes_ / 2);
      return pair;
    };
  }
  int opened(std::size_t index) { return opened_[index]; }

 private:
  std::size_t bytes_;
  std::byte nothing_{};
  std::mutex mutex_;
  std::map<std::size_t, int> opened_;
};

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(OpenPairs, AreOpenedOnceForAllTheirUsers) {
  CountedPairs counted(20 * kMegabyte);
  OpenPairs pairs(counted.open());
  constexpr std::size_t kPairs = 30;
  for (std::size_t i = 0; i < kPairs; ++i) {
    pairs.expect(i, 2);
  }
  // A chain: every operator uses the pair before and its own.
  for (std::size_t i = 0; i < kPairs; ++i) {
    EXPECT_TRUE(pairs.pair(i).has_value());
    pairs.used(i);
    if (i > 0) {
      EXPECT_TRUE(pairs.pair(i - 1).has_value());
      pairs.used(i - 1);
    }
  }
  for (std::size_t i = 0; i < kPairs; ++i) {
    EXPECT_EQ(counted.opened(i), 1) << i;
  }
}

TEST(OpenPairs, GoOnceNobodyWaitsForThem) {
  CountedPairs counted(20 * kMegabyte);
  OpenPairs pairs(counted.open());
  for (std::size_t i = 0; i < 4; ++i) {
    pairs.expect(i, 1);
    EXPECT_TRUE(pairs.pair(i).has_value());
    pairs.used(i);
  }
  EXPECT_TRUE(pairs.pair(0).has_value());
  EXPECT_EQ(counted.opened(0), 2);
}

TEST(OpenPairs, GoTheOldestFirstWhenTooManyAreWaitedFor) {
  CountedPairs counted(100 * kMegabyte);
  OpenPairs pairs(counted.open());
  for (std::size_t i = 0; i < 5; ++i) {
    pairs.expect(i, 10);
    EXPECT_TRUE(pairs.pair(i).has_value());
  }
  EXPECT_TRUE(pairs.pair(4).has_value());
  EXPECT_TRUE(pairs.pair(0).has_value());
  EXPECT_EQ(counted.opened(4), 1);
  EXPECT_EQ(counted.opened(0), 2);
}

TEST(OpenPairs, UsersThatWereNotAnnouncedDoNoHarm) {
  CountedPairs counted(kMegabyte);
  OpenPairs pairs(counted.open());
  pairs.used(3);
  EXPECT_TRUE(pairs.pair(3).has_value());
  pairs.used(3);
  EXPECT_TRUE(pairs.pair(3).has_value());
}

TEST(OpenPairs, AFailureIsGivenToEveryoneWhoAsks) {
  OpenPairs pairs([](std::size_t) -> Result<AlignedPair> {
    return Error{ErrorCode::truncated, "cut off", "file"};
  });
  pairs.expect(0, 2);
  EXPECT_FALSE(pairs.pair(0).has_value());
  EXPECT_FALSE(pairs.pair(0).has_value());
}

TEST(OpenPairs, ThreadsThatWantOnePairWaitForTheFirst) {
  CountedPairs counted(kMegabyte);
  OpenPairs pairs(counted.open());
  pairs.expect(0, 8);
  std::atomic<int> given{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        given += pairs.pair(0).has_value() ? 1 : 0;
        pairs.used(0);
      });
    }
  }
  EXPECT_EQ(given, 8);
  EXPECT_EQ(counted.opened(0), 1);
}

}  // namespace
}  // namespace opdrift::pipeline
