#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace opdrift::shell {

enum class ReadState : std::uint8_t {
  line,
  end,          ///< no more input
  interrupted,  ///< Ctrl-C; `text` is what had been typed
};

struct ReadLine {
  ReadState state = ReadState::end;
  std::string text;
};

/// What the word before the cursor may become.
struct Completion {
  std::size_t from = 0;  ///< where the word begins
  std::vector<std::string> words;
};

using Completer = std::function<Completion(std::string_view text_before_cursor)>;

/// Where lines come from.
class LineReader {
 public:
  virtual ~LineReader() = default;
  virtual ReadLine read(const std::string& prompt) = 0;
};

struct LineReaderOptions {
  bool editing = false;      ///< standard input and output are a terminal
  std::string history_file;  ///< "" for none
  Completer complete;
  std::function<bool()> interrupted;  ///< asked when reading was broken off by a signal
};

/// Lines from standard input. With a terminal they can be edited, recalled and completed, provided
/// that this build has an editing library.
std::unique_ptr<LineReader> make_line_reader(LineReaderOptions options);

/// The same without editing: no prompt unless `options.editing`.
std::unique_ptr<LineReader> make_plain_reader(LineReaderOptions options);

/// Lines longer than this are refused.
inline constexpr std::size_t kMostLineBytes = std::size_t{64} << 10;

/// The longest text all of `words` begin with.
std::string common_prefix(const std::vector<std::string>& words);

}  // namespace opdrift::shell
