#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Calls of all ranks, connected where ranks talk to each other.
namespace opdrift::pipeline {

/// One call of one rank.
struct RankCall {
  std::string name;
  bool differs = false;
  /// What a communication call says about its partners.
  std::vector<long long> partners;  ///< ranks named by src, dst, group and peers
  bool has_source = false;          ///< an input named src or dst says which end this is
  bool is_source = false;
};

struct RankCalls {
  long long number = 0;
  std::vector<RankCall> calls;  ///< file order
};

/// A call to report: positions in the lists.
struct CallHit {
  std::size_t rank = 0;
  std::size_t call = 0;
};

/// True for transfers between ranks ("Distributed.all_reduce.0.forward").
bool is_communication(std::string_view name);
/// True for calls whose results mean nothing (empty memory, fills, assignments).
bool is_ignored_call(std::string_view name);

enum class DiffStage : std::uint8_t { before, between, after };

/// The hits of a stage; empty when it finds none.
std::vector<CallHit> find_differences(const std::vector<RankCalls>& ranks, DiffStage stage);

}  // namespace opdrift::pipeline
