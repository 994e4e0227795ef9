#pragma once

#include <cstddef>
#include <vector>

#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

// Step E and the labels, in topological order over what steps A to D found:
//
//   s = ||g||, or the scale of the inputs where ||g|| is below its own budget
//   r = ||t - g|| / s, rho = sqrt(sum sigma^2) / s, h = ||f(t_in) - f(g_in)|| / s
//   w = h / sqrt(sum r_j^2), b^2 = rho^2 + w^2 sum b_j^2, q_cum = r / b
//   truncation adds up in one direction: then b = rho + w sum b_j
//
//   CULPRIT  new class, or z' > 4, or (q_own > 4 and ||d|| / s > b)
//   VICTIM   inherited class, or q_cum > 4; DRIFT where no CULPRIT is upstream
//   WATCH    max(q_own, z') > 2, or max(q1, z1) > 4, or q_own > 4 with ||d|| / s <= b
//   HEALTHY  otherwise

namespace opdrift::verdict::judging {

/// What labelling leaves behind for the verdict on the run.
struct Labels {
  std::vector<std::optional<Judgement>> values;  ///< by ValueId
  std::vector<ValueId> first;                    ///< culprits without a culprit upstream, in order
  std::size_t culprits = 0;
  std::size_t judged = 0;    ///< values with a label other than UNJUDGED
  std::size_t unjudged = 0;  ///< both sides have them, and nothing tells what they should be
  bool inputs_differ = false;
  std::vector<ValueId> lost_outputs;  ///< outputs of the network that one side lacks
};

Labels label_all(const Context& context, const std::vector<Found>& found);

}  // namespace opdrift::verdict::judging
