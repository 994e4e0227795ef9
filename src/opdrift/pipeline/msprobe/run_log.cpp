#include "opdrift/pipeline/msprobe/run_log.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

namespace opdrift::pipeline {

std::string time_stamp(bool utc) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (utc) {
    ::gmtime_r(&now, &parts);
  } else {
    ::localtime_r(&now, &parts);
  }
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &parts);
  return {text.data(), length};
}

std::string names_in(const std::string& path) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  return names.empty() ? "nothing" : text + (names.size() > kShown ? " ..." : "");
}

}  // namespace opdrift::pipeline
