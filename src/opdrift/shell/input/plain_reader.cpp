#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "opdrift/shell/input/line_reader.hpp"

namespace opdrift::shell {

namespace {

/// Reads bytes and cuts them into lines. The last line needs no end.
class PlainReader : public LineReader {
 public:
  explicit PlainReader(LineReaderOptions options) : options_(std::move(options)) {}

  ReadLine read(const std::string& prompt) override {
    if (options_.editing) {
      std::fputs(prompt.c_str(), stdout);
      std::fflush(stdout);
    }
    while (true) {
      if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
        ReadLine line{ReadState::line, pending_.substr(0, end)};
        pending_.erase(0, end + 1);
        if (!std::exchange(skipping_, false)) {
          return line;
        }
        continue;
      }
      if (pending_.size() > kMostLineBytes) {
        // A line that long is no command: its beginning says so, the rest is passed over.
        std::string start = std::exchange(pending_, std::string());
        if (!std::exchange(skipping_, true)) {
          return {ReadState::line, std::move(start)};
        }
        continue;
      }
      if (ended_) {
        return pending_.empty() || skipping_
                   ? ReadLine{}
                   : ReadLine{ReadState::line, std::exchange(pending_, {})};
      }
      if (!fill()) {
        return {ReadState::interrupted, std::exchange(pending_, std::string())};
      }
    }
  }

 private:
  /// More bytes, or the end. False after Ctrl-C.
  bool fill() {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count > 0) {
      pending_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      ended_ = true;
    } else {
      return !options_.interrupted || !options_.interrupted();
    }
    return true;
  }

  LineReaderOptions options_;
  std::string pending_;
  bool ended_ = false;
  bool skipping_ = false;  ///< the rest of a line that is too long
};

}  // namespace

std::unique_ptr<LineReader> make_plain_reader(LineReaderOptions options) {
  return std::make_unique<PlainReader>(std::move(options));
}

std::string common_prefix(const std::vector<std::string>& words) {
  if (words.empty()) {
    return {};
  }
  std::string prefix = words.front();
  for (const std::string& word : words) {
    std::size_t same = 0;
    while (same < prefix.size() && same < word.size() && prefix[same] == word[same]) {
      ++same;
    }
    prefix.resize(same);
  }
  return prefix;
}

#ifndef OPDRIFT_HAVE_LIBEDIT
std::unique_ptr<LineReader> make_line_reader(LineReaderOptions options) {
  return make_plain_reader(std::move(options));
}
#endif

}  // namespace opdrift::shell
