#include "opdrift/shell/screen/screen.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift::shell {

void Screen::begin(std::size_t columns, std::size_t rows) {
  options_.paper.columns = columns;
  options_.rows = rows;
  used_rows_ = 0;
  stopped_ = false;
}

void Screen::put(const std::string& text, std::size_t width) {
  if (stopped_) {
    return;
  }
  const std::size_t columns = std::max<std::size_t>(1, options_.paper.columns);
  const std::size_t rows = std::max<std::size_t>(1, (width + columns - 1) / columns);
  if (options_.rows > 1 && options_.ask && used_rows_ + rows > options_.rows - 1) {
    const PageAnswer answer = options_.ask();
    if (answer == PageAnswer::stop) {
      stopped_ = true;
      return;
    }
    used_rows_ = answer == PageAnswer::page ? 0 : options_.rows - 1 - rows;
  }
  used_rows_ += rows;
  stopped_ = !options_.out(text + "\n");
  failed_ = failed_ || stopped_;
}

void Screen::print(const Line& line) {
  const Line clean = cleaned(line);
  put(to_text(clean, options_.colour), width_of(clean));
}

void Screen::print(const Lines& lines) {
  for (const Line& line : lines) {
    print(line);
  }
}

void Screen::print(std::string_view text) {
  if (!text.empty() && text.back() == '\n') {
    text.remove_suffix(1);
  }
  for (const std::string_view part : split(text, '\n')) {
    print(text_line(std::string(part)));
  }
}

void Screen::note(std::string_view text) {
  print(text_line(std::string(text)));
}

void Screen::warn(std::string_view text) {
  Line shown = text_line("warning: ", Tone::yellow);
  shown.push_back({std::string(text)});
  options_.err(to_text(cleaned(shown), options_.colour) + "\n");
}

}  // namespace opdrift::shell
