#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/verdict/judgement.hpp"

// Steps of two runs that should be the same steps, and may not be: one run counts from 1, dropped
// a step, or repeated one. Steps are known by sketches of their tensors. The distance of a golden
// and a target step is the mean, over tensors of one name that change from step to step, of
//   min(1, dist / typical)   dist = 0 for equal hashes, else
//                            |norm_t - norm_g| / max norm  +  |mean_t - mean_g| sqrt(n) / max norm
// typical = the mean dist between different steps of the golden. Same steps come out near 0,
// different ones near 1. Numbers are believed unless another alignment is much nearer:
//   cost(alignment) = sum of distances + 0.4 per step without partner, in order on both sides
// and the numbers' own cost must be above twice that of the best.

namespace opdrift::verdict {

/// What is known of one tensor in one step.
struct TensorSketch {
  std::string name;        ///< the same on both sides
  std::uint64_t hash = 0;  ///< of the stored bytes, 0 when not known; see content_hash()
  double norm = 0.0;       ///< ||x||_2 over finite elements
  double mean = 0.0;
  std::uint64_t count = 0;
};

/// One step of one side, its tensors in execution order.
struct StepSketch {
  std::int64_t number = 0;  ///< as the folder says
  std::vector<TensorSketch> tensors;
};

struct StepPair {
  std::optional<std::size_t> golden;  ///< position in the lists given; nothing: no partner
  std::optional<std::size_t> target;
  double distance = 0.0;  ///< 0 the same, 1 another step; NaN when it cannot be told
};

struct StepAlignment {
  std::vector<StepPair> pairs;    ///< every step of both sides once, golden order
  bool by_content = false;        ///< false: by number
  std::int64_t shift = 0;         ///< golden number minus target number, when it is one for all
  std::vector<Finding> findings;  ///< step_shift, steps_missing, order_only; empty: in step
};

/// Aligns at most 4096 steps a side (more are taken by number). Names that stand twice in a step
/// count once.
StepAlignment align_steps(const std::vector<StepSketch>& golden,
                          const std::vector<StepSketch>& target);

}  // namespace opdrift::verdict
