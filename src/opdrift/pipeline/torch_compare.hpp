#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/pipeline/network/result.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"

namespace opdrift::pipeline {

struct TorchOptions {
  std::string target_path;
  std::string golden_path;
  std::vector<std::string> algorithms;
  std::uint64_t max_elements = 0;
  bool reference = false;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
};

/// One tensor of the target and its golden, or an operator of one side only.
struct TorchRow {
  std::uint64_t index = 0;                 ///< order of the target's operator
  std::string operator_name;               ///< "" for operators only the golden has
  const io::FileTensor* target = nullptr;  ///< set when there is such a tensor
  const io::FileTensor* golden = nullptr;
  std::string golden_name;  ///< path inside the golden file, "" when there is none
  std::string rule;
  std::string reason;
  std::optional<metrics::Measurement> measurement;  ///< absent when they could not be compared
  std::vector<AlgorithmValue> values;
};

struct TorchResult {
  std::unique_ptr<const io::FileDump> target;  ///< keep the rows' tensors alive
  std::unique_ptr<const io::FileDump> golden;
  std::vector<std::string> algorithms;
  std::vector<TorchRow> rows;
};

/// Compares two HDF5 dumps of the PyTorch adapter (match/torch_match.hpp). Element types must be
/// equal, or both of {int, long}, or both of {float, half}; element counts must agree.
/// Fails with io when a file cannot be read, malformed when the target holds no tensors of a
/// device.
Result<TorchResult> compare_torch(const TorchOptions& options);

std::vector<report::MsaccucmpTorchRow> torch_table(const TorchResult& result);

/// Writes rows without a good cosine (absent, or at most 0.95) to `folder`: filtered_result.csv,
/// and for each the tensors of both sides as target_<n>.npy and golden_<n>.npy, n the row's number
/// in the whole table. Makes the folder.
Status write_bad_torch_rows(const TorchResult& result, const std::string& folder);

}  // namespace opdrift::pipeline
