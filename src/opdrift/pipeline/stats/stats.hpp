#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::pipeline {

/// Statistics of one tensor, or why there are none.
struct TensorStats {
  std::string label;
  std::string path;
  tensor::TensorDesc desc;
  std::optional<metrics::SideStats> stats;
  std::string problem;
};

/// Statistics of every tensor of a dump, in its order. `done` is called from worker threads.
std::vector<TensorStats> measure_stats(const DumpIndex& index, std::size_t jobs,
                                       const CancelFlag* cancel,
                                       const std::function<void(std::uint64_t)>& done);

}  // namespace opdrift::pipeline
