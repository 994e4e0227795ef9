#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "opdrift/replay/kinds/heads.hpp"

// Which keys a query sees in the attention operators of Ascend IR:
//   atten_mask   not 0: the key is not seen
//   sparse_mode  0 and 1 the mask as given; 0 with the band [i - pre, i + next] as well
//                2 keys up to the query, counted from the first; 3 counted from the last
//                4 the band counted from the last

namespace opdrift::replay {

/// What differs between the operators.
struct AttentionForm {
  std::size_t shift = 3;  ///< inputs
  std::size_t mask = 4;
  std::size_t query_lengths = 0;  ///< 0: none
  std::size_t key_lengths = 0;
  std::size_t first_coding = 0;  ///< inputs from here on are about codes and pages
  const char* heads = "num_heads";
  const char* scale = "scale_value";
  std::int64_t next_tokens = std::numeric_limits<std::int32_t>::max();
  bool banded = true;     ///< a mask of mode 0 comes with a band
  bool training = false;  ///< drops elements, may scale its shift, gives out its softmax
};

const AttentionForm& attention_form(const std::string& type);

/// The distance at which keys are seen.
struct Band {
  bool bound = false;
  std::int64_t shift = 0;  ///< of queries against keys
  std::int64_t before = 0;
  std::int64_t after = 0;

  bool sees(std::int64_t query, std::int64_t key) const {
    const std::int64_t distance = key - query - shift;
    return !bound || (distance <= after && -distance <= before);
  }
};

Result<Band> band_of(const Call& call, const AttentionForm& form, const Heads& heads);

/// Makes the additive mask of `heads`, whose scale is known, from shift, mask, lengths and band.
/// Fails with `unsupported` where a query sees no key: it has no softmax, and what devices give out
/// there differs.
Status add_masks(const Call& call, const AttentionForm& form, const Band& band, Heads& heads);

}  // namespace opdrift::replay
