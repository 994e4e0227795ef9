#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::io {

/// One entry of the header as written, see reader.hpp.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  tensor::Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< in the order of the text
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Parses the JSON text as a stream: memory grows with the entries, not with nesting. Fails with
/// bad_json and the offset in `text`.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text);

}  // namespace opdrift::io
