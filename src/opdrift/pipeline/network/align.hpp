#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

/// Which of the alignments of tensor/align.hpp a row needs.
enum class AlignKind : std::uint8_t {
  network,     ///< device dump against a tensor whose layout the graph knows
  detail,      ///< the same, both sides in NCHW
  device,      ///< two device dumps without a graph: each cut to its own original shape
  unfused,     ///< two device dumps of two builds of one model
  same_shape,  ///< two framework arrays of equal shape
};

struct AlignRequest {
  AlignKind kind = AlignKind::network;
  std::string golden_format;   ///< as the graph says, "" unknown
  tensor::Shape golden_shape;  ///< as the graph says, may be empty
  bool reference = false;
};

/// Two views of equal element counts, and the shape the target has in the result table.
struct Aligned {
  AlignedPair pair;
  tensor::Shape shown_shape;
  tensor::Format format = tensor::Format::nd;  ///< layout both sides are in
  bool scalar = false;                         ///< by the rule of the algorithms
  std::string remark;  ///< what a reader should know of the comparison, "" for nothing
};

/// Fails with mismatch (sizes), bad_nz_shape, conversion_failed, unsupported_format or
/// data_mismatch.
Result<Aligned> align_rows(const tensor::Tensor& target, const tensor::Tensor& golden,
                           const AlignRequest& request);

}  // namespace opdrift::pipeline
