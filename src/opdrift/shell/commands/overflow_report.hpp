#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

/// Records of operator overflow (io/ascend/debug.hpp) in the newest folder of overflow/dump. What a
/// status says:
///
///   AI Core   bits  0x8 smallest integer negated, 0x10 integer arithmetic, 0x20 floating point,
///             0x80 negative to unsigned, 0x100 to float16, 0x400 matrix accumulation
///   L2        bits 16-18   1 overflow, 2 underflow, 3 source NaN, 4 destination NaN, 5 both NaN
///   DHA       bits 8-15    9 overflow, 10 underflow, 11 source NaN, 12 destination NaN, 13 both
namespace opdrift::shell {

std::vector<std::string> core_meanings(std::uint64_t status);
std::vector<std::string> l2_meanings(std::uint64_t status);
std::vector<std::string> dha_meanings(std::uint64_t status);

/// Shows the first `most` records: who overflowed, how, and the operator's tensors.
Status show_overflow(Session& session, std::size_t most);

}  // namespace opdrift::shell
