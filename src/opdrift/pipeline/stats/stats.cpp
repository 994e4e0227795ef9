#include "opdrift/pipeline/stats/stats.hpp"

#include "opdrift/metrics/measure.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

Result<metrics::SideStats> stats_of(const IndexedTensor& indexed, const CancelFlag* cancel) {
  if (indexed.summary && !indexed.problem) {
    return side_stats(*indexed.summary);
  }
  OPDRIFT_TRY(const tensor::Tensor loaded, load(indexed));
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(loaded));
  return metrics::measure_side(view, {.cancel = cancel});
}

}  // namespace

std::vector<TensorStats> measure_stats(const DumpIndex& index, std::size_t jobs,
                                       const CancelFlag* cancel,
                                       const std::function<void(std::uint64_t)>& done) {
  std::vector<TensorStats> lines(index.tensors.size());
  parallel_for(
      lines.size(), jobs,
      [&](std::size_t i) {
        const IndexedTensor& indexed = index.tensors[i];
        lines[i].label = indexed.label();
        lines[i].path = indexed.path;
        lines[i].desc = indexed.desc;
        auto stats = stats_of(indexed, cancel);
        if (stats) {
          lines[i].stats = *stats;
        } else {
          lines[i].problem = stats.error().to_string();
        }
        done(indexed.size_bytes);
      },
      cancel);
  return lines;
}

}  // namespace opdrift::pipeline
