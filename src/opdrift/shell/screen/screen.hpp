#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/screen/blocks.hpp"

namespace opdrift::shell {

/// What a reader answers at the end of a page.
enum class PageAnswer : std::uint8_t { page, line, stop };

struct ScreenOptions {
  Paper paper;
  bool colour = false;
  std::size_t rows = 0;  ///< lines of a page; 0: never stop
  std::function<bool(std::string_view)> out;
  std::function<bool(std::string_view)> err;
  std::function<PageAnswer()> ask;  ///< used when `rows` is not 0
};

/// Where commands print: results to one stream, remarks on what went wrong to the other. Long
/// output stops at every page of a terminal.
class Screen {
 public:
  explicit Screen(ScreenOptions options) : options_(std::move(options)) {}

  /// Takes up the size of the terminal and begins a new page.
  void begin(std::size_t columns, std::size_t rows);

  const Paper& paper() const { return options_.paper; }

  void print(const Line& line);
  void print(const Lines& lines);
  /// Plain text, one or more lines.
  void print(std::string_view text);
  void print_panel(const Line& title, const Lines& body) {
    print(panel(title, body, options_.paper));
  }

  /// What a command has to say besides its result.
  void note(std::string_view text);
  void warn(std::string_view text);
  void warn(const Error& error) { warn(error.to_string()); }

  /// True once the reader had enough, or nobody reads any more.
  bool stopped() const { return stopped_; }
  /// True when something could not be written, ever.
  bool failed() const { return failed_; }

 private:
  void put(const std::string& text, std::size_t width);

  ScreenOptions options_;
  std::size_t used_rows_ = 0;
  bool stopped_ = false;
  bool failed_ = false;
};

}  // namespace opdrift::shell
