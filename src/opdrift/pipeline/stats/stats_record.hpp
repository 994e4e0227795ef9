#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/metrics/sketch.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// What is left of tensors that were turned into statistics. Beside a dump file stands
/// `<file>.stats.json` with its record; a table of a whole dump (`stats.json`) has no "source" and
/// tells the operator of every tensor instead:
///
///   {"schema": "opdrift-stats/1",
///    "source": {"name", "format", "bytes", "modified_ns", "op_name"},
///    "tensors": [{"operator", "step",                    in tables
///                 "role": "input" | "output" | "buffer" | "space", "index", "name",
///                 "dtype", "shape": [n, ...], "count",
///                 "min", "max", "mean", "l2",             over the finite elements
///                 "nan", "positive_inf", "negative_inf", "zero", "subnormal",
///                 "crc32": 8 hex digits,                  of the elements, little-endian, C order
///                 "sketch": [256 numbers]}]}              metrics/sketch.hpp
///
/// Numbers that JSON cannot hold are the texts "nan", "inf" and "-inf". `min`, `max` and `mean` are
/// "nan" when no element is finite. Tables may lack counts, check sum and sketch; "tensor":
/// "<operator>:<role>:<index>" may stand for operator, role and index, "rms" for "l2".
namespace opdrift::pipeline {

/// Statistics of one tensor.
struct TensorRecord {
  std::string operator_name;  ///< "" in the record of a file, whose name tells it
  std::string step;           ///< folder within the dump, in tables
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
  std::optional<std::uint32_t> crc32;
  std::optional<metrics::Sketch> sketch;

  /// Eight hex digits; "" without a check sum.
  std::string checksum_text() const;
};

struct FileRecord {
  std::string name;    ///< of the file, without its folder; "" for a table
  std::string format;  ///< name of the reader
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::string op_name;
  std::vector<TensorRecord> tensors;
};

inline constexpr std::string_view kStatsSuffix = ".stats.json";

/// Measures a tensor. Role, index and names are left to the caller.
Result<TensorRecord> measure_record(const tensor::View& view, const CancelFlag* cancel = nullptr);

/// Measures every tensor of a file. Fails when any of them cannot be read: a record stands for the
/// whole file.
Result<FileRecord> measure_file(const std::string& path);

std::string to_json(const FileRecord& record);

/// "conv1:output:0" into operator, role and index; operator names may hold colons. False for other
/// texts.
bool read_label(std::string_view label, TensorRecord& tensor);

/// Reads a record or a table back, also a table as text (stats/stats_csv.hpp). Fails with bad_json,
/// unsupported (another schema) or malformed.
Result<FileRecord> read_stats_record(const std::string& path);

/// True when a file begins as records and tables do.
bool is_stats_file(const std::string& path);

}  // namespace opdrift::pipeline
