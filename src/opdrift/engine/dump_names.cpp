#include "opdrift/engine/dump_names.hpp"

#include <algorithm>

#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::engine {

namespace {

// Leaves room for `.json` behind it within the 255 bytes of common file systems.
constexpr std::size_t kMaxNameBytes = 249;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

bool fits_file_systems(const std::string& stem, const std::string& name) {
  return !stem.empty() && name.size() <= kMaxNameBytes && is_utf8(stem) &&
         std::all_of(stem.begin(), stem.end(), is_plain);
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

std::string DumpNames::claim_stem(std::string_view node_name) {
  std::string stem(node_name);
  std::replace_if(
      stem.begin(), stem.end(), [](char c) { return c == '.' || c == '/'; }, '_');
  if (stems_.insert(stem).second) {
    return stem;
  }
  for (std::uint64_t n = 2;; ++n) {
    std::string candidate = stem + "__" + std::to_string(n);
    if (stems_.insert(candidate).second) {
      return candidate;
    }
  }
}

std::string DumpNames::file_for(const std::string& stem, std::size_t index) {
  std::string name = stem + "." + std::to_string(index) + "." + std::to_string(time_us_) + ".npy";
  if (fits_file_systems(stem, name)) {
    return name;
  }
  std::uint64_t hash = stable_hash(stem + "." + std::to_string(index));
  std::string digits;
  do {
    digits = std::to_string(hash++);
    digits.insert(0, 20 - digits.size(), '0');
  } while (!digits_.insert(digits).second);
  mapping_.emplace_back(digits + ".npy", std::move(name));
  return mapping_.back().first;
}

std::string DumpNames::mapping_csv() const {
  std::string text;
  for (const auto& [file, name] : mapping_) {
    text += file + "," + csv_cell(name) + "\n";
  }
  return text;
}

}  // namespace opdrift::engine
