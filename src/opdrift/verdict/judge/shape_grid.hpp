#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/replay/array.hpp"
#include "opdrift/verdict/judge/reader.hpp"

// A value seen as a table: one row per place, one column per channel, of which some rows and some
// columns are read.
//
//   position = (place / inner * channels + channel) * inner + place % inner
//
// Small tensors are read whole. Of others about 8192 elements are drawn: 128 places or more, in all
// channels or, of more than 128, in 64 drawn ones. Rows and columns of elements that stand out
// follow behind the drawn ones; scales are taken from the drawn ones alone, so every element read
// has a scale of its place and one of its channel.

namespace opdrift::verdict::judging {

struct Grid {
  replay::AxisSplit split;  ///< outer x channels x inner
  std::vector<std::uint64_t> places;
  std::vector<std::uint64_t> channels;
  std::size_t drawn_places = 0;
  std::size_t drawn_channels = 0;
  /// Rows of `places`, columns of `channels`.
  std::vector<double> golden;
  std::vector<double> target;
  std::vector<double> error;  ///< t - g, 0 where a side is not finite

  std::size_t size() const { return error.size(); }
  std::size_t columns() const { return channels.size(); }
  std::uint64_t population() const { return split.outer * split.extent * split.inner; }
  bool whole() const { return population() == size(); }
  /// Flat position of entry i.
  std::uint64_t position(std::size_t i) const;
};

struct GridOptions {
  std::size_t axis = 0;                              ///< of the channels
  std::uint64_t seed = 0;                            ///< decides about the places
  std::uint64_t whole_up_to = 8192;                  ///< larger tensors are sampled
  std::span<const std::uint64_t> standing_out = {};  ///< flat positions
};

/// Reads both sides of a value of one element or more. Fewer axes than two: one channel.
Grid read_grid(const Reader& golden, const Reader& target, const GridOptions& options);

}  // namespace opdrift::verdict::judging
