#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opdrift/tensor/tensor.hpp"

/// Pairs two device dumps of one model without a graph: operators are the names in the dump files.
///
///   order    target operators by time stamp, then by name; then the operators only the golden has,
///            in their own order
///   tensors  inputs and outputs apart: as many on both sides, each pair of equal shape, else that
///            half is refused; no inputs at all refuse the half too
namespace opdrift::match {

struct KeyedDump {
  std::string key;
  std::uint64_t time = 0;
};

/// One operator of either side; at least one position is set.
struct KeyPair {
  std::optional<std::size_t> target;  ///< position in the target's list
  std::optional<std::size_t> golden;
};

std::vector<KeyPair> pair_by_key(std::span<const KeyedDump> target,
                                 std::span<const KeyedDump> golden);

enum class HalfProblem : std::uint8_t { none, empty, count_differs, shape_differs };

/// Whether the inputs (or outputs) of two dumps of one operator can be compared one by one.
struct HalfMatch {
  HalfProblem problem = HalfProblem::none;
  std::uint32_t index = 0;  ///< of the first pair whose shapes differ
  std::string reason;       ///< one sentence; "" without a problem
};

HalfMatch match_half(const std::string& operator_name, const std::string& half,
                     std::span<const tensor::Shape> target, std::span<const tensor::Shape> golden);

}  // namespace opdrift::match
