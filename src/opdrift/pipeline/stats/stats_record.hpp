#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/metrics/sketch.hpp"
#include "opdrift/tensor/tensor.hpp"

/// What is left of a dump file after it was turned into statistics: `<file>.stats.json`,
///
///   {"schema": "opdrift-stats/1",
///    "source": {"name", "format", "bytes", "modified_ns", "op_name"},
///    "tensors": [{"role": "input" | "output" | "buffer" | "space", "index", "name",
///                 "dtype", "shape": [n, ...], "count",
///                 "min", "max", "mean", "l2",             over the finite elements
///                 "nan", "positive_inf", "negative_inf", "zero", "subnormal",
///                 "crc32": 8 hex digits,                  of the elements, little-endian, C order
///                 "sketch": [256 numbers]}]}              metrics/sketch.hpp
///
/// Numbers that JSON cannot hold are the texts "nan", "inf" and "-inf". `min`, `max` and `mean` are
/// "nan" when no element is finite.
namespace opdrift::pipeline {

/// Statistics of one tensor.
struct TensorRecord {
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
  std::string name;
  std::string dtype;  ///< name as in tensor/dtype.hpp
  tensor::Shape shape;
  std::uint64_t count = 0;
  double min = 0.0;
  double max = 0.0;
  double mean = 0.0;
  double l2 = 0.0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zero = 0;
  std::uint64_t subnormal = 0;
  std::uint32_t crc32 = 0;
  metrics::Sketch sketch;
};

struct FileRecord {
  std::string name;    ///< of the file, without its folder
  std::string format;  ///< name of the reader
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::string op_name;
  std::vector<TensorRecord> tensors;
};

inline constexpr std::string_view kStatsSuffix = ".stats.json";

/// Measures every tensor of a file. Fails when any of them cannot be read: a record stands for the
/// whole file.
Result<FileRecord> measure_file(const std::string& path);

std::string to_json(const FileRecord& record);

/// Reads a record back. Fails with bad_json or malformed.
Result<FileRecord> read_stats_record(const std::string& path);

}  // namespace opdrift::pipeline
