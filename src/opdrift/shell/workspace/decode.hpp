#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/shell/session.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::shell {

/// One array a device dump was turned into.
struct DecodedTensor {
  std::string path;
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
};

struct DecodeRequest {
  std::string path;    ///< of the dump
  std::string name;    ///< after mapping.csv
  std::string folder;  ///< where the arrays go; made when missing
  std::optional<tensor::Format> format;
};

/// Turns a dump into npy files, inputs first. Arrays of an earlier time that are newer than the
/// dump are taken as they are, unless a format is asked for. Tensors that cannot be written are
/// warned about. Fails as pipeline::convert_file does.
Result<std::vector<DecodedTensor>> decode_dump(Session& session, const DecodeRequest& request);

/// "[Shape: (32, 8)] [Dtype: float32] [Max: x] [Min: y] [Mean: z]"; "" for arrays without elements
/// or without numbers.
std::string statistics_of(const std::string& npy_path);

/// The same out of a table of statistics (a dump name with .csv): one text per tensor.
struct TableStatistics {
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
  std::string text;
};
Result<std::vector<TableStatistics>> statistics_of_table(const std::string& csv_path);

}  // namespace opdrift::shell
