#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"

/// The values a dump fetches, their sizes, and how many of them fit into memory at a time.
namespace opdrift::engine {

inline constexpr std::uint64_t kUnknownSize = std::numeric_limits<std::uint64_t>::max();

/// A value to fetch and write.
struct WantedValue {
  NodeOutput output;
  std::uint64_t bytes = kUnknownSize;  ///< in memory
};

/// Values by name, with what the runtime says of their type.
using ValueTypes = std::unordered_map<std::string, io::onnx::ValueInfo>;

/// Why a value of this type cannot be dumped, "" when it can. Optional values may hold a tensor.
std::string unwritable_reason(const io::onnx::ValueInfo& info);

/// The size that shape inference found; kUnknownSize when an extent is open.
std::uint64_t inferred_bytes(const io::onnx::ValueInfo& info);

/// Fills in the sizes of tensors that are still unknown, by one run that returns shapes only.
/// Nothing is run when all are known.
Status measure_sizes(std::vector<WantedValue>& wanted, const ValueTypes& types,
                     const PlacedModel& model, Runtime& runtime, const SessionOptions& session,
                     const std::vector<NamedTensor>& inputs);

/// The end of the group that begins at `first`: as many values as stay within `budget` bytes, and
/// one at least. Unknown sizes count as nothing.
std::size_t group_end(const std::vector<WantedValue>& wanted, std::size_t first,
                      std::uint64_t budget);

}  // namespace opdrift::engine
