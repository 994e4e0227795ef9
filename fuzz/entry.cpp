#include <cstddef>
#include <cstdint>
#include <span>

#include "targets.hpp"

/// What libFuzzer calls; OPDRIFT_FUZZ_TARGET is the function of this program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  opdrift::fuzz::OPDRIFT_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
