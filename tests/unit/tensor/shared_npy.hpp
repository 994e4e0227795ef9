#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// The least needed to read the arrays kept beside the repository: payloads as bytes, nothing
/// checked. Reading NumPy files properly is the io room's work.
namespace opdrift::tensor::testing {

inline std::string shared_folder() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  return set != nullptr ? set : OPDRIFT_SOURCE_DIR "/../shared";
}

inline std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    bytes[i] = static_cast<std::byte>(text[i]);
  }
  return bytes;
}

/// The bytes behind the header of a version 1 npy file; empty when there is none.
inline std::vector<std::byte> npy_payload(const std::string& path) {
  const std::vector<std::byte> all = file_bytes(path);
  if (all.size() < 10) {
    return {};
  }
  const std::size_t header =
      10 + std::to_integer<std::size_t>(all[8]) + 256 * std::to_integer<std::size_t>(all[9]);
  return {all.begin() + static_cast<std::ptrdiff_t>(header), all.end()};
}

}  // namespace opdrift::tensor::testing
