#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {

/// The elements of a view in logical order, little-endian, nothing else. Fails as stream_view and
/// FileWriter do.
Status write_bin(const std::string& path, const tensor::View& view,
                 const FileWriterOptions& options = {});

/// Numbers as text, a blank between them and one line per row of the last axis (per element when
/// there is only one axis). Floats have the fewest digits that read back as the same value of their
/// type; not-a-number is "nan", infinity "inf". Fails with unsupported_dtype for complex numbers
/// and types that cannot be decoded.
Status write_text(const std::string& path, const tensor::View& view,
                  const FileWriterOptions& options = {});

/// What is kept of a tensor when its elements are not.
struct TensorStats {
  std::string name;
  tensor::DType dtype = tensor::DType::raw;
  tensor::Shape shape;
  std::uint64_t nan = 0;  ///< elements that are no number
  std::uint64_t inf = 0;  ///< elements that are infinite
  double min = 0.0;       ///< over finite elements, as mean and l2
  double max = 0.0;
  double mean = 0.0;
  double l2 = 0.0;
};

/// {"format": "opdrift-stats", "version": 1, "tensors": [{"name", "dtype", "shape", "nan", "inf",
/// "min", "max", "mean", "l2"}, ...]}, one tensor per line. Numbers have the fewest digits that
/// read back the same; those that JSON cannot hold are strings "nan", "inf", "-inf".
Status write_stats_json(const std::string& path, const std::vector<TensorStats>& tensors,
                        const FileWriterOptions& options = {});

}  // namespace opdrift::io
