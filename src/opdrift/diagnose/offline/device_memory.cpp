#include "opdrift/diagnose/offline/device_memory.hpp"

#include <optional>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/process.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr double kTimeout = 60;
constexpr std::uint64_t kMostMegabytes = std::uint64_t{1} << 24;

/// The number of the first line with these words; nothing when there is none.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view words) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (line.find(words) != std::string_view::npos && colon != std::string_view::npos) {
      return parse_u64(trim(line.substr(colon + 1)));
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t free_memory_in(std::string_view text) {
  for (const std::string memory : {"HBM", "DDR"}) {
    const auto capacity = number_of(text, memory + " Capacity(MB)");
    const auto used = number_of(text, memory + " Usage Rate(%)");
    if (capacity && used && *capacity > 0 && *capacity <= kMostMegabytes && *used <= 100) {
      return (*capacity << 20) / 100 * (100 - *used);
    }
  }
  return kAssumedDeviceMemory;
}

std::uint64_t free_device_memory(const std::string& device, const std::string& log) {
  if (program_path("npu-smi").empty()) {
    return kAssumedDeviceMemory;
  }
  const auto end = run_process({.words = {"npu-smi", "info", "-t", "usages", "-i", device},
                                .environment = {},
                                .folder = "",
                                .log = log,
                                .timeout_s = kTimeout,
                                .cancel = nullptr});
  const auto text = end ? map_file(log) : Result<Bytes>(end.error());
  return text && end->exit_code == 0 ? free_memory_in(as_text(text->span)) : kAssumedDeviceMemory;
}

}  // namespace opdrift::diagnose::offline
