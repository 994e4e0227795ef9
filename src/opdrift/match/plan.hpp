#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/match/golden.hpp"
#include "opdrift/match/network.hpp"

/// What becomes of the operators of one group.
///
///   one/many to one    every operator is compared; without a dump it gives one empty row
///   one/many to many   operators without a dump and inner nodes are skipped, the others compared
///   L1 fusion          of the operators with a dump the youngest is compared, and before it the
///                      oldest if its originals are others
///
/// An inner node has the multi-op flag and no output with an origin. A group in which nothing could
/// be compared gives one empty row with all reasons.
namespace opdrift::match {

/// What pairing needs to know of an operator's dump.
struct DumpPresence {
  bool present = false;
  std::uint64_t time = 0;
};

enum class Step : std::uint8_t {
  compare,     ///< give rows; when the dump cannot be read, one empty row with the reason
  no_dump,     ///< skipped: no dump
  inner_node,  ///< skipped: inner node of a fusion
  not_needed,  ///< skipped: another operator of its L1 fusion stands for it
  left_out,    ///< skipped without a word
};

struct PlannedNode {
  std::size_t node = 0;
  Step step = Step::compare;
};

/// Members in the order their rows appear.
std::vector<PlannedNode> plan_group(const Network& network, const Group& group,
                                    const std::function<DumpPresence(std::size_t)>& dump_of);

/// Why a member was skipped, as a sentence with its name.
std::string explain(const Network& network, const PlannedNode& planned);

/// One tensor of a target operator and where its golden is.
struct PlannedTensor {
  bool output = true;
  std::uint32_t index = 0;
  GoldenRef golden;
};

/// The tensors of an operator that are compared: its inputs (unless it is a dequantiser), then its
/// outputs (unless it is a quantiser).
std::vector<PlannedTensor> plan_tensors(const Network& network, std::size_t node,
                                        std::size_t inputs, std::size_t outputs);

}  // namespace opdrift::match
