#pragma once

#include <string>
#include <vector>

#include "opdrift/pipeline/network/result.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"

namespace opdrift::pipeline {

/// Columns and rows of the reference's result table.
struct MsaccucmpTable {
  report::MsaccucmpColumns columns;
  std::vector<report::MsaccucmpRow> rows;
};

struct MsaccucmpTableOptions {
  bool sequence = false;
  bool overflow = false;
  bool reference = false;  ///< keep the reference's short rows
};

MsaccucmpTable msaccucmp_table(const NetworkResult& result, const MsaccucmpTableOptions& options);

std::vector<report::MsaccucmpMapping> msaccucmp_mapping(const NetworkResult& result);

/// Name of the element type as the reference prints it: after reading (bfloat16 is float32, the
/// one-byte floats and empty tensors float64), or as the dump's header says; NaN when it has none.
std::string type_after_reading(const tensor::TensorDesc& desc);
std::string type_of_header(const tensor::TensorDesc& desc);

/// "[1,3,4]"
std::string bracketed(const tensor::Shape& shape);

}  // namespace opdrift::pipeline
