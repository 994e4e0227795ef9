#include "opdrift/base/arena.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace opdrift {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(Arena, BlocksThatAreGivenBackAreUsedForOtherSizes) {
  Arena arena(16 * kMegabyte, 0);
  std::byte* const large = arena.take(8 * kMegabyte);
  ASSERT_NE(large, nullptr);
  arena.give_back(large, 8 * kMegabyte);
  std::byte* const small = arena.take(5000);
  std::byte* const next = arena.take(3 * kMegabyte);
  EXPECT_EQ(small, large);
  EXPECT_EQ(next, large + 8192);  // pages of 4096
  arena.give_back(small, 5000);
  arena.give_back(next, 3 * kMegabyte);
  EXPECT_EQ(arena.take(16 * kMegabyte), large);
}

TEST(Arena, WhatDoesNotFitIsRefused) {
  Arena arena(4 * kMegabyte, 0);
  EXPECT_EQ(arena.take(5 * kMegabyte), nullptr);
  EXPECT_EQ(arena.take(~std::size_t{0} - 5000), nullptr);
  std::byte* const half = arena.take(3 * kMegabyte);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(arena.take(2 * kMegabyte), nullptr);
  EXPECT_NE(arena.take(kMegabyte), nullptr);
}

// Blocks in use never overlap, in whatever order they come and go.
TEST(Arena, BlocksKeepWhatWasWrittenIntoThem) {
  Arena arena(8 * kMegabyte, kMegabyte);
  std::mt19937 random(7);
  struct Block {
    std::byte* data;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Block> blocks;
  for (int round = 0; round < 2000; ++round) {
    if (blocks.empty() || random() % 5 < 3) {
      const std::size_t bytes = 1 + random() % (200 * 1024);
      if (std::byte* const data = arena.take(bytes)) {
        const auto mark = static_cast<unsigned char>(round);
        std::memset(data, mark, bytes);
        blocks.push_back({data, bytes, mark});
        continue;
      }
    }
    const std::size_t chosen = random() % blocks.size();
    const Block block = blocks[chosen];
    for (const std::size_t at : {std::size_t{0}, block.bytes / 2, block.bytes - 1}) {
      ASSERT_EQ(static_cast<unsigned char>(block.data[at]), block.mark);
    }
    arena.give_back(block.data, block.bytes);
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  for (const Block& block : blocks) {
    arena.give_back(block.data, block.bytes);
  }
  EXPECT_NE(arena.take(8 * kMegabyte), nullptr);
}

}  // namespace
}  // namespace opdrift
