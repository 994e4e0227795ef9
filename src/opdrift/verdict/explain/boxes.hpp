#pragma once

#include "opdrift/verdict/explain/index_maps.hpp"

// Hypotheses about boxes of indices, from the bad elements per axis:
//   swapped    two boxes of one size hold each other's base
//   copied     the box of the bad elements holds another part of the base ("row 17 holds row 5")

namespace opdrift::verdict::refit {

Candidates box_swap_candidates(const Evidence& evidence);
Candidates box_copy_candidates(const Evidence& evidence);

/// Indices of an axis that hold bad elements, as blocks without gaps.
struct IndexBlock {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
std::vector<IndexBlock> bad_blocks(const Evidence& evidence, std::size_t axis);

/// The smallest box that holds every bad element; there must be one.
IndexBox bad_box(const Evidence& evidence);

/// "[0, 3, 16 to 31, all]"
std::string box_text(const Evidence& evidence, const IndexBox& box);

}  // namespace opdrift::verdict::refit
