#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>

/// Log lines of the reference tool, one per message:
///
///   line    = "YYYY-MM-DD hh:mm:ss (pid) - [LEVEL] " text "\n"
///   LEVEL   = "INFO" | "WARNING" | "ERROR"
///
/// In `text` the control characters newline, CR, DEL, backspace, form feed, tab and VT, and the
/// spellings %08 %0a %0b %0c %0d %7f, become "_".
namespace opdrift::compat {

enum class LogLevel : unsigned char { info, warning, error };

/// `text` with everything replaced that could forge or break a line.
std::string log_safe(std::string_view text);

/// Writes whole lines to a stream (standard error unless told otherwise) and counts them. Any
/// thread may log.
class ReferenceLog {
 public:
  ReferenceLog();
  explicit ReferenceLog(std::ostream& sink);

  void info(std::string_view text) { write(LogLevel::info, text); }
  void warning(std::string_view text) { write(LogLevel::warning, text); }
  void error(std::string_view text) { write(LogLevel::error, text); }
  void write(LogLevel level, std::string_view text);

  std::size_t warnings() const { return warnings_.load(); }
  std::size_t errors() const { return errors_.load(); }

  /// The warning every command begins with when run by root.
  void warn_when_root();
  /// The closing line: whole seconds since the log was made.
  void finish(std::string_view command);

 private:
  std::ostream* sink_;
  std::mutex mutex_;
  std::atomic<std::size_t> warnings_{0};
  std::atomic<std::size_t> errors_{0};
  std::chrono::steady_clock::time_point start_;
};

}  // namespace opdrift::compat
