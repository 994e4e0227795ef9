#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/graph/graph.hpp"
#include "opdrift/match/torchair_match.hpp"
#include "opdrift/metrics/algorithms/torch_pair.hpp"
#include "opdrift/pipeline/msprobe/torchair_compare.hpp"
#include "opdrift/pipeline/msprobe/torchair_folders.hpp"

namespace opdrift::pipeline {

/// What a table says about one side of a row.
struct TorchairSide {
  std::string path;   ///< file, and ",inputs,<k>" for tensors inside one
  std::string dtype;  ///< "torch.float32"; "" when unknown
  std::string shape;  ///< "[2, 3]"
  std::uint64_t elements = 0;
  bool is_int8 = false;
  bool reduced = false;  ///< only smallest and largest are known
  double max = 0.0;      ///< as float; meaningless for 0 elements
  double min = 0.0;
  double mean = 0.0;
  std::uint32_t crc = 0;
};

/// One comparison of two tensors.
struct TorchairRow {
  std::string op;
  std::uint64_t token = 0;
  std::uint64_t order = 0;  ///< place of the operator among those of its token
  std::string time;         ///< of the target's file
  match::TensorKind kind = match::TensorKind::input;
  std::size_t index = 0;
  bool superseded = false;
  TorchairSide golden;
  TorchairSide target;
  std::optional<metrics::TorchPairSums> sums;  ///< absent when the tensors cannot be compared
  bool counts_differ = false;
  std::string problem;  ///< a file or tensor that could not be read

  /// The reference's reasons, joined by blanks.
  std::string reference_reason() const;
};

/// What one target operator yields.
struct TorchairOperator {
  std::vector<TorchairRow> rows;
  std::vector<std::string> warnings;
};

/// Reads and measures. One per pair of tokens; any thread may call `compare`.
class TorchairMeter {
 public:
  /// Exactly one of the golden tokens is given. All must outlive the meter.
  TorchairMeter(const match::FusedNames& names, const GeToken* golden_ge, const FxToken* golden_fx,
                const TorchairOptions& options);

  TorchairOperator compare(const GeFile& file) const;

 private:
  struct OpenFile;
  struct Found;
  TorchairRow measure(const match::TensorPair& pair, const GeFile& file, const OpenFile& own) const;
  Found find_golden(const match::GoldenRef& ref, const GeFile& file, const OpenFile& own) const;

  const match::FusedNames& names_;
  const FxToken* fx_;
  const TorchairOptions& options_;
  std::map<std::string, const GeFile*, std::less<>> ge_;
};

}  // namespace opdrift::pipeline
