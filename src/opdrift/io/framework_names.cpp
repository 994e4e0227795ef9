#include "opdrift/io/framework_names.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kMaxTimeDigits = 255;
constexpr std::array<std::string_view, 3> kSuffixes = {".npy", ".pb", ".quant"};

bool is_time(std::string_view text) {
  return is_digits(text) && text.size() <= kMaxTimeDigits;
}

std::optional<std::uint32_t> parse_index(std::string_view text) {
  const std::optional<std::uint64_t> value = parse_u64(text);
  return value && *value <= 0xFFFFFFFF ? std::optional(static_cast<std::uint32_t>(*value))
                                       : std::nullopt;
}

std::optional<FrameworkName> parse_mindspore(const std::vector<std::string_view>& parts) {
  if (parts.size() != 9 || (parts[5] != "input" && parts[5] != "output") || !is_digits(parts[2]) ||
      !is_digits(parts[3]) || !is_time(parts[4])) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> index = parse_index(parts[6]);
  if (!index || parts[0].empty() || parts[1].empty()) {
    return std::nullopt;
  }
  FrameworkName name;
  name.op_type = std::string(parts[0]);
  name.op = std::string(parts[1]);
  name.role = parts[5] == "input" ? TensorRole::input : TensorRole::output;
  name.index = *index;
  name.time = std::string(parts[4]);
  return name;
}

}  // namespace

std::optional<FrameworkName> parse_framework_name(std::string_view file_name) {
  for (const std::string_view suffix : kSuffixes) {
    if (file_name.ends_with(suffix)) {
      file_name.remove_suffix(suffix.size());
      break;
    }
  }
  const std::vector<std::string_view> parts = split(file_name, '.');
  if (std::optional<FrameworkName> name = parse_mindspore(parts)) {
    return name;
  }
  if (parts.size() < 3 || !is_time(parts.back())) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> index = parse_index(parts[parts.size() - 2]);
  const std::size_t tail = parts.back().size() + parts[parts.size() - 2].size() + 2;
  if (!index || tail >= file_name.size()) {
    return std::nullopt;
  }
  FrameworkName name;
  name.op = std::string(file_name.substr(0, file_name.size() - tail));
  name.index = *index;
  name.time = std::string(parts.back());
  return name;
}

std::string tensorflow_file_key(std::string_view tensor_name) {
  std::string key(tensor_name);
  std::replace(key.begin(), key.end(), '/', '_');
  std::replace(key.begin(), key.end(), ':', '.');
  return key;
}

std::string node_file_key(std::string_view node_name, std::uint32_t output) {
  std::string key(node_name);
  std::replace(key.begin(), key.end(), '/', '_');
  std::replace(key.begin(), key.end(), '.', '_');
  return key + "." + std::to_string(output);
}

}  // namespace opdrift::io
