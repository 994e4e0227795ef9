#include "opdrift/compat/msprobe_summary.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "opdrift/base/text.hpp"

namespace opdrift::compat {

namespace {

constexpr std::size_t kLongestMessage = 160;

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kGreen = "\x1b[32m";

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string operator()(std::string_view code, const std::string& text) const {
    return colour_ ? std::string(code) + text + "\x1b[0m" : text;
  }

 private:
  bool colour_;
};

std::string counts_line(const MsprobeSummary& summary, const Painter& paint) {
  const auto part = [&](std::uint64_t count, std::string_view code, const std::string& word) {
    const std::string text = std::to_string(count) + " " + word;
    return count > 0 ? paint(code, text) : text;
  };
  const std::uint64_t rows = summary.wrong + summary.suspicious + summary.fine;
  return std::to_string(rows) + " rows: " + part(summary.wrong, kRed, summary.wrong_word) + ", " +
         part(summary.suspicious, kYellow, "warning") + ", " +
         part(summary.fine, kGreen, summary.fine_word) + "\n";
}

}  // namespace

std::string render_summary(const MsprobeSummary& summary, bool colour) {
  const Painter paint(colour);
  std::string text = counts_line(summary, paint);
  if (!summary.first_difference.empty()) {
    text += printable(summary.first_difference) + "\n";
  }
  const std::size_t width = std::max<std::size_t>(summary.wrong_word.size(), 7);
  for (const pipeline::NotableRow& row : summary.rows) {
    std::string word = row.wrong ? summary.wrong_word : "warning";
    word.resize(width, ' ');
    text += "  " + paint(row.wrong ? kRed : kYellow, word) + "  " + printable(row.name);
    if (!row.message.empty()) {
      text += "  " + ellipsize_middle(printable(row.message), kLongestMessage);
    }
    text += "\n";
  }
  const std::uint64_t more = summary.wrong + summary.suspicious - summary.rows.size();
  if (!summary.rows.empty() && more > 0) {
    text += "  ... and " + std::to_string(more) + " more in the table\n";
  }
  return text;
}

void print_summary(const MsprobeSummary& summary) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool colour = ::isatty(STDOUT_FILENO) == 1 &&
                      (no_colour == nullptr || *no_colour == '\0') &&
                      (terminal == nullptr || std::string_view(terminal) != "dumb");
  const std::string text = render_summary(summary, colour);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace opdrift::compat
