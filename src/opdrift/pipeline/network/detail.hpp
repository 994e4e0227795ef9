#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/report/msaccucmp_detail.hpp"

namespace opdrift::pipeline {

/// One tensor of one operator.
struct DetailRequest {
  std::string op_name;
  bool output = true;
  std::uint32_t tensor = 0;
};

/// Two tensors brought together for a listing.
struct DetailTensors {
  tensor::View target;
  tensor::View golden;
  tensor::Shape shape;  ///< gives the coordinates
  std::string format;   ///< name of the coordinates
  std::string target_names;
  std::string golden_names;
  std::string target_path;
};

/// Finds and aligns the tensors of a request. With a graph both sides come in NCHW (NCDHW for
/// layouts with depth, the golden's own layout for FRACTAL_Z); without, as they are stored.
///
/// Fails with invalid_argument (unknown operator), unsupported (inner node of a fusion, or left out
/// of the comparison), out_of_range (no such tensor), not_found (no file on one side), malformed
/// (without a graph: shapes differ), unsupported_format (formats differ), or as reading and
/// aligning do.
Result<DetailTensors> open_detail(const NetworkInputs& inputs, const NetworkOptions& options,
                                  const DetailRequest& request);

/// The files of a listing, all in `folder` and beginning with `prefix`:
///   PREFIX.npy, PREFIX_summary.txt, PREFIX_<first index>.csv ..., PREFIX_absolute_error_topn.csv,
///   PREFIX_relative_error_topn.csv
/// Old files of the same prefix are removed. Names of 255 characters and more become the dump's
/// file name (`.` as `_`) or a hash, and simple_op_mapping.csv gets a row `new,old`.
Result<report::Detail> write_detail(const DetailTensors& tensors, const std::string& folder,
                                    const std::string& prefix, report::DetailOptions options);

/// "net/conv1", output 0 -> "net_conv1_output_0".
std::string detail_prefix(const DetailRequest& request);

}  // namespace opdrift::pipeline
