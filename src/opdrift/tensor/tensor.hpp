#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::tensor {

/// Extents of a tensor, outermost first. A rank-0 tensor has one element.
using Shape = std::vector<std::uint64_t>;

/// Product of the extents; fails with `limit` when it does not fit 62 bits.
Result<std::uint64_t> element_count(const Shape& shape);

/// "1,3,224,224"; "" for rank 0.
std::string to_string(const Shape& shape, std::string_view separator = ",");

/// What a tensor claims to be. Nothing here was checked against the bytes.
struct TensorDesc {
  DType dtype = DType::raw;
  int ascend_dtype = -1;  ///< number in the file, also when unknown; -1 elsewhere
  Format format = Format::nd;
  Shape shape;                ///< of the data as stored, in `format`
  Shape original_shape;       ///< before the device layout was applied; may be empty
  bool has_shape = true;      ///< false when the file gave no shape at all
  int sub_format = 0;         ///< group count of grouped convolutions
  std::uint64_t address = 0;  ///< device address, 0 when unknown
  bool big_endian = false;
  /// Element strides per axis, empty for contiguous row-major data. May describe Fortran order,
  /// transposed or expanded tensors; every reachable element lies inside the bytes.
  std::vector<std::int64_t> strides;
};

/// A described tensor with its bytes, mapped and not copied. `bytes` holds at least what shape and
/// dtype need, unless the reader said otherwise.
struct Tensor {
  TensorDesc desc;
  Bytes bytes;
};

}  // namespace opdrift::tensor
