#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/graph/text_arena.hpp"

/// A run recorded call by call, as msprobe's dump.json tells it: API calls in file order, each with
/// the tensors and scalars that went in and came out ("leaves").
///
///   name      = prefix "." call            "Functional.conv2d" "1.forward"
///                                          "Module.fc.Linear"  "forward.0"
///             | prefix ".parameters_grad" ["." number]
///   leaf name = name ("." "input" | "output" | "parameters") ("." index or key)*
namespace opdrift::graph {

enum class CallDirection : std::uint8_t { none, forward, backward, parameters_grad };

enum class LeafRole : std::uint8_t { input, output, parameters, parameters_grad, debug };

std::string_view to_string(LeafRole role);

/// A number or word with the text Python would print for it. Two values are equal when their texts
/// are: 1 and 1.0 are not.
struct ApiValue {
  enum class Kind : std::uint8_t { none, text, integer, real };
  const char* data = nullptr;
  std::uint32_t size = 0;
  Kind kind = Kind::none;

  std::string_view text() const { return {data, size}; }
  static ApiValue of(std::string_view text, Kind kind) {
    return {text.data(), static_cast<std::uint32_t>(text.size()), kind};
  }
};

enum class GradFlag : std::uint8_t { absent, no, yes };

/// One tensor or scalar of a call.
struct ApiLeaf {
  std::string_view name;               ///< as printed
  std::string_view shape;              ///< "[2, 3]"; "None" for a missing argument
  std::string_view data_name;          ///< file in dump_tensor_data; "-1" without one
  std::string_view checksum;           ///< as recorded; empty when not
  std::string_view value;              ///< Python's text of a scalar
  std::array<ApiValue, 4> statistics;  ///< max, min, mean, norm
  std::uint32_t entry = 0;             ///< position in ApiRun::entries
  std::uint32_t dtype = 0;             ///< position in ApiRun::dtypes
  std::int32_t peer = -1;              ///< position in ApiRun::peers, -1 for none
  LeafRole role = LeafRole::input;
  GradFlag requires_grad = GradFlag::absent;
  bool has_value = false;         ///< false: `value` was absent, not empty
  bool missing_argument = false;  ///< null in the file: everything is "None"
};

/// Point-to-point operation behind a leaf of a batch.
struct PeerOperation {
  std::string_view operation;
  std::string_view peer;
};

struct ApiEntry {
  std::string_view name;
  std::string_view prefix;  ///< empty when the name tells no direction
  std::string_view call;    ///< "1.forward", "forward.0", "parameters_grad.0"
  CallDirection direction = CallDirection::none;
  std::uint32_t first_leaf = 0;
  std::uint32_t leaf_count = 0;
};

enum class RunTask : std::uint8_t { tensor, statistics, checksum, structure, other };

/// A whole dump.json. Texts point into `arena` or into the file behind `owner`.
struct ApiRun {
  std::string path;
  std::string task;  ///< as written
  std::string level;
  std::string framework;          ///< "" when the file names none
  RunTask kind = RunTask::other;  ///< `checksum`: task statistics, and leaves with check sums
  std::vector<ApiEntry> entries;
  std::vector<ApiLeaf> leaves;
  std::vector<std::string> dtypes;
  std::vector<PeerOperation> peers;
  std::vector<std::string> warnings;
  TextArena arena;
  std::shared_ptr<const void> owner;

  std::string_view dtype_of(const ApiLeaf& leaf) const { return dtypes[leaf.dtype]; }
};

/// Prefix, call and direction of a name. `parameters_grad` wins over `forward`, which wins over
/// `backward`; each must be the last or last but one part. All empty when the name has none.
void split_api_name(std::string_view name, ApiEntry& entry);

}  // namespace opdrift::graph
