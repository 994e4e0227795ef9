#include "opdrift/pipeline/msprobe/run_log.hpp"

#include <array>
#include <ctime>

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

}  // namespace opdrift::pipeline
