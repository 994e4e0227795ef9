#include "opdrift/cli/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "opdrift/base/text.hpp"

namespace opdrift::cli {

namespace {

constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kBarColumns = 30;
constexpr std::chrono::milliseconds kRedrawEvery{100};

CancelFlag interrupted;

extern "C" void on_interrupt(int signal_number) {
  if (interrupted.cancelled()) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
    return;
  }
  interrupted.cancel();
}

std::string time_left(double elapsed_s, double share) {
  if (!(share > 0.0) || elapsed_s < 1.0) {
    return {};
  }
  const auto left = static_cast<long>(elapsed_s / share * (1.0 - share));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "  %ld:%02ld left", left / 60, left % 60);
  return text.data();
}

}  // namespace

bool colour_wanted(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(file_descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::size_t terminal_columns() {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const auto count = parse_u64(columns); count && *count > 0) {
      return std::min<std::size_t>(*count, 1000);
    }
  }
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return kDefaultColumns;
}

int report_error(const Error& error) {
  return report_error(error.to_string());
}

int report_error(std::string_view message) {
  std::fprintf(stderr, "opdrift: %s\n", printable(message).c_str());
  return kExitTrouble;
}

void report_warning(std::string_view message) {
  std::fprintf(stderr, "opdrift: warning: %s\n", printable(message).c_str());
}

bool write_output(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

CancelFlag& interrupt_flag() {
  return interrupted;
}

void install_interrupt_handler() {
  std::signal(SIGINT, &on_interrupt);
  std::signal(SIGTERM, &on_interrupt);
}

Progress::Progress(std::string label, bool enabled)
    : label_(std::move(label)),
      enabled_(enabled && ::isatty(STDERR_FILENO) == 1),
      started_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void Progress::update(std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
  if (!enabled_) {
    return;
  }
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (lock.owns_lock() && now - last_drawn_ >= kRedrawEvery) {
    last_drawn_ = now;
    draw(done, total, bytes);
  }
}

void Progress::draw(std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
  const double share = total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarColumns));
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) {
    bar += i < filled ? "█" : "░";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  std::string rate;
  if (bytes > 0 && elapsed.count() > 0.0) {
    rate = "  " +
           human_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / elapsed.count())) +
           "/s";
  }
  std::fprintf(stderr, "\r%s %s %llu/%llu%s%s\x1b[K", label_.c_str(), bar.c_str(),
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total),
               rate.c_str(), time_left(elapsed.count(), share).c_str());
  drawn_ = true;
}

}  // namespace opdrift::cli
