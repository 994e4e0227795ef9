#pragma once

#include <cstdint>
#include <string_view>

namespace opdrift {

/// FNV-1a, 64 bits: the same on every machine.
inline std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace opdrift
