#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/api_run.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Expert computations write only the rows of tokens that exist; behind them the device's memory
/// holds left-overs of other calls.
///
///   npu_grouped_matmul           rows that mean something = sum of its argument group_list
///   npu_dequant_swiglu_quant     = sum of group_index
namespace opdrift::pipeline {

class ValidLengths {
 public:
  using Load = std::function<Result<tensor::Tensor>(const graph::ApiLeaf&)>;

  /// `load` brings in a saved tensor of `run`, which must outlive this object.
  ValidLengths(const graph::ApiRun& run, Load load);

  /// Rows of a leaf that mean something, when it came out of such a call; nothing for all.
  std::optional<std::uint64_t> of(const graph::ApiLeaf& leaf) const;

 private:
  std::optional<std::uint64_t> sum_of(const graph::ApiLeaf& leaf) const;

  const graph::ApiRun& run_;
  Load load_;
};

}  // namespace opdrift::pipeline
