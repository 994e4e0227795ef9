#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opdrift::diagnose::offline {

/// What is taken where the device does not tell.
inline constexpr std::uint64_t kAssumedDeviceMemory = std::uint64_t{3} << 30;

/// Free bytes out of what `npu-smi info -t usages` prints: capacity * (100 - usage) / 100 of the
/// first memory it lists,
///
///   DDR Capacity(MB) : 15171        or HBM
///   DDR Usage Rate(%) : 16
///
/// kAssumedDeviceMemory for other texts.
std::uint64_t free_memory_in(std::string_view text);

/// Asks the device; its answer goes to `log`. kAssumedDeviceMemory without npu-smi.
std::uint64_t free_device_memory(const std::string& device, const std::string& log);

}  // namespace opdrift::diagnose::offline
