#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift::cli {

/// Exit codes of opdrift's own commands.
inline constexpr int kExitSame = 0;
inline constexpr int kExitDiffers = 1;
inline constexpr int kExitTrouble = 2;

/// Colour is used when the stream is a terminal, NO_COLOR is unset and TERM is not "dumb".
bool colour_wanted(int file_descriptor);

/// Width of the terminal behind standard output: COLUMNS, else what the system says, else 100.
std::size_t terminal_columns();

/// Prints "opdrift: <error>" on standard error and returns kExitTrouble.
int report_error(const Error& error);
int report_error(std::string_view message);
/// Prints "opdrift: warning: <message>" on standard error.
void report_warning(std::string_view message);

/// Writes text to standard output; false when it could not be written (closed pipe, full disk).
bool write_output(std::string_view text);

/// The flag that Ctrl-C sets. The first interrupt asks for a tidy stop with partial results, the
/// second one ends the process at once.
CancelFlag& interrupt_flag();
void install_interrupt_handler();

/// A progress bar on standard error, drawn only when that is a terminal. Safe from any thread.
class Progress {
 public:
  /// `enabled` false silences it whatever the terminal is.
  Progress(std::string label, bool enabled);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` of `total` units; `bytes` read so far, for the rate. Drawn at most ten times a second.
  void update(std::uint64_t done, std::uint64_t total, std::uint64_t bytes);

 private:
  void draw(std::uint64_t done, std::uint64_t total, std::uint64_t bytes);

  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace opdrift::cli
