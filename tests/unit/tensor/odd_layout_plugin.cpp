// A layout plugin that misbehaves in a way the first extent of a tensor chooses.

#include <cstdint>
#include <cstring>

#include "opdrift/tensor/layout_plugin.h"

namespace {

int result_shape(const opdrift_layout_info* info, std::uint64_t* shape, char*, std::size_t) {
  if (info->stored_shape[0] == 1) {
    shape[0] = std::uint64_t{1} << 40;
    return 1;
  }
  if (info->stored_shape[0] == 2) {
    return OPDRIFT_LAYOUT_MAX_RANK + 1;
  }
  shape[0] = info->stored_shape[0];
  return 1;
}

/// Fails with a message that no zero ends.
int convert(const opdrift_layout_info*, const void*, void*, char* message,
            std::size_t message_bytes) {
  std::memset(message, 'x', message_bytes);
  return 7;
}

constexpr opdrift_layout_plugin kPlugin = {
    OPDRIFT_LAYOUT_PLUGIN_ABI, "NHWC", "NCHW", "for tests", &result_shape, &convert,
};

}  // namespace

const opdrift_layout_plugin* opdrift_layout_plugin_entry(void) {
  return &kPlugin;
}
