#include "opdrift/compat/reference_log.hpp"

#include <time.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <iostream>

#include "opdrift/base/text.hpp"

namespace opdrift::compat {

namespace {

constexpr std::string_view kForbidden = "\n\r\x7f\b\f\t\v";
constexpr std::array<std::string_view, 6> kEscapes = {"%08", "%0a", "%0b", "%0c", "%0d", "%7f"};

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::info: return "INFO";
    case LogLevel::warning: return "WARNING";
    case LogLevel::error: return "ERROR";
  }
  return "INFO";
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), length};
}

}  // namespace

std::string log_safe(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) {
    if (kForbidden.find(c) != std::string_view::npos) {
      c = '_';
    }
  }
  for (const std::string_view escape : kEscapes) {
    safe = replace_all(safe, escape, "_");
  }
  return safe;
}

ReferenceLog::ReferenceLog() : ReferenceLog(std::cerr) {}

ReferenceLog::ReferenceLog(std::ostream& sink)
    : sink_(&sink), start_(std::chrono::steady_clock::now()) {}

void ReferenceLog::write(LogLevel level, std::string_view text) {
  warnings_ += level == LogLevel::warning ? 1 : 0;
  errors_ += level == LogLevel::error ? 1 : 0;
  std::string line = time_now() + " (" + std::to_string(::getpid()) + ") - [";
  line += level_name(level);
  line += "] ";
  line += log_safe(text);
  line += '\n';
  const std::lock_guard<std::mutex> lock(mutex_);
  *sink_ << line << std::flush;
}

void ReferenceLog::warn_when_root() {
  if (::geteuid() == 0) {
    warning("running as root is not recommended: files are created with the rights of root");
  }
}

void ReferenceLog::finish(std::string_view command) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  info("The " + std::string(command) + " command was completed and took " +
       std::to_string(seconds.count()) + " seconds.");
}

}  // namespace opdrift::compat
